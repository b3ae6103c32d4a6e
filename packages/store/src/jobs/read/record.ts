import type { ClaimedJob, EventType, Job, JobEvent, JsonValue, ListedJob, Status } from '@yardmaster/protocol';
import { isoOf, isoOfOrder, isoOrNull, msOfOrder } from '../../time.js';
import { retryOfStored, uniqueOfStored } from '../options.js';
import { deliveryTokenOf, stateOf } from './state.js';

/**
 * Fields of the hash `job:<id>` that make up a listed job, in the order in which list.lua reads them.
 *
 * `payload`, `result`, `progress`, `checkpoint`, `error` and `callbackHeaders` are JSON text that Lua never parses,
 * because its JSON library would turn `[]` into `{}` and round big integers. `state` is the status, space and name,
 * and all else that a transition reads of every job, see lua/state.lua. A field that has its default value is left out. Times are epoch
 * milliseconds. `error` is that of the latest failed attempt.
 *
 * The record has further fields:
 *
 * | field | meaning |
 * |---|---|
 * | `callbackUrl`, `callbackHeaders` | where and with which headers the callback is sent |
 * | `progressAt` | when the latest progress was reported |
 * | `checkpoint` | latest checkpoint, for the next attempt |
 * | `deliveryTimeouts` | delivery timeouts in a row; an ack removes it |
 * | `missedWindowMs` | how long the worker of the last delivery timeout had for its ack |
 * | `logsDropped` | log entries that were dropped, the oldest first |
 * | `fingerprint` | of the request, see create/idempotency.ts; of a job with an idempotency key |
 * | `startBy` | until when it must be acked for the first time; 0 once it was; see lua/waiting/waiting.lua |
 * | `ackWithinMs` | delivery window of its delivery, when the poll asked for one |
 * | `runBy` | when its attempt must end, of a running job with `maxRunSeconds` |
 * | `killReason` | JSON text, for the callback of a killed job |
 * | `uniqueFreed` | 1 once an ack, or the next job with the unique key, has freed it |
 * | `bytes` | memory that it takes, of a job in a space with `maxBytes`; see lua/bytes |
 * | `kept` | 1 of a job that has ended and stays forever |
 * | `callbackAttempts`, `callbackRound`, `callbackDueAt`, `callbackLeasedUntil` | see lua/callback.lua; after an attempt |
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

/** Fields of the record that make up a job, in the order in which a create reads them of a job that exists. */
export const SHOWN_FIELDS = [...LISTED_FIELDS, 'callbackUrl', 'callbackHeaders', 'callbackOn'] as const;

/** The record as Redis returns it; an absent field is null or left out. */
export type JobRecord = Partial<Record<(typeof SHOWN_FIELDS)[number], string | null>>;

/** Parse a field that contains JSON text; an absent field is null. */
export function parseJson(text: string | null | undefined): JsonValue {
  if (!text) return null;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // V8's message quotes the text, which comes from a caller and must not reach the log.
    throw new Error('a field of a job record is not valid JSON');
  }
}

/** Build a record from the flat list of names and values that HGETALL replies with in a script. */
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

/** Build the job that a record describes, as List Jobs shows it. */
export function listedJobOf(id: string, record: JobRecord): ListedJob {
  const { spaceId, name, status, order, attempt, maxRetries, timeoutSeconds, ...state } = stateOf(
    record.state as string,
  );
  const unique = uniqueOfStored(record.unique);
  const retry = retryOfStored(record.retry);
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
    ...(record.tags ? { tags: record.tags.split('\n') } : {}),
    createdAt,
    updatedAt,
  };
}

/** Return the worker that has a job. The record of a job that has ended still names the last one. */
function workerOf({ workerId }: JobRecord, status: Status): Pick<Job, 'workerId'> {
  return workerId && (status === 'delivered' || status === 'running') ? { workerId } : {};
}

/** Build the job that a record describes, with its callback. */
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

/** How many values appendClaimed in Lua returns for each job: id, state before the delivery, payload, checkpoint, time now. */
const CLAIMED_VALUES = 5;

/** One of them; of the first job only, the time now. */
export type ClaimedValue = string | number | null;

/** Build claimed jobs, with how long each was pending in milliseconds, from the values of appendClaimed in Lua. */
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
 * One entry of `job:<id>:events`, or of the history that the record implies in its place. The data is left out when
 * it has none, and for `completed`, whose data is the result.
 */
type StoredEvent = [type: EventType, atMs: number, data?: JsonValue];

/**
 * Build the first event of a job from the job. impliedEntries in Lua builds the other events that follow from its
 * record.
 */
export function createdEventOf({ id, spaceId, createdAt }: Job): JobEvent {
  return { id: `${id}.1`, jobId: id, spaceId, type: 'created', data: null, createdAt };
}

/** Build events from consecutive entries of a job's history, the first of which has this seq. */
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
