import type { CreateJobRequest } from '@yardmaster/protocol';
import { create } from '../../script/scripts.generated.js';
import { withInputs } from '../../script/verbs.js';
import type { Store } from '../../store.js';
import { optionsOf } from '../read/state.js';
import { callbackOnOf, delayOf, storedRetryOf } from '../timing.js';
import { storedUniqueOf } from '../unique.js';
import { fingerprintOf } from './idempotency.js';

/** A job to be created, as text: parsed JSON takes up to forty times the memory of its text. */
export interface PackedJob {
  name: string;
  /** Names and values of the fields of its record, in turn. */
  fields: readonly (string | number)[];
  characters: number;
  tags: number;
  /** Of the request; '' without an idempotency key. */
  fingerprint: string;
  /** End of its state, see addJob in Lua. */
  options: string;
  /** When it becomes claimable, see delayOf. */
  delay: string;
}

/**
 * Write a request as the store takes it.
 *
 * @param body the request as its caller sent it, before defaults of the service: an idempotency key belongs to its
 *   fingerprint; null without such a key
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

/** Flags of options that are more than stored: `unique`, `tags`, `startWithinSeconds` and `priority`. */
const ACTIVE = /[utsp]/;

/**
 * Return the verb that creates a job, with its arguments.
 *
 * @param shown fields to return of a job that exists
 */
export function createVerb(
  { known }: Store,
  { spaceId, jobId, job, shown }: { spaceId: string; jobId: string; job: PackedJob; shown: readonly string[] },
) {
  const { name, fields, options, delay, fingerprint } = job;
  const maxPending = known.spaces.of(spaceId)?.maxPending;
  const isPlain = fingerprint === '' && delay === '' && maxPending === undefined && !ACTIVE.test(options);
  const extras = isPlain ? '' : [delay || '-', maxPending ?? '-', fingerprint || '-', ...shown].join(' ');
  return withInputs(create, { args: { jobId, name, options, extras }, rest: fields });
}

/** List the fields of the record that differ from their defaults. Each field left out saves 60 bytes on every job. */
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
