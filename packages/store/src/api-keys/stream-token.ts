import { createHmac, timingSafeEqual } from 'node:crypto';
import { KEY_ID_FORM, STREAM_TOKEN_PREFIX, type StreamTokenRequest } from '@yardmaster/protocol';
import type { StoredKey } from './secrets.js';

/** What a stream token lets its holder watch: some jobs, those with a tag, or a space. */
export type StreamGrant = Pick<StreamTokenRequest, 'scope' | 'jobIds' | 'tag' | 'spaceId'> & {
  /** Epoch milliseconds, by Redis' clock. */
  expiresAt: number;
};

/**
 * A stream token is `ymst_<keyId>_<grant>_<signature>`. It is not stored: the signature is an HMAC with the hash of the
 * secret of the API key that made it. So it ends with that secret, by a revocation or a rotation. A reader of the hashes in
 * Redis can make tokens, but can read all jobs there anyway.
 */
const FORM = new RegExp(`^${STREAM_TOKEN_PREFIX}(${KEY_ID_FORM})_([A-Za-z0-9.-]{1,8000})_([A-Za-z0-9.-]{43})$`);

/** base64url with `.` in the place of `_`, which separates the parts of a token. */
const encode = (bytes: Buffer) => bytes.toString('base64url').replaceAll('_', '.');

export interface SignedGrant {
  keyId: string;
  grant: StreamGrant;
  /** Whether the token was made with a secret of the key. */
  isSignedBy(key: Pick<StoredKey, 'secretHash'>): boolean;
}

/** Make a stream token. */
export function signGrant(keyId: string, grant: StreamGrant, key: Pick<StoredKey, 'secretHash'>): string {
  const text = `${STREAM_TOKEN_PREFIX}${keyId}_${encode(Buffer.from(JSON.stringify(grant)))}`;
  return `${text}_${encode(signatureOf(text, key))}`;
}

/** Read a stream token, whose signature is not checked yet; null for a text of another form. */
export function readSignedGrant(token: string): SignedGrant | null {
  const [, keyId, encoded, signature] = FORM.exec(token) ?? [];
  if (keyId === undefined || encoded === undefined || signature === undefined) return null;
  const text = token.slice(0, -1 - signature.length);
  const given = decode(signature);
  return {
    keyId,
    // Read only after the check of the signature, so it is what `signGrant` wrote.
    get grant() {
      return JSON.parse(decode(encoded).toString()) as StreamGrant;
    },
    isSignedBy: (key) => given.length === 32 && timingSafeEqual(given, signatureOf(text, key)),
  };
}

const decode = (text: string) => Buffer.from(text.replaceAll('.', '_'), 'base64url');

const signatureOf = (text: string, { secretHash }: Pick<StoredKey, 'secretHash'>) =>
  createHmac('sha256', Buffer.from(secretHash, 'base64')).update(text).digest();
