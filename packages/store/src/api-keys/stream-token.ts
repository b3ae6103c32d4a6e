import { createHmac, timingSafeEqual } from 'node:crypto';
import { KEY_ID_FORM, STREAM_TOKEN_PREFIX, type StreamTokenRequest } from '@yardmaster/protocol';
import type { StoredKey } from './secrets.js';

/** What the holder of a stream token may watch: some jobs, jobs with a tag, or a space. */
export type StreamGrant = Pick<StreamTokenRequest, 'scope' | 'jobIds' | 'tag' | 'spaceId'> & {
  /** Epoch milliseconds by the clock of Redis. */
  expiresAt: number;
};

/**
 * Pattern of a stream token: `ymst_<keyId>_<grant>_<signature>`. A token is not stored: the signature is an HMAC with the
 * hash of the API key's secret, so a revocation or a rotation invalidates the token. Anyone who can read the hashes in Redis
 * can forge tokens, but can read all jobs there anyway.
 */
const FORM = new RegExp(`^${STREAM_TOKEN_PREFIX}(${KEY_ID_FORM})_([A-Za-z0-9.-]{1,8000})_([A-Za-z0-9.-]{43})$`);

/** Encode as base64url with `.` instead of `_`, which separates the parts of a token. */
const encode = (bytes: Buffer) => bytes.toString('base64url').replaceAll('_', '.');

export interface SignedGrant {
  keyId: string;
  grant: StreamGrant;
  /** Check whether the token was signed with this secret of the key. */
  isSignedBy(key: Pick<StoredKey, 'secretHash'>): boolean;
}

/** Create a stream token. */
export function signGrant(keyId: string, grant: StreamGrant, key: Pick<StoredKey, 'secretHash'>): string {
  const text = `${STREAM_TOKEN_PREFIX}${keyId}_${encode(Buffer.from(JSON.stringify(grant)))}`;
  return `${text}_${encode(signatureOf(text, key))}`;
}

/** Parse a stream token without checking its signature; null for a malformed text. */
export function readSignedGrant(token: string): SignedGrant | null {
  const [, keyId, encoded, signature] = FORM.exec(token) ?? [];
  if (keyId === undefined || encoded === undefined || signature === undefined) return null;
  const text = token.slice(0, -1 - signature.length);
  const given = decode(signature);
  return {
    keyId,
    // Read only after the signature was checked, so the JSON comes from `signGrant`.
    get grant() {
      return JSON.parse(decode(encoded).toString()) as StreamGrant;
    },
    isSignedBy: (key) => given.length === 32 && timingSafeEqual(given, signatureOf(text, key)),
  };
}

const decode = (text: string) => Buffer.from(text.replaceAll('.', '_'), 'base64url');

const signatureOf = (text: string, { secretHash }: Pick<StoredKey, 'secretHash'>) =>
  createHmac('sha256', Buffer.from(secretHash, 'base64')).update(text).digest();
