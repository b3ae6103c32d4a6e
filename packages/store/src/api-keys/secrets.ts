import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type ApiKey, type CreatedApiKey, KEY_ID_FORM, type KeyLimits, type Scope } from '@yardmaster/protocol';

/** A key as stored, which contains only the SHA-256 of its secrets, in base64. An absent field means its default. */
export interface StoredKey extends Omit<ApiKey, 'lastUsedAt'> {
  secretHash: string;
  /**
   * Buckets of the keys before this one, from which its calls take as well, the first key's first. Limits never change, so
   * these stay correct, also when those keys are gone. Default: none.
   */
  shared?: readonly KeyBucket[];
  /** How many times the key was rotated. Default 0. */
  rotations?: number;
  /** The secret before the last rotation, and until when it is accepted, ISO 8601. Default: none. */
  previous?: { secretHash: string; until: string };
}

/** A bucket of calls that a key and the keys that it made share. */
export interface KeyBucket extends KeyLimits {
  /** The key whose limits these are. */
  keyId: string;
}

/** Id of the key of ADMIN_API_KEY. It is not stored, so it is neither rotated nor revoked here. */
export const ADMIN_KEY_ID = 'admin';

/** Read the record of a key. @throws SyntaxError */
export const readRecord = (record: string): StoredKey => JSON.parse(record);

/** The caller as its API key defines it: what the key may do, and where. */
export interface Principal {
  keyId: string;
  name: string;
  /** Every scope granted, including those that other scopes cover. */
  grants: ReadonlySet<Scope>;
  /** The one space it works in; null for every space. */
  spaceId: string | null;
  /** When the key expires, ISO 8601; null for never. */
  expiresAt: string | null;
  /** How many calls it may make; null for no limit. */
  limits: KeyLimits | null;
  /** Buckets from which each of its calls takes, see bucketsOf; empty for no limit. */
  buckets: readonly KeyBucket[];
  /** After how many rotations of the key its secret was made. */
  rotation: number;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Check in constant time whether a secret is the one with this hash. */
export function hasSecret(key: Pick<StoredKey, 'secretHash'>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(key.secretHash, 'base64'), sha256(secret));
}

/** Return the SHA-256 of a secret, in base64. */
export function hashOfSecret(secret: string): string {
  return sha256(secret).toString('base64');
}

/** Make a secret of 256 random bits. */
export const newSecret = (): string => randomBytes(32).toString('hex');

const KEY_FORM = new RegExp(`^ym_(${KEY_ID_FORM})_([A-Za-z0-9_-]{1,128})$`);

/** Split `ym_<keyId>_<secret>`; null for a text of another form. */
export function splitApiKey(text: string): { id: string; secret: string } | null {
  const match = KEY_FORM.exec(text);
  return match ? { id: match[1] as string, secret: match[2] as string } : null;
}

/** Return what clients may see of a key: nothing of its secrets. */
export function withoutSecret({
  secretHash: _,
  rotations: __,
  previous: ___,
  shared: ____,
  ...key
}: StoredKey): ApiKey {
  return key;
}

/** Return a key with a secret, as only the response to its creation or rotation shows it. */
export function withSecret(key: Omit<ApiKey, 'lastUsedAt'>, secret: string): CreatedApiKey {
  const { id, name, scopes, spaceId, expiresAt, createdAt, limits, createdBy } = key;
  const shown = { id, key: `ym_${id}_${secret}`, name, scopes, spaceId, expiresAt, createdAt };
  return { ...shown, ...(limits && { limits }), ...(createdBy !== undefined && { createdBy }) };
}

/** Whether a key has not expired by a time, epoch milliseconds. */
export const isValidAt = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: number): boolean =>
  expiresAt === null || Date.parse(expiresAt) > now;

/** Return the number of the oldest secret that is accepted at a time: 0 is that of the creation. */
export function oldestSecretAt({ rotations = 0, previous }: StoredKey, now: number): number {
  return previous !== undefined && Date.parse(previous.until) > now ? rotations - 1 : rotations;
}
