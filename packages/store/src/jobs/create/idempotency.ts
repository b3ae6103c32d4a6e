import { createHash, randomBytes } from 'node:crypto';
import { type CreateJobRequest, createJobRequest, RECORD_DEFAULTS, retryOf, uniqueOf } from '@yardmaster/protocol';
import stringify from 'safe-stable-stringify';
import { call } from '../../call.js';
import type { Store } from '../../store.js';
import { callbackOnOf } from '../options.js';

const FIELD = 'idempotencySecret';
const SECRET_BYTES = 32;

/**
 * Return the secret from which the ids of jobs with an idempotency key are made. The first process of an installation
 * makes it. It never changes, because the same key would then name another job.
 *
 * @throws STORAGE_FULL when it does not exist yet and Redis is full; UNAVAILABLE
 */
export async function idempotencySecretOf(store: Store): Promise<Buffer> {
  const { redis, keys, known } = store;
  if (known.idempotencySecret !== null) return known.idempotencySecret;
  const read = () => call(store, 'hget', redis.hget(keys.meta, FIELD));
  let text = await read();
  if (text === null) {
    await call(store, 'hsetnx', redis.hsetnx(keys.meta, FIELD, randomBytes(SECRET_BYTES).toString('hex')));
    text = (await read()) as string;
  }
  known.idempotencySecret = Buffer.from(text, 'hex');
  return known.idempotencySecret;
}

const { maxRetries, timeoutSeconds } = RECORD_DEFAULTS;
const DEFAULTS: Record<string, unknown> = createJobRequest.parse({ name: 'any', maxRetries, timeoutSeconds });

/** Characters of a fingerprint, of 6 bits each. */
const FINGERPRINT_CHARACTERS = 22;

/**
 * Return the fingerprint of a request to create a job. Two bodies have the same one if they differ only in the order of
 * fields, in unknown fields, or in fields at their defaults.
 */
export function fingerprintOf(spaceId: string, request: CreateJobRequest): string {
  const { name, unique, retry, callbackOn, ...others } = request;
  const options = { ...others, ...(retry && { retry: retryOf(retry) }), callbackOn: callbackOnOf(callbackOn) };
  // A new field is left out at its default, so that the fingerprint of an old body stays.
  const given = Object.entries(options).filter(([field, value]) => value !== undefined && value !== DEFAULTS[field]);
  return digestOf([spaceId, name, unique && uniqueOf(unique), Object.fromEntries(given)]);
}

/** Return the same text for two JSON values if they differ only in the order of fields. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(stringify(value) as string)
    .digest('base64url')
    .slice(0, FINGERPRINT_CHARACTERS);
}
