import type { ClaimedJob, EventType, Job, JobEvent, JsonValue, ListedJob, Status } from '@yardmaster/protocol';
import { isoOf, isoOfOrder, isoOrNull, msOfOrder } from '../../time.js';
import { labelsOfStored } from '../labels.js';
import { retryOfStored, uniqueOfStored } from '../options.js';
import { deliveryTokenOf, stateOf } from './state.js';

/**
 * Fields of the hash `job:<id>` that make up a listed job, in the order in which scripts return them.
 *
 * `payload`, `result`, `progress`, `checkpoint`, `error` and `callbackHeaders` are JSON text that Lua never parses,
 * because its JSON library would turn `[]` into `{}` and round big integers. `state` contains everything that each
 * transition reads; see lua/state.lua. A field with its default value is absent. Times are epoch milliseconds. `error` is
 * the error of the latest failed attempt.
 *
 * The record has further fields:
 *
 * | field | meaning |
 * |---|---|
 * | `callbackUrl`, `callbackHeaders`, `callbackOn` | where, with which headers and after which statuses the callback is sent |
 * | `progressAt` | when the latest progress was reported |
 * | `checkpoint` | latest checkpoint, passed to the next attempt |
 * | `deliveryTimeouts` | number of consecutive delivery timeouts; removed by an ack |
 * | `missedWindowMs` | delivery window of the last delivery timeout |
 * | `logsDropped` | number of oldest log entries that were dropped |
 * | `fingerprint` | fingerprint of the request; see create/idempotency.ts; only with an idempotency key |
 * | `startBy` | time by which it must be acked for the first time; 0 after the first ack; see lua/waiting/start_limit.lua |
 * | `ackWithinMs` | delivery window requested by the poll |
 * | `runBy` | when the running attempt must end; only with `maxRunSeconds` |
 * | `killReason` | JSON text, for the callback of a killed job |
 * | `uniqueFreed` | 1 once an ack, or the next job with the unique key, has freed the key |
 * | `bytes` | memory of the job, only in a space with `maxBytes`; see lua/bytes |
 * | `kept` | 1 if the ended job is kept forever |
 * | `callbackAttempts`, `callbackRound`, `callbackDueAt`, `callbackLeasedUntil` | state of the callback; see lua/callback.lua |
 */
export const LISTED_FIELDS = [
  'state',
  'payload',
  'deliveredAt',
  'startedAt',
  'result',
  'error',
  'progress',
  'unique',
  'scheduledFor',
  'retry',
  'maxRunSeconds',
  'startWithinSeconds',
  'priority',
  'workerId',
  'copyOf',
  'tags',
] as const;

/** Fields of the record that make up a job, in the order in which a create returns those of an existing job. */
export const SHOWN_FIELDS = [...LISTED_FIELDS, 'callbackUrl', 'callbackHeaders', 'callbackOn'] as const;

/** A record as Redis returns it. An absent field is null or missing. */
export type JobRecord = Partial<Record<(typeof SHOWN_FIELDS)[number], string | null>>;

/** Parse a field with JSON text; null for an absent field. */
export function parseJson(text: string | null | undefined): JsonValue {
  if (!text) return null;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // V8's message quotes the text, which comes from a caller and must not be logged.
    throw new Error('a field of a job record is not valid JSON');
  }
}

/** Build a record from the flat list of names and values that HGETALL returns in a script. */
export function recordOf(flat: readonly string[]): JobRecord {
  const record: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) record[flat[i] as string] = flat[i + 1] as string;
  return record;
}

/** Build a record from the values of these fields. */
export function recordOfValues(fields: readonly (keyof JobRecord)[], values: readonly (string | null)[]): JobRecord {
  const record: JobRecord = {};
  fields.forEach((field, i) => {
    record[field] = values[i] ?? null;
  });
  return record;
}

/** Build a job from its record, as List Jobs shows it. */
export function listedJobOf(id: string, record: JobRecord): ListedJob {
  const { spaceId, name, status, order, attempt, maxRetries, timeoutSeconds, ...state } = stateOf(
    record.state as string,
  );
  const unique = uniqueOfStored(record.unique);
  const retry = retryOfStored(record.retry);
  const { tags, scheduleId } = labelsOfStored(record.tags);
  const createdAt = isoOfOrder(order);
  const updatedAt = state.updatedAt === null ? createdAt : isoOf(state.updatedAt);
  return {
    id,
    spaceId,
    name,
    payload: parseJson(record.payload) as Job['payload'],
    status,
    maxRetries,
    attemptNumber: attempt,
    timeoutSeconds,
    deliveredAt: isoOrNull(record.deliveredAt),
    startedAt: isoOrNull(record.startedAt),
    // Nothing changes a completed job, so its last change is its completion.
    completedAt: status === 'completed' ? updatedAt : null,
    result: parseJson(record.result),
    ...(record.error ? { error: parseJson(record.error) as NonNullable<Job['error']> } : {}),
    ...(record.progress ? { progress: parseJson(record.progress) as NonNullable<Job['progress']> } : {}),
    ...(record.scheduledFor ? { scheduledFor: isoOf(record.scheduledFor) } : {}),
    ...(retry && { retry }),
    ...(record.maxRunSeconds ? { maxRunSeconds: Number(record.maxRunSeconds) } : {}),
    ...(record.startWithinSeconds ? { startWithinSeconds: Number(record.startWithinSeconds) } : {}),
    ...(record.priority ? { priority: Number(record.priority) } : {}),
    ...workerOf(record, status),
    ...(unique && { unique }),
    ...(record.copyOf ? { copyOf: record.copyOf } : {}),
    ...(scheduleId !== null && { scheduleId }),
    ...(tags.length > 0 && { tags }),
    createdAt,
    updatedAt,
  };
}

/** Return the worker that holds a job. The record of an ended job still names the last worker. */
function workerOf({ workerId }: JobRecord, status: Status): Pick<Job, 'workerId'> {
  return workerId && (status === 'delivered' || status === 'running') ? { workerId } : {};
}

/** Build a job from its record, including its callback. */
export function jobOf(id: string, record: JobRecord): Job {
  const { createdAt, updatedAt, ...fields } = listedJobOf(id, record);
  return {
    ...fields,
    callbackUrl: record.callbackUrl ?? null,
    callbackHeaders: parseJson(record.callbackHeaders) as Job['callbackHeaders'],
    ...(record.callbackOn ? { callbackOn: record.callbackOn.split(' ') as NonNullable<Job['callbackOn']> } : {}),
    createdAt,
    updatedAt,
  };
}

/** Values per job from appendClaimed in Lua: ID, state before the delivery, payload, checkpoint, current time. */
const CLAIMED_VALUES = 5;

/** One value from appendClaimed. Only the first job has the current time. */
export type ClaimedValue = string | number | null;

/** Build claimed jobs from the values of appendClaimed, with how long each was pending, in milliseconds. */
export function claimedOf(values: readonly ClaimedValue[]): { job: ClaimedJob; waitMs: number }[] {
  const now = Number(values[CLAIMED_VALUES - 1]);
  const claimed = [];
  for (let i = 0; i < values.length; i += CLAIMED_VALUES) {
    const [id, state, payload, checkpoint] = values.slice(i, i + CLAIMED_VALUES) as [string, string, ...null[]];
    const before = stateOf(state);
    const { name, timeoutSeconds, maxRetries, attempt, order, updatedAt } = before;
    const job = {
      id,
      name,
      payload: parseJson(payload) as ClaimedJob['payload'],
      timeoutSeconds,
      maxRetries,
      attemptNumber: attempt,
      createdAt: isoOfOrder(order),
      checkpoint: parseJson(checkpoint),
      attempt: attempt + 1,
      deliveryToken: deliveryTokenOf(before),
    };
    claimed.push({ job, waitMs: now - Number(updatedAt ?? msOfOrder(order)) });
  }
  return claimed;
}

/**
 * One entry of `job:<id>:events`, or of the history implied by the record. The data is absent when empty, and for
 * `completed`, whose data is the result.
 */
type StoredEvent = [type: EventType, atMs: number, data?: JsonValue];

/**
 * Build the event `created` of a job. impliedEntries in Lua builds the other events that are implied by the record.
 */
export function createdEventOf({ id, spaceId, createdAt }: Job): JobEvent {
  return { id: `${id}.1`, jobId: id, spaceId, type: 'created', data: null, createdAt };
}

/** Build events from consecutive entries of a job's history, starting at `firstSeq`. */
export function eventsOf(
  { id, spaceId, result }: Pick<Job, 'id' | 'spaceId' | 'result'>,
  firstSeq: number,
  entries: readonly string[],
): JobEvent[] {
  return entries.map((entry, i) => {
    const [type, atMs, kept = null] = parseJson(entry) as unknown as StoredEvent;
    const data = type === 'completed' ? result : kept;
    return { id: `${id}.${firstSeq + i}`, jobId: id, spaceId, type, data, createdAt: isoOf(atMs) };
  });
}
