import { createHash, randomBytes } from 'node:crypto';
import { type CreateJobRequest, createJobRequest, RECORD_DEFAULTS, retryOf, uniqueOf } from '@yardmaster/protocol';
import stringify from 'safe-stable-stringify';
import { call } from '../../call.js';
import type { Store } from '../../store.js';
import { callbackOnOf } from '../options.js';

const FIELD = 'idempotencySecret';
const SECRET_BYTES = 32;

/**
 * Return the secret from which job IDs for idempotency keys are derived. The first process of an installation creates it.
 * It never changes, or the same key would name another job.
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

/** Characters of a fingerprint, 6 bits each. */
const FINGERPRINT_CHARACTERS = 22;

/**
 * Return the fingerprint of a create. Two bodies have the same fingerprint if they differ only in the order of fields, in
 * unknown fields, or in fields at their defaults.
 */
export function fingerprintOf(spaceId: string, request: CreateJobRequest): string {
  const { name, unique, retry, callbackOn, ...others } = request;
  const options = { ...others, ...(retry && { retry: retryOf(retry) }), callbackOn: callbackOnOf(callbackOn) };
  // Omit a field at its default, so that adding a field to the API changes no existing fingerprint.
  const given = Object.entries(options).filter(([field, value]) => value !== undefined && value !== DEFAULTS[field]);
  return digestOf([spaceId, name, unique && uniqueOf(unique), Object.fromEntries(given)]);
}

/** Return a digest of a JSON value that does not depend on the order of fields. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(stringify(value) as string)
    .digest('base64url')
    .slice(0, FINGERPRINT_CHARACTERS);
}
