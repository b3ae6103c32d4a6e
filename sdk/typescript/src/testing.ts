import type { ErrorObject } from './error-text.js';
import { jsonOf } from './json.js';
import { contextOf, type ProgressReport } from './worker/context.js';
import type { LogEntry } from './worker/job-log.js';
import { type End, outcomeOf, tooLarge } from './worker/outcomes.js';
import { type StandardSchema, validated } from './worker/schema.js';
import { bytesOf } from './worker/thrown.js';
import type { Handler } from './worker/worker.js';

/** Default limit of the service for a result, in bytes of JSON. */
const MOST_RESULT = 262_144;

/** A recording of what a handler returned and reported. */
export interface Run<Result = unknown> {
  /** How the attempt ended. */
  status: 'completed' | 'failed' | 'released';
  /** Result of the handler, as the service would store it; undefined unless completed. */
  result: Result | undefined;
  /** Error of the attempt, as the service would store it; undefined unless failed. */
  error: ErrorObject | undefined;
  /** Whether the service would retry the job; false unless failed. */
  isRetryable: boolean;
  /** Delay of the retry or the release, in seconds; undefined for the default. */
  delaySeconds: number | undefined;
  /** Every progress report, including those that a worker would skip for a newer one. */
  progress: ProgressReport[];
  checkpoints: unknown[];
  events: unknown[];
  ephemeralEvents: unknown[];
  logs: LogEntry[];
}

/** The job that the handler gets. */
export interface RunOptions<Payload> {
  /** Schema that the payload must match, as in `Worker.on`. Default: none */
  schema?: StandardSchema<unknown, Payload>;
  /** Checkpoint saved by an earlier attempt. Default: null */
  checkpoint?: unknown;
  /** Number of the attempt. Default: 1 */
  attempt?: number;
  /** Name of the job. Default: `test` */
  name?: string;
  /** Aborts the handler as a worker would, for example with `new Killed()`. */
  signal?: AbortSignal;
}

/**
 * Call a handler without a service and record what it reports. It works with Jest, Vitest and `node:test`:
 *
 *     const { result, progress } = await run(resize, { image: 'cat.png' });
 */
export async function run<Payload, Result>(
  handler: Handler<Payload, Result>,
  payload: unknown,
  options: RunOptions<Payload> = {},
): Promise<Run<Result>> {
  const { schema, checkpoint = null, attempt = 1, name = 'test', signal = new AbortController().signal } = options;
  const done: Pick<Run, 'progress' | 'checkpoints' | 'events' | 'ephemeralEvents' | 'logs'> = {
    progress: [],
    checkpoints: [],
    events: [],
    ephemeralEvents: [],
    logs: [],
  };
  const context = contextOf({
    signal,
    checkpoint,
    progress: (report) => void done.progress.push(report),
    save: async (value) => void done.checkpoints.push(asStored(value, 'checkpoint')),
    event: async (data, { ephemeral = false } = {}) =>
      void (ephemeral ? done.ephemeralEvents : done.events).push(asStored(data, 'event')),
    log: (entry) => void done.logs.push(entry),
  });
  const end = limited(
    await outcomeOf(async () => {
      const valid = (schema === undefined ? payload : await validated(schema, payload)) as Payload;
      const more = { maxRetries: 3, timeoutSeconds: 300, createdAt: new Date() };
      return handler({ id: 'test', name, payload: valid, attempt, ...more }, context);
    }),
  );
  return { ...done, ...endOf<Result>(end) };
}

/** Fail an attempt whose result is larger than the service stores by default. */
function limited(end: End): End {
  if (end.action !== 'complete' || bytesOf(JSON.stringify(end.result)) <= MOST_RESULT) return end;
  const error = tooLarge(end.result, `result must be at most ${MOST_RESULT} bytes of JSON`);
  return { action: 'fail', error, retryable: false };
}

function endOf<Result>(end: End): Pick<Run<Result>, 'status' | 'result' | 'error' | 'isRetryable' | 'delaySeconds'> {
  const none = { result: undefined, error: undefined, isRetryable: false, delaySeconds: undefined };
  if (end.action === 'complete') return { ...none, status: 'completed', result: asStored(end.result) as Result };
  if (end.action === 'release') return { ...none, status: 'released', delaySeconds: end.delaySeconds ?? undefined };
  const { error, retryable, retryAfterSeconds } = end;
  const delaySeconds = retryAfterSeconds ?? undefined;
  return { ...none, status: 'failed', error: error as ErrorObject, isRetryable: retryable ?? true, delaySeconds };
}

/** Return a value as the service would store it. @throws TypeError if it isn't JSON */
const asStored = (value: unknown, name = 'result') => JSON.parse(jsonOf(value, name)) as unknown;
