import { type CreatedApiKey, grantsOf, type RotateKeyRequest, SCOPES, YardmasterError } from '@yardmaster/protocol';
import type { Subscriptions } from '@yardmaster/redis';
import type { Store } from '../store.js';
import { oldestSecretsOf, readKey } from './api-keys.js';
import { bucketsOf } from './bounds.js';
import { type Entry, KeyCache } from './key-cache.js';
import { type Revoked, revokeKey } from './revoke.js';
import { rotateKey } from './rotate.js';
import {
  ADMIN_KEY_ID,
  hashOfSecret,
  hasSecret,
  oldestSecretAt,
  type Principal,
  type StoredKey,
  splitApiKey,
} from './secrets.js';
import { readSignedGrant, type StreamGrant, signGrant } from './stream-token.js';
import { KeyUses } from './uses.js';

/**
 * How long a key is accepted from the cache when the message of its revocation is lost, in milliseconds. A stream opened
 * at the last moment must still be closed within 5 s of the revocation, which leaves 4 s for the checks of open streams.
 */
export const KEY_CACHE_MS = 1_000;

export interface AuthenticatorOptions {
  /** Plaintext of ADMIN_API_KEY, a key with every scope in every space. Default: none. */
  adminKey?: string | undefined;
  /** How long a key is accepted without asking Redis again, in milliseconds. Default KEY_CACHE_MS. */
  cacheMs?: number;
  /** Maximum number of keys in the cache. Default 10,000. */
  capacity?: number;
}

const ADMIN: Principal = {
  ...{ keyId: ADMIN_KEY_ID, name: 'ADMIN_API_KEY', grants: new Set(SCOPES), spaceId: null },
  ...{ expiresAt: null, limits: null, buckets: [], rotation: 0 },
};

/**
 * Authenticate API keys, with a bounded cache in front of Redis.
 *
 * A revocation or a rotation is published on a channel and takes effect here immediately. If the message is lost, the cache
 * accepts the key for at most `cacheMs`. A Redis failure is an error and never admits a client.
 */
export class Authenticator {
  readonly #store: Store;
  #admin: (Principal & Pick<StoredKey, 'secretHash'>) | null = null;
  readonly #cacheMs: number;
  readonly #capacity: number;
  /** The text of ADMIN_API_KEY, in a set because it must be looked up rather than compared; see KeyCache. */
  #adminTexts: ReadonlySet<string> = new Set();
  readonly #cache: KeyCache;
  /**
   * Number of the oldest accepted secret of keys whose rotation or revocation was received; Infinity for a revoked key. Reads
   * in flight need it. IDs are never reused and the number only grows, so these stay correct.
   */
  readonly #oldest = new Map<string, number>();
  readonly #listeners = new Set<(keyId: string, oldestSecret: number) => void>();
  readonly #uses = new KeyUses();

  constructor(store: Store, { adminKey, cacheMs = KEY_CACHE_MS, capacity = 10_000 }: AuthenticatorOptions = {}) {
    this.#store = store;
    this.#cacheMs = cacheMs;
    this.#capacity = capacity;
    this.#cache = new KeyCache(capacity);
    if (adminKey) this.replaceAdminKey(adminKey);
  }

  /** Replace ADMIN_API_KEY. The streams and tokens of the previous key end. */
  replaceAdminKey(text: string): void {
    const rotation = this.#admin === null ? 0 : this.#admin.rotation + 1;
    this.#adminTexts = new Set([text]);
    this.#admin = { ...ADMIN, rotation, secretHash: hashOfSecret(text) };
    for (const listener of this.#listeners) listener(ADMIN_KEY_ID, rotation);
  }

  /**
   * Listen for revocations and rotations. Messages can be missed while there is no connection, so the cache is cleared
   * whenever the channel is subscribed.
   *
   * @returns once the channel is subscribed for the first time
   */
  listen(subscriptions: Pick<Subscriptions, 'add'>): Promise<void> {
    return new Promise((resolve) => {
      subscriptions.add(this.#store.keys.revocations, {
        message: (text) => {
          const { keyIds, oldestSecret } = announced(text);
          for (const id of keyIds) this.#forget(id, oldestSecret);
        },
        lost: () => undefined, // The cache accepts a key only briefly, so a revocation takes effect soon anyway.
        subscribed: () => {
          this.#cache.clear();
          resolve();
        },
      });
    });
  }

  /**
   * Call a listener for each received revocation or rotation, with the number of the oldest accepted secret; Infinity for a
   * revoked key. Principals with a lower `rotation` are no longer valid.
   *
   * @returns function that removes the listener
   */
  onEnded(listener: (keyId: string, oldestSecret: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Return the principal of a key that was authenticated a moment ago. Call this before `authenticate`, because it saves 18%
   * of a call's CPU time: the hash of the secret, and some turns of the event loop (docs/performance/profile.md).
   *
   * @returns undefined when the text is not in the cache
   */
  cached(text: string): Principal | undefined {
    if (this.#admin !== null && this.#adminTexts.has(text)) return this.#admin;
    return this.#cache.ofText(text)?.principal;
  }

  /**
   * Return the principal of the key that an invalid text names, by the ID in it, if that key was read a moment ago.
   *
   * @returns undefined for a text that names no such key
   */
  knownBy(text: unknown): Principal | undefined {
    const id = typeof text === 'string' ? splitApiKey(text)?.id : undefined;
    return id === undefined ? undefined : this.#cache.ofId(id)[0]?.principal;
  }

  /**
   * Authenticate an API key.
   *
   * @param text text that the caller sent as its key
   * @returns null for an invalid key: unknown, revoked, expired or malformed
   * @throws UNAVAILABLE
   */
  async authenticate(text: string): Promise<Principal | null> {
    if (this.#admin !== null && hasSecret(this.#admin, text)) return this.#admin;
    const parts = splitApiKey(text);
    if (parts === null) return null;
    const entry = await this.#find(parts.id, (stored) => hasSecret(stored, parts.secret));
    if (entry === undefined || this.isEnded(entry.principal)) return null;
    this.#cache.confirm(parts.id, entry, text);
    this.#uses.add(parts.id);
    return entry.principal;
  }

  /**
   * Create a stream token. It is signed with the secret of the caller's API key, so it becomes invalid with that secret.
   *
   * @throws UNAUTHENTICATED when the key was revoked or rotated in the meantime; UNAVAILABLE
   */
  async createStreamToken({ keyId, rotation }: Principal, grant: StreamGrant): Promise<string> {
    const isPresent = (entry: Entry) => entry.principal.rotation === rotation;
    const stored =
      keyId === this.#admin?.keyId
        ? this.#admin
        : (this.#cache.ofId(keyId).find(isPresent) ?? (await this.#read(keyId)).find(isPresent))?.stored;
    if (stored === undefined) throw new YardmasterError('UNAUTHENTICATED');
    return signGrant(keyId, grant, stored);
  }

  /**
   * Verify a stream token. Return the principal of the API key that created it, and what its holder may watch. The expiry is
   * not checked.
   *
   * @returns null for an invalid token: malformed, or signed with a secret that is no longer accepted
   * @throws UNAVAILABLE
   */
  async ofStreamToken(token: string): Promise<{ principal: Principal; grant: StreamGrant } | null> {
    const signed = readSignedGrant(token);
    if (signed === null) return null;
    if (signed.keyId === this.#admin?.keyId) {
      return signed.isSignedBy(this.#admin) ? { principal: this.#admin, grant: signed.grant } : null;
    }
    const entry = await this.#find(signed.keyId, signed.isSignedBy);
    if (entry === undefined || this.isEnded(entry.principal)) return null;
    this.#uses.add(signed.keyId);
    return { principal: entry.principal, grant: signed.grant };
  }

  /** Check whether a message has recently revoked a key, or rotated away the secret with which it was presented. */
  isEnded({ keyId, rotation }: Pick<Principal, 'keyId' | 'rotation'>): boolean {
    return rotation < ((keyId === this.#admin?.keyId ? this.#admin.rotation : this.#oldest.get(keyId)) ?? 0);
  }

  /**
   * Read the number of the oldest accepted secret for each of some keys from Redis; Infinity for a key that was revoked or has
   * expired.
   *
   * @throws UNAVAILABLE
   */
  async oldestSecretsOf(keyIds: Iterable<string>): Promise<Map<string, number>> {
    const oldest = await oldestSecretsOf(
      this.#store,
      [...keyIds].filter((id) => id !== this.#admin?.keyId),
    );
    for (const [id, secret] of oldest) if (secret === Number.POSITIVE_INFINITY) this.#cache.delete(id);
    return oldest;
  }

  /**
   * Revoke a key, immediately in this process, and in others when they receive the message. See `revokeKey`.
   *
   * @throws KEY_NOT_FOUND, FORBIDDEN, UNAVAILABLE
   */
  async revoke(keyId: string, caller: Principal | null = null, keepsChildren = false): Promise<Revoked> {
    const revoked = await revokeKey(this.#store, keyId, caller, keepsChildren);
    for (const id of revoked.ids) this.#forget(id, Number.POSITIVE_INFINITY);
    return revoked;
  }

  /**
   * Rotate a key, immediately in this process, and in others when they receive the message.
   *
   * @param caller see `rotateKey`
   * @throws KEY_NOT_FOUND, FORBIDDEN, UNAVAILABLE
   */
  async rotate(keyId: string, request: RotateKeyRequest, caller: Principal | null = null): Promise<CreatedApiKey> {
    const { key, oldestSecret } = await rotateKey(this.#store, keyId, request, caller);
    this.#forget(keyId, oldestSecret);
    return key;
  }

  /**
   * Record in Redis when keys were last used in this process. Call it about once a minute rather than per request. A call
   * with a cached key is not recorded, so the time may be too early by `cacheMs`.
   *
   * @throws UNAVAILABLE, STORAGE_FULL
   */
  recordUses(): Promise<void> {
    return this.#uses.record(this.#store);
  }

  /** Return the entry of a key for the correct secret; undefined when no accepted secret is correct. */
  async #find(id: string, isSecret: (stored: Entry['stored']) => boolean): Promise<Entry | undefined> {
    const isRight = ({ stored }: Entry) => isSecret(stored);
    // An unknown secret may come from a rotation whose message is in flight, so ask Redis.
    return this.#cache.ofId(id).find(isRight) ?? (await this.#read(id)).find(isRight);
  }

  async #read(id: string): Promise<readonly Entry[]> {
    const asOf = performance.now();
    const found = await readKey(this.#store, id);
    // The message of a revocation may have overtaken the read, whose reply is then outdated.
    if (found === null || this.#oldest.get(id) === Number.POSITIVE_INFINITY) {
      this.#cache.delete(id);
      return [];
    }
    const { key, now } = found;
    const { rotations = 0, expiresAt, previous } = key;
    const principal: Principal = {
      ...{ keyId: id, name: key.name, grants: grantsOf(key.scopes), spaceId: key.spaceId },
      ...{ expiresAt, limits: key.limits ?? null, buckets: bucketsOf(key), rotation: rotations },
    };
    const entryOf = (stored: Entry['stored'], rotation: number, end: string | null): Entry => ({
      stored,
      principal: { ...principal, rotation },
      until: asOf + Math.min(this.#cacheMs, end === null ? Number.POSITIVE_INFINITY : Date.parse(end) - now),
    });
    const entries = [entryOf(key, rotations, expiresAt)];
    if (previous !== undefined && oldestSecretAt(key, now) < rotations) {
      const end = expiresAt !== null && expiresAt < previous.until ? expiresAt : previous.until;
      entries.push(entryOf(previous, rotations - 1, end));
    }
    // A wrong secret must not evict the cached entry, or the correct secret would have to be verified again.
    const [cached] = this.#cache.ofId(id);
    if (cached?.stored.secretHash !== key.secretHash) this.#cache.set(id, entries);
    return entries;
  }

  #forget(keyId: string, oldestSecret: number): void {
    this.#cache.delete(keyId);
    // This process revoked or rotated the key itself, and now receives its own message.
    if ((this.#oldest.get(keyId) ?? 0) >= oldestSecret) return;
    const first = this.#oldest.size >= this.#capacity ? this.#oldest.keys().next().value : undefined;
    if (first !== undefined) this.#oldest.delete(first);
    this.#oldest.set(keyId, oldestSecret);
    for (const listener of this.#listeners) listener(keyId, oldestSecret);
  }
}

/** Parse a message of the channel `revocations`; see keys.ts. */
function announced(text: string): { keyIds: string[]; oldestSecret: number } {
  const [ids = '', oldestSecret] = text.split(' ');
  return { keyIds: ids.split(','), oldestSecret: Number(oldestSecret ?? Number.POSITIVE_INFINITY) };
}
