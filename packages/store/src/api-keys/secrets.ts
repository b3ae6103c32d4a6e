import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type ApiKey, type CreatedApiKey, KEY_ID_FORM, type KeyLimits, type Scope } from '@yardmaster/protocol';

/** A stored key. It contains only the SHA-256 of its secrets, in base64. An absent field means its default. */
export interface StoredKey extends Omit<ApiKey, 'lastUsedAt'> {
  secretHash: string;
  /**
   * Buckets of the keys it descends from, which its calls also take from, the first key's first. Limits never change, so
   * these stay correct even when those keys are gone. Default: none.
   */
  shared?: readonly KeyBucket[];
  /** Number of rotations of the key. Default 0. */
  rotations?: number;
  /** The previous secret, and until when it is accepted, ISO 8601. Default: none. */
  previous?: { secretHash: string; until: string };
}

/** A bucket of calls shared by a key and its descendants. */
export interface KeyBucket extends KeyLimits {
  /** ID of the key with these limits. */
  keyId: string;
}

/** ID of ADMIN_API_KEY, which is not stored and can be neither rotated nor revoked here. */
export const ADMIN_KEY_ID = 'admin';

/** Parse the record of a key. @throws SyntaxError */
export const readRecord = (record: string): StoredKey => JSON.parse(record);

/** What an authenticated API key allows, and where. */
export interface Principal {
  keyId: string;
  name: string;
  /** Every scope granted, including those that other scopes cover. */
  grants: ReadonlySet<Scope>;
  /** The space that it is bound to; null for every space. */
  spaceId: string | null;
  /** When the key expires, ISO 8601; null for never. */
  expiresAt: string | null;
  /** Limits of its calls; null for none. */
  limits: KeyLimits | null;
  /** Buckets that each of its calls takes from; see bucketsOf; empty for no limit. */
  buckets: readonly KeyBucket[];
  /** Number of the secret: 0 for that of the creation, incremented by each rotation. */
  rotation: number;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Check in constant time whether a secret has the hash of a key. */
export function hasSecret(key: Pick<StoredKey, 'secretHash'>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(key.secretHash, 'base64'), sha256(secret));
}

/** Return the SHA-256 of a secret, in base64. */
export function hashOfSecret(secret: string): string {
  return sha256(secret).toString('base64');
}

/** Generate a secret of 256 random bits. */
export const newSecret = (): string => randomBytes(32).toString('hex');

const KEY_FORM = new RegExp(`^ym_(${KEY_ID_FORM})_([A-Za-z0-9_-]{1,128})$`);

/** Split `ym_<keyId>_<secret>`; null for a malformed text. */
export function splitApiKey(text: string): { id: string; secret: string } | null {
  const match = KEY_FORM.exec(text);
  return match ? { id: match[1] as string, secret: match[2] as string } : null;
}

/** Return the fields of a key that clients may see. */
export function withoutSecret({
  secretHash: _,
  rotations: __,
  previous: ___,
  shared: ____,
  ...key
}: StoredKey): ApiKey {
  return key;
}

/** Return a key with its secret, for the response to its creation or rotation. */
export function withSecret(key: Omit<ApiKey, 'lastUsedAt'>, secret: string): CreatedApiKey {
  const { id, name, scopes, spaceId, expiresAt, createdAt, limits, createdBy } = key;
  const shown = { id, key: `ym_${id}_${secret}`, name, scopes, spaceId, expiresAt, createdAt };
  return { ...shown, ...(limits && { limits }), ...(createdBy !== undefined && { createdBy }) };
}

/** Check that a key has not expired at a time, epoch milliseconds. */
export const isValidAt = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: number): boolean =>
  expiresAt === null || Date.parse(expiresAt) > now;

/** Return the number of the oldest secret accepted at a time; 0 for that of the creation. */
export function oldestSecretAt({ rotations = 0, previous }: StoredKey, now: number): number {
  return previous !== undefined && Date.parse(previous.until) > now ? rotations - 1 : rotations;
}
