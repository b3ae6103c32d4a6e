import { randomUUID } from 'node:crypto';
import { isTerminal, type JobWithEvents, type JsonValue, LIMITS } from '@yardmaster/protocol';
import { type CliCommand, type Io, UsageError } from '../command.js';
import { CREATE_EXIT, exitCodesHelp, type Outcome } from '../exit-codes.js';
import { waitSecondsOf } from '../flag-values.js';
import { expectKey, type SpaceFlags, serviceOf, spaceOf, withSpaceOption } from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import { jobPath, type Service, spacePath } from '../service/service.js';
import { printable, printableJson } from '../terminal/printable.js';
import { type BodyFlags, bodyOf, withBodyOptions } from './create-options.js';

interface Flags extends SpaceFlags, BodyFlags {
  idempotencyKey?: string;
  wait?: number;
  json?: boolean;
}

/** Parsed command line of `create`. */
export interface CreateRequest {
  service: Service;
  spaceId: string;
  /** Body of the call, without the payload. */
  body: Record<string, JsonValue>;
  /** JSON text; `-` for the standard input, null for none. */
  payload: string | null;
  /** Null for a new one. */
  idempotencyKey: string | null;
  /** How long to wait for the end of the job; null not to wait. */
  waitSeconds: number | null;
  isJson: boolean;
}

/** `yardmaster create`: creates a job, and may wait for its result. */
export const createCommand: CliCommand<CreateRequest, Flags> = {
  name: 'create',
  define: (command) =>
    withSpaceOption(
      withBodyOptions(
        command
          .description('Create a job, and print its id.')
          .argument('<name>', 'name of the job')
          .argument('[payload]', 'a JSON object for the worker; - reads it from the standard input'),
      )
        .option('--idempotency-key <key>', 'create the job only once with this key (default: a new one)')
        .option('--wait <seconds>', 'seconds to wait for the job to end; its result is then printed', waitSecondsOf),
    )
      .option('--json', 'print the job as one line of JSON')
      .addHelpText('after', `\nNeeds a key with jobs:create; --wait also jobs:read.\n${exitCodesHelp(CREATE_EXIT)}`),
  parse([name = '', payload], flags, env) {
    const service = serviceOf(flags, env);
    const spaceId = spaceOf(flags, env);
    expectKey(service, 'creating a job', 'jobs:create');
    const { idempotencyKey = null, wait: waitSeconds = null, json: isJson = false } = flags;
    if (payload !== undefined && payload !== '-') jsonIn(payload);
    const body = { name, ...bodyOf(flags) };
    return { service, spaceId, body, payload: payload ?? null, idempotencyKey, waitSeconds, isJson };
  },
  run: create,
};

/** Fields of a created job that a caller without jobs:read gets too. */
interface CreatedJob {
  id: string;
}

async function create(request: CreateRequest, io: Io): Promise<Outcome> {
  const { service, spaceId, idempotencyKey, waitSeconds, isJson } = request;
  const payload = request.payload === '-' ? await io.readInput() : request.payload;
  const body = payload === null ? request.body : { ...request.body, payload: jsonIn(payload) };
  const headers = {
    // With a key, the call can be sent again without making a second job.
    'idempotency-key': idempotencyKey ?? randomUUID(),
    // Otherwise the service would ignore an option that it does not know.
    prefer: 'handling=strict',
  };
  const job = await callJson<CreatedJob>(service, { method: 'POST', path: spacePath(spaceId, 'jobs'), body, headers });
  if (typeof job?.id !== 'string') throw new Refused('the response is not a job');
  if (waitSeconds !== null) return waitForEnd({ service, jobId: job.id, waitSeconds, isJson }, io);
  io.out.write(`${isJson ? printableJson(JSON.stringify(job)) : printable(job.id)}\n`);
  return { exit: CREATE_EXIT.created, sentence: null };
}

/** Parse the JSON of a payload. @throws UsageError */
export function jsonIn(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new UsageError('payload is not JSON');
  }
}

interface WaitOptions {
  service: Service;
  jobId: string;
  waitSeconds: number;
  isJson: boolean;
}

const ENDS = { completed: CREATE_EXIT.created, dead: CREATE_EXIT.dead, killed: CREATE_EXIT.killed };

/** Wait for the end of a job, and print its result, or with `--json` the job. */
export async function waitForEnd({ service, jobId, waitSeconds, isJson }: WaitOptions, io: Io): Promise<Outcome> {
  const endMs = performance.now() + waitSeconds * 1000;
  const print = (value: unknown) => io.out.write(`${printableJson(JSON.stringify(value ?? null))}\n`);
  for (;;) {
    const leftSeconds = Math.max(0, (endMs - performance.now()) / 1000);
    const query = { waitSeconds: Math.min(leftSeconds, LIMITS.waitSecondsMax) };
    const job = await callJson<JobWithEvents>(service, { path: jobPath(jobId, '', query) });
    const name = `job ${printable(jobId)}`;
    if (isTerminal(job.status)) {
      if (isJson) print(job);
      else if (job.status === 'completed') print(job.result);
      const sentence = job.status === 'completed' ? null : printable(`${name} is ${job.status}${reasonOf(job)}`);
      return { exit: ENDS[job.status], sentence };
    }
    if (performance.now() < endMs) continue; // A call may wait for a shorter time than the caller asked for.
    return { exit: CREATE_EXIT.timedOut, sentence: `${name} is still ${printable(job.status)} after ${waitSeconds} s` };
  }
}

/** Return why a job ended without a result, for a sentence; an empty text when no reason is known. */
function reasonOf({ status, error, events }: JobWithEvents): string {
  const reason = status === 'killed' ? (events.at(-1)?.data as { reason?: unknown } | null)?.reason : error;
  if (reason === undefined || reason === null) return '';
  return `: ${typeof reason === 'string' ? reason : JSON.stringify(reason)}`;
}
