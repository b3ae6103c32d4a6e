import type { StreamToken } from '@yardmaster/protocol';
import { Option } from 'commander';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { DONE, keyHelp } from '../exit-codes.js';
import { repeated, secondsOf } from '../flag-values.js';
import { type SpaceFlags, serviceIn, withSpaceOption } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { jsonLine, printable } from '../terminal/printable.js';

interface Flags extends SpaceFlags {
  scope: string;
  job?: string[];
  tag?: string;
  expiresIn?: number;
}

/** `yardmaster stream-token`: creates and prints a short-lived token that opens only certain streams. */
export const streamTokenCommand = defineCommand({
  name: 'stream-token',
  example: 'stream-token --scope jobs:read:progress --job $JOB --expires-in 1h',
  define: (command) =>
    withSpaceOption(
      command
        .description('Create a short-lived token that opens only certain streams, and print it.')
        .addOption(
          new Option('--scope <scope>', 'required; what the streams show')
            .choices(['jobs:read', 'jobs:read:progress'])
            .makeOptionMandatory(),
        )
        .option('--job <jobId>', 'open the stream of this job; repeatable', repeated)
        .option('--tag <tag>', 'open the streams of all jobs with this tag')
        .option('--expires-in <time>', 'how long the token is valid, from 1m to 1d (default: 15m)', secondsOf),
    )
      .option('--json', 'print the response as one line of JSON')
      .addHelpText('after', keyHelp('the scope of the token')),
  parse(line: CommandLine<Flags>) {
    const { flags, env } = line;
    const target = serviceIn(line, 'creating a stream token', null);
    const { scope, expiresIn: expiresInSeconds } = flags;
    // The service fills in absent fields.
    return { ...target, body: { scope, ...subjectOf(flags, env.YARDMASTER_SPACE), expiresInSeconds } };
  },
  async run({ service, body, isJson }, { out, err }) {
    const made = await call<StreamToken>(service, { method: 'POST', path: 'stream-tokens', body });
    if (typeof made?.token !== 'string') throw new Refused('the response is not a stream token');
    out.write(`${isJson ? jsonLine(made) : printable(made.token)}\n`);
    if (!isJson) err.write(`expires at ${printable(String(made.expiresAt))}\n`);
    return DONE;
  },
});

/** Return the streams that the token opens. @throws UsageError unless exactly one kind is given */
function subjectOf({ job, tag, space }: Flags, ownSpace: string | undefined) {
  const given = [job && { jobIds: job }, tag !== undefined && { tag }, space !== undefined && { spaceId: space }];
  const [subject, ...more] = given.filter((each) => typeof each === 'object');
  if (more.length > 0) throw new UsageError('--job, --tag and --space cannot be combined');
  if (subject !== undefined) return subject;
  if (ownSpace) return { spaceId: ownSpace };
  throw new UsageError('no streams given; pass --job, --tag or --space, or set YARDMASTER_SPACE');
}
