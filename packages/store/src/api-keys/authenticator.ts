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
 * How long a key is accepted from the cache when no revocation of it was received. A stream may be opened at the last
 * moment of this time, and must still be closed within 5 s of the revocation. The checks of open streams have the rest
 * of those 5 s.
 */
export const KEY_CACHE_MS = 1_000;

export interface AuthenticatorOptions {
  /** Plain text of ADMIN_API_KEY, a key with every scope in every space. */
  adminKey?: string | undefined;
  /** How long a key is accepted without asking Redis again, in milliseconds. Default KEY_CACHE_MS. */
  cacheMs?: number;
  /** Keys in the cache at once. Default 10,000. */
  capacity?: number;
}

const ADMIN: Principal = {
  ...{ keyId: ADMIN_KEY_ID, name: 'ADMIN_API_KEY', grants: new Set(SCOPES), spaceId: null },
  ...{ expiresAt: null, limits: null, buckets: [], rotation: 0 },
};

/**
 * Finds out whose API key a text is, with a bounded cache in front of Redis: the only state that a pod has.
 *
 * A revocation or a rotation is published on a channel and takes effect here at once. When the message is lost, the cache
 * accepts the key for at most `cacheMs`. A failure of Redis is an error and never admits a client.
 */
export class Authenticator {
  readonly #store: Store;
  #admin: (Principal & Pick<StoredKey, 'secretHash'>) | null = null;
  readonly #cacheMs: number;
  readonly #capacity: number;
  /** Contains the text of ADMIN_API_KEY. It is looked up and not compared, for the same reason as in KeyCache. */
  #adminTexts: ReadonlySet<string> = new Set();
  readonly #cache: KeyCache;
  /**
   * Number of the oldest secret that is accepted, of keys whose rotation or revocation was received, kept for reads that
   * were under way: Infinity for a revoked key. Ids are never used again and the number only grows, so these stay correct.
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

  /** Accept this text as ADMIN_API_KEY from now on, and the one before no more: its streams and tokens end. */
  replaceAdminKey(text: string): void {
    const rotation = this.#admin === null ? 0 : this.#admin.rotation + 1;
    this.#adminTexts = new Set([text]);
    this.#admin = { ...ADMIN, rotation, secretHash: hashOfSecret(text) };
    for (const listener of this.#listeners) listener(ADMIN_KEY_ID, rotation);
  }

  /**
   * Listen for revocations and rotations from now on. Messages may be missed while there is no connection, so the cache is cleared
   * each time that the channel is subscribed.
   *
   * @returns when the channel is subscribed for the first time
   */
  listen(subscriptions: Pick<Subscriptions, 'add'>): Promise<void> {
    return new Promise((resolve) => {
      subscriptions.add(this.#store.keys.revocations, {
        message: (text) => {
          const { keyIds, oldestSecret } = announced(text);
          for (const id of keyIds) this.#forget(id, oldestSecret);
        },
        lost: () => undefined, // The cache accepts a key for seconds only, so a revocation takes effect soon anyway.
        subscribed: () => {
          this.#cache.clear();
          resolve();
        },
      });
    });
  }

  /**
   * Call a listener for each key whose revocation or rotation is received from now on, with the number of the oldest secret
   * that is still accepted: Infinity for a revoked key. Principals with a lower `rotation` have no key any more.
   */
  onEnded(listener: (keyId: string, oldestSecret: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Return whose key a text is, if it was found correct a moment ago. Call this before `authenticate`, because it saves
   * a call 18% of its CPU: the hash of the secret, and some turns of the event loop (docs/performance/profile.md).
   *
   * @returns undefined when that is not known
   */
  cached(text: string): Principal | undefined {
    if (this.#admin !== null && this.#adminTexts.has(text)) return this.#admin;
    return this.#cache.ofText(text)?.principal;
  }

  /**
   * Return whose key a text that is no valid key names, by the id in it, if that key was read a moment ago.
   *
   * @returns undefined for a text that names none
   */
  knownBy(text: unknown): Principal | undefined {
    const id = typeof text === 'string' ? splitApiKey(text)?.id : undefined;
    return id === undefined ? undefined : this.#cache.ofId(id)[0]?.principal;
  }

  /**
   * Find out whose API key a text is.
   *
   * @param text text that the caller sent as its key
   * @returns null when it is no valid key: unknown, revoked, expired, or of another form
   * @throws UNAVAILABLE when Redis cannot be asked
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
   * Make a stream token. It is signed with the secret of the caller's API key, so that it ends with it.
   *
   * @throws UNAUTHENTICATED when the key was revoked or rotated in the meantime, UNAVAILABLE
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
   * Find out whose API key has made a stream token, and what the token lets its holder watch. Whether it has expired is not
   * checked.
   *
   * @returns null when it is no valid token: of another form, or with the signature of a secret that is not accepted
   * @throws UNAVAILABLE when Redis cannot be asked
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

  /** Check whether a message was received lately by which a key, or the secret with which it was presented, has ended. */
  isEnded({ keyId, rotation }: Pick<Principal, 'keyId' | 'rotation'>): boolean {
    return rotation < ((keyId === this.#admin?.keyId ? this.#admin.rotation : this.#oldest.get(keyId)) ?? 0);
  }

  /**
   * Ask Redis for the oldest secrets that are still accepted, of some keys that were valid: their numbers, and Infinity for
   * a key that was revoked or has expired.
   *
   * @throws UNAVAILABLE when Redis cannot be asked
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
   * Revoke a key, in this process at once and in others as soon as they receive the message. See `revokeKey`.
   *
   * @throws KEY_NOT_FOUND, FORBIDDEN, UNAVAILABLE
   */
  async revoke(keyId: string, caller: Principal | null = null, keepsChildren = false): Promise<Revoked> {
    const revoked = await revokeKey(this.#store, keyId, caller, keepsChildren);
    for (const id of revoked.ids) this.#forget(id, Number.POSITIVE_INFINITY);
    return revoked;
  }

  /**
   * Give a key a new secret, in this process at once and in others as soon as they receive the message.
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
   * Record in Redis when keys were used last in this process. It is called about once a minute, and not for a request.
   * A call with a cached key is not noted, so the time may be earlier by `cacheMs`.
   *
   * @throws UNAVAILABLE, STORAGE_FULL
   */
  recordUses(): Promise<void> {
    return this.#uses.record(this.#store);
  }

  /** Return the entry of the secret of a key that is the right one; undefined when the key does not have it. */
  async #find(id: string, isSecret: (stored: Entry['stored']) => boolean): Promise<Entry | undefined> {
    const isRight = ({ stored }: Entry) => isSecret(stored);
    // Another secret may be that of a rotation whose message is on its way, so Redis decides.
    return this.#cache.ofId(id).find(isRight) ?? (await this.#read(id)).find(isRight);
  }

  async #read(id: string): Promise<readonly Entry[]> {
    const asOf = performance.now();
    const found = await readKey(this.#store, id);
    // The message of a revocation may have overtaken the read, so that the reply of Redis is outdated.
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
    // A wrong secret must not make the process check a right one again.
    const [cached] = this.#cache.ofId(id);
    if (cached?.stored.secretHash !== key.secretHash) this.#cache.set(id, entries);
    return entries;
  }

  #forget(keyId: string, oldestSecret: number): void {
    this.#cache.delete(keyId);
    // This process has revoked or rotated the key itself, and receives its own message.
    if ((this.#oldest.get(keyId) ?? 0) >= oldestSecret) return;
    const first = this.#oldest.size >= this.#capacity ? this.#oldest.keys().next().value : undefined;
    if (first !== undefined) this.#oldest.delete(first);
    this.#oldest.set(keyId, oldestSecret);
    for (const listener of this.#listeners) listener(keyId, oldestSecret);
  }
}

/** Read a message of the channel of revocations, see keys.ts. */
function announced(text: string): { keyIds: string[]; oldestSecret: number } {
  const [ids = '', oldestSecret] = text.split(' ');
  return { keyIds: ids.split(','), oldestSecret: Number(oldestSecret ?? Number.POSITIVE_INFINITY) };
}
