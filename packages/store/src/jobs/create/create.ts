import {
  type CreateJobRequest,
  type Job,
  RECORD_DEFAULTS,
  retryOf,
  uniqueOf,
  YardmasterError,
} from '@yardmaster/protocol';
import { keyedJobId, newJobId } from '../../keys.js';
import { runVerb, withInputs } from '../../script/run-script.js';
import { create } from '../../script/scripts.generated.js';
import { notAfterOf, type Store } from '../../store.js';
import { isoOf, isoOfOrder } from '../../time.js';
import { callbackOnOf, delayOf, storedRetryOf, storedUniqueOf } from '../options.js';
import { jobOf, recordOf, recordOfValues, SHOWN_FIELDS } from '../read/record.js';
import { optionsOf } from '../read/state.js';
import { fingerprintOf, idempotencySecretOf } from './idempotency.js';

/** A job, and how the create obtained it. */
export interface Creation {
  /**
   * `created`; `replayed`: an earlier call with this idempotency key created it; `returned`: it occupies the unique key;
   * `replaced`: it occupies the unique key, was waiting, and now has this request.
   */
  outcome: 'created' | 'replayed' | 'returned' | 'replaced';
  job: Job;
}

/**
 * Fields that a replay reads from the record. The others come from the request, because a caller that may create a job
 * need not be allowed to read it.
 */
const REPLAYED_FIELDS = [
  'state',
  'deliveredAt',
  'startedAt',
  'scheduledFor',
  'priority',
  // Space defaults for these may have changed since the job was created.
  'retry',
  'maxRunSeconds',
] as const;

/**
 * Create a job, unless an earlier call with this idempotency key created it, or another job occupies its unique key. The
 * job is pending, or scheduled if its time is in the future.
 *
 * @param idempotencyKey null for none
 * @param body the request as the caller sent it, before defaults are applied, for the fingerprint
 * @returns the current job. A replayed job shows this request, even if another has replaced it since, and no result, error
 *   or progress
 * @throws IDEMPOTENCY_MISMATCH, JOB_NOT_UNIQUE, SPACE_FULL, STORAGE_UNSAFE, STORAGE_FULL, OVERLOADED, UNAVAILABLE
 * @see docs/api/create.md#fields
 */
export async function createJob(
  store: Store,
  spaceId: string,
  request: CreateJobRequest,
  idempotencyKey: string | null = null,
  body = request,
): Promise<Creation> {
  if (!store.known.isStorageSafe) throw new YardmasterError('STORAGE_UNSAFE');
  const isKeyed = idempotencyKey !== null;
  const jobId = isKeyed ? keyedJobId(await idempotencySecretOf(store), spaceId, idempotencyKey) : newJobId(spaceId);
  const packed = packJob(spaceId, request, isKeyed ? body : null);
  const shown = request.unique === null ? REPLAYED_FIELDS : SHOWN_FIELDS;
  const place = { base: store.keys.baseOfJob(jobId), space: spaceId, notAfter: notAfterOf(store) };
  const reply = await runVerb(store, place, createVerb(store, { spaceId, jobId, job: packed, shown }));
  switch (reply.outcome) {
    case 'CREATED': {
      const job = newJobOf(jobId, spaceId, request, reply.order, reply.scheduledFor ?? null);
      store.observer.changed({ from: 'none', to: job.status, spaceId, name: job.name });
      return { outcome: 'created', job };
    }
    case 'REPLAYED': {
      const record = recordOfValues(shown, reply.values);
      const replayed = recordOfValues(
        REPLAYED_FIELDS,
        REPLAYED_FIELDS.map((field) => record[field] ?? null),
      );
      // Values of the record override those of the request, even when they are null.
      return { outcome: 'replayed', job: jobOf(jobId, { ...recordOf(packed.fields.map(String)), ...replayed }) };
    }
    case 'NOT_UNIQUE':
      throw new YardmasterError('JOB_NOT_UNIQUE', undefined, { jobId: reply.id, jobStatus: reply.status });
    case 'RETURNED':
      return { outcome: 'returned', job: jobOf(reply.id, recordOfValues(shown, reply.values)) };
    case 'REPLACED': {
      const job = jobOf(reply.id, recordOfValues(shown, reply.values));
      store.observer.changed({ from: reply.before, to: job.status });
      return { outcome: 'replaced', job };
    }
  }
}

/**
 * Build a job that was just created.
 *
 * @param scheduledFor epoch milliseconds; null for a pending job
 */
function newJobOf(
  id: string,
  spaceId: string,
  request: CreateJobRequest,
  order: string,
  scheduledFor: string | null,
): Job {
  const { name, payload, callbackUrl, callbackHeaders } = request;
  const { maxRetries = RECORD_DEFAULTS.maxRetries, timeoutSeconds = RECORD_DEFAULTS.timeoutSeconds } = request;
  const createdAt = isoOfOrder(order);
  return {
    id,
    spaceId,
    name,
    payload,
    status: scheduledFor === null ? 'pending' : 'scheduled',
    maxRetries,
    attemptNumber: 0,
    timeoutSeconds,
    callbackUrl,
    callbackHeaders,
    deliveredAt: null,
    startedAt: null,
    completedAt: null,
    result: null,
    ...(scheduledFor !== null && { scheduledFor: isoOf(scheduledFor) }),
    ...shownOptionsOf(request),
    createdAt,
    updatedAt: createdAt,
  };
}

/** Return the options that a job shows only if they differ from their defaults. */
function shownOptionsOf(request: CreateJobRequest) {
  const { callbackOn, retry, maxRunSeconds, startWithinSeconds, priority, unique, tags } = request;
  const options: Partial<Job> = {};
  const shownEnds = callbackOnOf(callbackOn);
  if (shownEnds !== undefined) options.callbackOn = shownEnds;
  if (retry !== null) options.retry = retryOf(retry);
  if (maxRunSeconds !== null) options.maxRunSeconds = maxRunSeconds;
  if (startWithinSeconds !== null) options.startWithinSeconds = startWithinSeconds;
  if (priority !== 0) options.priority = priority;
  if (unique !== null) options.unique = uniqueOf(unique);
  if (tags !== null) options.tags = tags;
  return options;
}

/** A job to create, as text. Parsed JSON takes up to forty times the memory of its text. */
export interface PackedJob {
  name: string;
  /** Fields of its record (name, value, …). */
  fields: readonly (string | number)[];
  characters: number;
  tags: number;
  /** Fingerprint of the request; '' without an idempotency key. */
  fingerprint: string;
  /** Options in its state; see optionsOf. */
  options: string;
  /** When it becomes claimable; see delayOf. */
  delay: string;
}

/**
 * Pack a request for the store.
 *
 * @param body the request as the caller sent it, before defaults are applied, for the fingerprint; null without an
 *   idempotency key
 */
export function packJob(spaceId: string, request: CreateJobRequest, body: CreateJobRequest | null): PackedJob {
  const fields = fieldsOf(request);
  return {
    name: request.name,
    fields,
    characters: fields.reduce<number>((sum, field) => sum + String(field).length, request.name.length),
    tags: request.tags?.length ?? 0,
    fingerprint: body === null ? '' : fingerprintOf(spaceId, body),
    options: optionsOf(request, fields),
    delay: delayOf(request),
  };
}

/** Flags of options that need more than storing: `unique`, `tags`, `startWithinSeconds` and `priority`. */
const ACTIVE = /[utsp]/;

/**
 * Bind the verb that creates a job to its arguments.
 *
 * @param shown fields to return if the job already exists
 */
export function createVerb(
  { known }: Store,
  { spaceId, jobId, job, shown }: { spaceId: string; jobId: string; job: PackedJob; shown: readonly string[] },
) {
  const { name, fields, options, delay, fingerprint } = job;
  const { maxPending, maxBytes } = known.spaces.of(spaceId) ?? {};
  const flagged = maxBytes === undefined ? options : `${options}b`; // see lua/bytes
  const limits = `${maxPending ?? ''}${maxBytes === undefined ? '' : 'b'}`;
  const isPlain = fingerprint === '' && delay === '' && limits === '' && !ACTIVE.test(options);
  const extras = isPlain ? '' : [delay || '-', limits || '-', fingerprint || '-', ...shown].join(' ');
  return withInputs(create, { args: { jobId, name, options: flagged, extras }, rest: fields });
}

/** List the fields of the record that differ from their defaults. Each absent field saves 60 bytes per job. */
function fieldsOf(request: CreateJobRequest): (string | number)[] {
  const { payload, callbackUrl, callbackHeaders } = request;
  const { unique, retry, maxRunSeconds, startWithinSeconds, priority, tags } = request;
  const callbackOn = callbackOnOf(request.callbackOn);
  const fields: (string | number)[] = [];
  if (payload !== null) fields.push('payload', JSON.stringify(payload));
  if (callbackUrl !== null) fields.push('callbackUrl', callbackUrl);
  if (callbackHeaders !== null) fields.push('callbackHeaders', JSON.stringify(callbackHeaders));
  if (callbackOn !== undefined) fields.push('callbackOn', callbackOn.join(' '));
  if (retry !== null) fields.push('retry', storedRetryOf(retry));
  if (maxRunSeconds !== null) fields.push('maxRunSeconds', maxRunSeconds);
  if (startWithinSeconds !== null) fields.push('startWithinSeconds', startWithinSeconds);
  if (priority !== 0) fields.push('priority', priority);
  if (tags !== null) fields.push('tags', tags.join('\n'));
  if (unique !== null) fields.push('unique', storedUniqueOf(unique));
  return fields;
}
