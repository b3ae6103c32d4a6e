import { contextOf, type ProgressReport, Released, type WorkerJob } from './worker/context.js';
import type { LogEntry } from './worker/job-log.js';
import { endOf, failureOf } from './worker/outcomes.js';
import { type StandardSchema, validated } from './worker/schema.js';
import type { Handler } from './worker/worker.js';

/** What a handler has done. */
export interface Run<Result = unknown> {
  /** `completed`, `failed` or `released`. */
  status: 'completed' | 'failed' | 'released';
  /** What it returned; undefined unless completed. */
  result: Result | undefined;
  /** What it threw; undefined unless failed. */
  error: unknown;
  /** Whether a retry may help; only of a failure. */
  isRetryable: boolean;
  /** Delay before the next attempt, or of the release, in seconds; undefined for the default. */
  delaySeconds: number | undefined;
  progress: ProgressReport[];
  checkpoints: unknown[];
  events: unknown[];
  ephemeralEvents: unknown[];
  logs: LogEntry[];
}

/** The job and the circumstances of a run. */
export interface RunOptions<Payload> {
  schema?: StandardSchema<unknown, Payload>;
  /** What earlier attempts have saved. Default: null */
  checkpoint?: unknown;
  /** Number of the attempt. Default: 1 */
  attempt?: number;
  name?: string;
  /** Aborts the handler as a worker would: with `new Killed()`, for example. */
  signal?: AbortSignal;
}

/**
 * Call a handler without a service, and record what it reports. It works with Jest, Vitest and `node:test`:
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
    save: async (value) => void done.checkpoints.push(asStored(value)),
    event: async (data, { ephemeral = false } = {}) =>
      void (ephemeral ? done.ephemeralEvents : done.events).push(asStored(data)),
    log: (entry) => void done.logs.push(entry),
  });
  try {
    const valid = (schema === undefined ? payload : await validated(schema, payload)) as Payload;
    const more = { maxRetries: 3, timeoutSeconds: 300, createdAt: new Date() };
    const job: WorkerJob<Payload> = { id: 'test', name, payload: valid, attempt, ...more };
    const result = await handler(job, context);
    const end = endOf(result);
    if (end.action === 'fail') throw new TypeError(String(end.error));
    const isReleased = result instanceof Released;
    return {
      ...done,
      status: isReleased ? 'released' : 'completed',
      result: isReleased ? undefined : result,
      error: undefined,
      isRetryable: false,
      delaySeconds: isReleased ? result.delaySeconds : undefined,
    };
  } catch (error) {
    const end = failureOf(error);
    const { retryable = true, retryAfterSeconds } = end as { retryable?: boolean; retryAfterSeconds?: number };
    const failure = {
      status: 'failed',
      result: undefined,
      error,
      isRetryable: retryable,
      delaySeconds: retryAfterSeconds,
    } as const;
    return { ...done, ...failure };
  }
}

/** What the service would have stored. */
const asStored = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) as unknown;
