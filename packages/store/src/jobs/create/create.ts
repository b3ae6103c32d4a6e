import {
  type CreateJobRequest,
  type Job,
  RECORD_DEFAULTS,
  retryOf,
  uniqueOf,
  YardmasterError,
} from '@yardmaster/protocol';
import { newJobId } from '../../partition.js';
import { runScript } from '../../script/run-script.js';
import { create } from '../../script/scripts.generated.js';
import { notAfterOf, type Store } from '../../store.js';
import { isoOf, isoOfOrder } from '../../time.js';
import { optionsOf } from '../read/state.js';
import { callbackOnOf, storedRetryOf } from '../timing.js';
import { storedUniqueOf } from '../unique.js';

/**
 * Create a pending job at the end of its space's queue.
 *
 * @param request one without the options that need createFullJob, see isPlain
 * @returns the job as stored
 * @throws STORAGE_UNSAFE, STORAGE_FULL, OVERLOADED, UNAVAILABLE
 * @see docs/api.md#create
 */
export async function createJob(store: Store, spaceId: string, request: CreateJobRequest): Promise<Job> {
  if (!store.storage.isSafe) throw new YardmasterError('STORAGE_UNSAFE');
  const id = newJobId(spaceId);
  const fields = fieldsOf(request);
  const { order } = await runScript(store, create, {
    keys: { jobKey: store.keys.job(id) },
    args: {
      base: store.keys.baseOfJob(id),
      jobId: id,
      space: spaceId,
      name: request.name,
      notAfter: notAfterOf(store),
      options: optionsOf(request, fields),
    },
    rest: fields,
  });
  store.observer.moved('none', 'pending', 1);
  store.tally.counted(spaceId, request.name, 'created');
  return newJobOf(id, spaceId, request, order);
}

/** Whether create.lua can create a job: it only stores its options. */
export const isPlain = ({ unique, scheduledFor, delaySeconds, startWithinSeconds, priority, tags }: CreateJobRequest) =>
  unique === null &&
  scheduledFor === null &&
  delaySeconds === null &&
  startWithinSeconds === null &&
  priority === 0 &&
  tags === null;

/** List the fields of the record that differ from their defaults. Each field left out saves 60 bytes on every job. */
export function fieldsOf(request: CreateJobRequest): (string | number)[] {
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

/**
 * Build a job that was just created at this order.
 *
 * @param scheduledFor epoch milliseconds; null for a pending job
 */
export function newJobOf(
  id: string,
  spaceId: string,
  request: CreateJobRequest,
  order: string,
  scheduledFor: string | null = null,
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

/** Return the options of a job that it shows only where they are not at their defaults. */
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
