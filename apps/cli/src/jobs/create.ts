import { randomUUID } from 'node:crypto';
import { isTerminal, type JobWithEvents, LIMITS } from '@yardmaster/protocol';
import { errorLine } from '@yardmaster/sdk/internal/error-text';
import { type CommandLine, defineCommand, type Io } from '../command.js';
import { CREATE_EXIT, done, keyHelp, type Outcome } from '../exit-codes.js';
import { waitSecondsOf } from '../flag-values.js';
import { type SpaceFlags, spaceIn, withSpaceOption } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { jobPath, type Service, spacePath } from '../service/service.js';
import { jsonLine, printable } from '../terminal/printable.js';
import { type BodyFlags, bodyOf, withBodyOptions } from './create-options.js';
import { payloadIn, withPayload } from './payload.js';

interface Flags extends SpaceFlags, BodyFlags {
  idempotencyKey?: string;
  wait?: number;
}

/** `yardmaster create`: creates a job, and can wait for its result. */
export const createCommand = defineCommand({
  name: 'create',
  example: `create resize '{"image": "a.png"}' --space demo --wait 60`,
  define: (command) =>
    withSpaceOption(
      withBodyOptions(
        command
          .description('Create a job, and print its ID.')
          .argument('<name>', 'name of the job, such as resize')
          .argument('[payload]', 'JSON object for the worker; - reads it from standard input'),
      )
        .option('--idempotency-key <key>', 'create only one job with this key (default: a new key for each run)')
        .option('--wait <time>', 'wait up to this long for the job to end, and print its result', waitSecondsOf),
    )
      .option('--json', 'print the job as one line of JSON')
      .addHelpText('after', keyHelp('jobs:create, and jobs:read for --wait', CREATE_EXIT)),
  parse(line: CommandLine<Flags>) {
    const [name = '', payload] = line.args;
    const { idempotencyKey = null, wait: waitSeconds = null } = line.flags;
    const target = spaceIn(line, 'creating a job', 'jobs:create');
    return {
      ...target,
      payload: payloadIn(payload),
      body: { name, ...bodyOf(line.flags) },
      idempotencyKey,
      waitSeconds,
    };
  },
  async run({ service, spaceId, idempotencyKey, waitSeconds, isJson, ...request }, io) {
    const body = await withPayload(request.body, request.payload, io);
    const headers = {
      // Makes retries safe: they can't create a second job.
      'idempotency-key': idempotencyKey ?? randomUUID(),
      // Makes an older service refuse an option that it doesn't know, instead of ignoring it.
      prefer: 'handling=strict',
    };
    // Without jobs:read, the response contains only the ID.
    const path = spacePath(spaceId, 'jobs');
    const job = await call<{ id: string }>(service, { method: 'POST', path, body, headers });
    if (typeof job?.id !== 'string') throw new Refused('the response is not a job');
    if (waitSeconds !== null) return waitForEnd({ service, jobId: job.id, waitSeconds, isJson }, io);
    return done(io.out, [isJson ? jsonLine(job) : printable(job.id)]);
  },
});

interface WaitOptions {
  service: Service;
  jobId: string;
  waitSeconds: number;
  isJson: boolean;
}

const ENDS = { completed: CREATE_EXIT.created, dead: CREATE_EXIT.dead, killed: CREATE_EXIT.killed };

/** Wait for a job to end, and print its result or, with `--json`, the job. */
async function waitForEnd({ service, jobId, waitSeconds, isJson }: WaitOptions, io: Io): Promise<Outcome> {
  const endMs = performance.now() + waitSeconds * 1000;
  const print = (value: unknown) => io.out.write(`${jsonLine(value ?? null)}\n`);
  for (;;) {
    const leftSeconds = Math.max(0, (endMs - performance.now()) / 1000);
    const query = { waitSeconds: Math.min(leftSeconds, LIMITS.waitSecondsMax) };
    const job = await call<JobWithEvents>(service, { path: jobPath(jobId, '', query) });
    const name = `job ${printable(jobId)}`;
    if (isTerminal(job.status)) {
      if (isJson) print(job);
      else if (job.status === 'completed') print(job.result);
      const sentence = job.status === 'completed' ? null : printable(`${name} is ${job.status}${reasonOf(job)}`);
      return { exit: ENDS[job.status], sentence };
    }
    if (performance.now() < endMs) continue; // The service may respond sooner than requested.
    return { exit: CREATE_EXIT.timedOut, sentence: `${name} is still ${printable(job.status)} after ${waitSeconds} s` };
  }
}

/** Return why a job was killed or died, to append to a sentence; '' if no reason is known. */
function reasonOf({ status, error, events }: JobWithEvents): string {
  const reason = status === 'killed' ? (events.at(-1)?.data as { reason?: unknown } | null)?.reason : error;
  if (reason === undefined || reason === null) return '';
  return `: ${errorLine(reason)}`;
}
