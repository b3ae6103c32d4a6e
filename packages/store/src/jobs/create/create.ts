import { type CreateJobRequest, type Job, RECORD_DEFAULTS, uniqueOf, YardmasterError } from '@yardmaster/protocol';
import { newJobId } from '../../partition.js';
import { runScript } from '../../script/run-script.js';
import { create } from '../../script/scripts.generated.js';
import { notAfterOf, type Store } from '../../store.js';
import { isoOfOrder } from '../../time.js';

/**
 * Create a pending job at the end of its space's queue.
 *
 * @param request its `unique` is null, see createKeyedJob
 * @returns the job as stored
 * @throws STORAGE_UNSAFE, STORAGE_FULL, OVERLOADED, UNAVAILABLE
 * @see spec §4.1
 */
export async function createJob(store: Store, spaceId: string, request: CreateJobRequest): Promise<Job> {
  if (!store.storage.isSafe) throw new YardmasterError('STORAGE_UNSAFE');
  const id = newJobId(spaceId);
  const { order } = await runScript(store, create, {
    keys: { jobKey: store.keys.job(id) },
    args: {
      base: store.keys.baseOfJob(id),
      jobId: id,
      space: spaceId,
      name: request.name,
      notAfter: notAfterOf(store),
    },
    rest: fieldsOf(request),
  });
  store.observer.moved('none', 'pending', 1);
  return newJobOf(id, spaceId, request, order);
}

/** List the fields of the record that differ from their defaults. Each field left out saves 60 bytes on every job. */
export function fieldsOf(request: CreateJobRequest): (string | number)[] {
  const { payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders } = request;
  const fields: (string | number)[] = [];
  if (maxRetries !== RECORD_DEFAULTS.maxRetries) fields.push('maxRetries', maxRetries);
  if (timeoutSeconds !== RECORD_DEFAULTS.timeoutSeconds) fields.push('timeoutSeconds', timeoutSeconds);
  if (payload !== null) fields.push('payload', JSON.stringify(payload));
  if (callbackUrl !== null) fields.push('callbackUrl', callbackUrl);
  if (callbackHeaders !== null) fields.push('callbackHeaders', JSON.stringify(callbackHeaders));
  return fields;
}

/** Build a job that was just created at this order. */
export function newJobOf(id: string, spaceId: string, request: CreateJobRequest, order: string): Job {
  const { name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders, unique } = request;
  const createdAt = isoOfOrder(order);
  return {
    id,
    spaceId,
    name,
    payload,
    status: 'pending',
    maxRetries,
    attemptNumber: 0,
    timeoutSeconds,
    callbackUrl,
    callbackHeaders,
    deliveredAt: null,
    startedAt: null,
    completedAt: null,
    result: null,
    ...(unique && { unique: uniqueOf(unique) }),
    createdAt,
    updatedAt: createdAt,
  };
}
