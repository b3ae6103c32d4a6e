import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { EXIT, exitCodesHelp } from '../exit-codes.js';
import { countOf, repeated } from '../flag-values.js';
import { type CommonFlags, commonRequestOf, expectKey, withCommonOptions } from '../flags.js';
import type { Subject } from '../service/service.js';
import { displayOf } from './display.js';
import { watch } from './watch.js';

interface Flags extends CommonFlags {
  space?: string;
  tag?: string[];
  since?: number;
}

/** `yardmaster watch`: shows a job or the events of a space live. */
export const watchCommand = defineCommand({
  name: 'watch',
  example: 'watch $JOB --timeout 10m',
  define: (command) =>
    withCommonOptions(
      command
        .description('Watch a job until it ends, or the events of a space until Ctrl-C.')
        .argument('[jobId]', 'ID of the job')
        .option(
          '--space <spaceId>',
          'watch all jobs of a space (default without a job: $YARDMASTER_SPACE); requires a key with jobs:read',
        )
        .option('--tag <tag>', 'with a space: only jobs with this tag; if repeated, with all of the tags', repeated)
        .option('--since <seq>', 'with a job: start after this event of its history; 0 shows all events', countOf),
      'print each message as one line of JSON',
    ).addHelpText('after', HELP),
  parse({ args: [jobId], flags, env }: CommandLine<Flags>) {
    const common = commonRequestOf(flags, env);
    const subject = subjectOf(
      jobId,
      flags.space ?? (jobId === undefined ? env.YARDMASTER_SPACE || undefined : undefined),
    );
    if (subject.kind === 'space') expectKey(common.service, 'watching a space', 'jobs:read');
    const { since = null, tag: tags = [] } = flags;
    if (subject.kind === 'job' && tags.length > 0) throw new UsageError('--tag requires --space');
    if (subject.kind === 'space' && since !== null) throw new UsageError('--since requires a job ID');
    return { subject, since, tags, ...common };
  },
  run: ({ format, ...request }, io) =>
    watch({ ...request, display: displayOf(request.subject, format, io), waitForDrain: io.waitForDrain }),
});

const HELP = `
Accepts a stream token as the key. Without a key, it shows only the progress and completion of a job.
${exitCodesHelp(EXIT)}`;

function subjectOf(jobId: string | undefined, spaceId: string | undefined): Subject {
  if (jobId === '' || spaceId === '') throw new UsageError('the ID is empty');
  if (jobId !== undefined && spaceId === undefined) return { kind: 'job', jobId };
  if (jobId === undefined && spaceId !== undefined) return { kind: 'space', spaceId };
  throw new UsageError('give either a job ID or --space');
}
