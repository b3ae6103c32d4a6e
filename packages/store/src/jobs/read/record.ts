import type { ClaimedJob, Job, JsonValue, ListedJob, Status } from '@yardmaster/protocol';
import { isoOf, isoOfOrder, isoOrNull, msOfOrder } from '../../time.js';
import { retryOfStored } from '../timing.js';
import { uniqueOfStored } from '../unique.js';
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

/** How many values appendClaimed in Lua returns for each job. */
export const CLAIMED_VALUES = 5;

/** One of them. Only the time now, the last one, is a number. */
export type ClaimedValue = string | number | null;

/** Build claimed jobs from the values of appendClaimed in Lua. */
export function claimedJobsOf(values: readonly ClaimedValue[]): ClaimedJob[] {
  const jobs: ClaimedJob[] = [];
  for (let i = 0; i < values.length; i += CLAIMED_VALUES) jobs.push(claimedJobOf(values.slice(i, i + CLAIMED_VALUES)));
  return jobs;
}

/** Call a function for each claimed job, with its name and how long it has waited, in milliseconds. */
export function forEachClaimed(values: readonly ClaimedValue[], use: (name: string, waitMs: number) => void): void {
  for (let i = 0; i < values.length; i += CLAIMED_VALUES) {
    const { name, updatedAt, order } = stateOf(values[i + 1] as string);
    use(name, Number(values[CLAIMED_VALUES - 1]) - Number(updatedAt ?? msOfOrder(order)));
  }
}

function claimedJobOf(flat: readonly ClaimedValue[]): ClaimedJob {
  const [id, state, payload, checkpoint] = flat as [string, string, string | null, string | null];
  const before = stateOf(state);
  return {
    id,
    name: before.name,
    payload: parseJson(payload) as ClaimedJob['payload'],
    timeoutSeconds: before.timeoutSeconds,
    maxRetries: before.maxRetries,
    attemptNumber: before.attempt,
    createdAt: isoOfOrder(before.order),
    checkpoint: parseJson(checkpoint),
    attempt: before.attempt + 1,
    deliveryToken: deliveryTokenOf(before),
  };
}
