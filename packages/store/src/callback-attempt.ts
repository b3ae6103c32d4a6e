import type { JsonObject, Status } from '@yardmaster/protocol';
import { ask } from './ask.js';
import { AGAIN_MS, type Debt } from './callbacks.js';
import { parseJson } from './record.js';
import { runScript } from './script.js';
import { begin_callback, record_callback } from './scripts.generated.js';
import { ANY_SPACE, onBulk, type Store } from './store.js';
import { isoOf } from './time.js';
import { worksOn } from './works-on.js';

/** How long one attempt belongs to whoever began it: longer than a POST and the recording of its outcome take. */
export const CALLBACK_LEASE_MS = 15_000;

/** While somebody else makes an attempt, look so often whether it is over. */
const PATIENCE_MS = 2_000;

/** An attempt that is to be made now: what the receiver is told, and where. */
export interface CallbackAttempt {
  jobId: string;
  spaceId: string;
  name: string;
  status: Status;
  /** Attempts of the job that were started. */
  attemptNumber: number;
  /** JSON text: of a completed job its result, of a dead one `{"error": …}`. */
  result: string;
  /** When the job ended, ISO 8601. */
  endedAt: string;
  url: string;
  headers: Record<string, string>;
  /** Which POST this is, from 1, those of earlier rounds included. */
  attempt: number;
  /** What shows, when its outcome is recorded, that nobody else has taken it over. */
  lease: string;
  /** Redis' clock, epoch milliseconds. */
  nowMs: number;
}

/** There is no attempt to be made. */
export interface NoAttempt {
  /** Not yet: milliseconds to wait. Null: never, nothing is owed any more. */
  waitMs: number | null;
}

/**
 * Take the next attempt at a callback. Until it is recorded, or for 15 s, nobody else gets it.
 *
 * @returns the attempt, if there is one to be made now
 * @throws UNAVAILABLE
 */
export async function beginCallback(store: Store, { jobId, round }: Debt): Promise<CallbackAttempt | NoAttempt> {
  const { keys, args } = worksOn(store, ANY_SPACE, jobId);
  const { base } = args;
  // A result may be large: what waits behind it is no worker's call.
  const reply = await runScript(onBulk(store), begin_callback, {
    keys,
    args: { base, jobId, round, leaseMs: CALLBACK_LEASE_MS, patienceMs: PATIENCE_MS },
  });
  if (reply[0] === 'NOT_OWED') return { waitMs: null };
  if (reply[0] === 'NOT_DUE') return { waitMs: Number(reply[1]) };
  const [, now, attempt, lease, told] = reply as [string, string, number, string, (string | null)[]];
  const [spaceId, name, status, attemptNumber, url, headers, result, error, updatedAt] = told;
  return {
    jobId,
    spaceId: spaceId as string,
    name: name as string,
    status: status as Status,
    attemptNumber: Number(attemptNumber ?? 0),
    result: status === 'dead' ? `{"error":${error ?? 'null'}}` : (result ?? 'null'),
    endedAt: isoOf(updatedAt as string),
    url: url as string,
    headers: ((parseJson(headers) as JsonObject | null) ?? {}) as Record<string, string>,
    attempt: Number(attempt),
    lease,
    nowMs: Number(now),
  };
}

/** What came of an attempt, as the job's history shows it. */
export type CallbackOutcome =
  | { type: 'callback_sent'; data: { url: string; statusCode: number; attempt: number; willRetry: boolean } }
  | { type: 'callback_failed'; data: { url: string; error: string; attempt: number; willRetry: boolean } };

/**
 * Record what came of an attempt, if it is still ours. May be called again when its answer was lost: it counts once.
 *
 * @param lease as the attempt was given
 * @param retryMs milliseconds until the next attempt; null when this was the last
 * @returns whether it counted; false when it was recorded before, somebody else took the attempt over since, or the job
 *   is gone
 * @throws UNAVAILABLE
 */
export async function recordCallback(
  store: Store,
  { jobId, round }: Debt,
  { lease, type, data, retryMs }: CallbackOutcome & { lease: string; retryMs: number | null },
): Promise<boolean> {
  const { keys, args } = worksOn(store, ANY_SPACE, jobId);
  const [word] = await runScript(store, record_callback, {
    keys,
    args: {
      base: args.base,
      jobId,
      round,
      lease,
      eventType: type,
      data: JSON.stringify(data),
      retryMs: retryMs ?? '',
      againMs: AGAIN_MS,
      eventsPerJob: store.settings.eventsPerJob,
    },
  });
  return word === 'OK';
}

/**
 * Where the callback of a job goes.
 *
 * @returns null when there is no such job any more
 * @throws UNAVAILABLE
 */
export async function callbackUrlOf(store: Store, jobId: string): Promise<string | null> {
  return ask(store, 'hget', store.redis.hget(store.keys.job(jobId), 'callbackUrl'));
}
