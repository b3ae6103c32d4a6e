import { grantsOf, SCOPES } from '@yardmaster/protocol';
import type { Subscriptions } from '@yardmaster/redis';
import type { Store } from '../store.js';
import {
  hashOfSecret,
  hasSecret,
  invalidKeys,
  type Principal,
  readKey,
  revokeKey,
  type StoredKey,
  splitApiKey,
} from './api-keys.js';
import { type Entry, KeyCache } from './key-cache.js';

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
  /** Keys in the cache at once. Default 10 000. */
  capacity?: number;
}

/**
 * Finds out whose API key a text is, with a bounded cache in front of Redis: the only state that a pod has.
 *
 * A revocation is published on a channel and takes effect here at once. When the message is lost, the cache accepts the
 * key for at most `cacheMs`. A failure of Redis is an error and never admits a client.
 */
export class Authenticator {
  readonly #store: Store;
  readonly #admin: (Principal & Pick<StoredKey, 'secretHash'>) | null;
  readonly #cacheMs: number;
  readonly #capacity: number;
  /** Contains the text of ADMIN_API_KEY. It is looked up and not compared, for the same reason as in KeyCache. */
  readonly #adminTexts: ReadonlySet<string>;
  readonly #cache: KeyCache;
  /**
   * Ids whose revocation was received, kept for reads that were under way. Ids are never used again, so these stay
   * correct.
   */
  readonly #revoked = new Set<string>();
  readonly #listeners = new Set<(keyId: string) => void>();

  constructor(store: Store, { adminKey, cacheMs = KEY_CACHE_MS, capacity = 10_000 }: AuthenticatorOptions = {}) {
    this.#store = store;
    this.#cacheMs = cacheMs;
    this.#capacity = capacity;
    this.#cache = new KeyCache(capacity);
    this.#adminTexts = new Set(adminKey ? [adminKey] : []);
    this.#admin = adminKey
      ? { keyId: 'admin', grants: new Set(SCOPES), spaceId: null, secretHash: hashOfSecret(adminKey) }
      : null;
  }

  /**
   * Listen for revocations from now on. Messages may be missed while there is no connection, so the cache is cleared
   * each time that the channel is subscribed.
   *
   * @returns when the channel is subscribed for the first time
   */
  listen(subscriptions: Pick<Subscriptions, 'add'>): Promise<void> {
    return new Promise((resolve) => {
      subscriptions.add(this.#store.keys.revocations, {
        message: (keyId) => this.#forget(keyId),
        lost: () => undefined, // The cache accepts a key for seconds only, so a revocation takes effect soon anyway.
        subscribed: () => {
          this.#cache.clear();
          resolve();
        },
      });
    });
  }

  /** Call a listener with the id of each key whose revocation is received from now on. */
  onRevoked(listener: (keyId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Return whose key a text is, if it was found correct a moment ago. Call this before `authenticate`, because it saves
   * a call 18 % of its CPU: the hash of the secret, and some turns of the event loop (docs/performance.md).
   *
   * @returns undefined when that is not known
   */
  cached(text: string): Principal | undefined {
    if (this.#admin !== null && this.#adminTexts.has(text)) return this.#admin;
    return this.#cache.ofText(text)?.principal;
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
    const entry = await this.#entry(parts.id);
    if (entry === null || !hasSecret(entry.stored, parts.secret)) return null;
    this.#cache.confirm(parts.id, entry, text);
    return entry.principal;
  }

  /** Check whether a revocation of this key was received lately. */
  isRevoked(keyId: string): boolean {
    return this.#revoked.has(keyId);
  }

  /**
   * Ask Redis which of some keys that were valid no longer are: revoked or expired.
   *
   * @throws UNAVAILABLE when Redis cannot be asked
   */
  async invalidOf(keyIds: Iterable<string>): Promise<string[]> {
    const ids = [...keyIds].filter((id) => id !== this.#admin?.keyId);
    const invalid = await invalidKeys(this.#store, ids);
    for (const id of invalid) this.#cache.delete(id);
    return invalid;
  }

  /**
   * Revoke a key, in this process at once and in others as soon as they receive the message.
   *
   * @throws KEY_NOT_FOUND, UNAVAILABLE
   */
  async revoke(keyId: string): Promise<void> {
    await revokeKey(this.#store, keyId);
    this.#forget(keyId);
  }

  async #entry(id: string): Promise<Entry | null> {
    const cached = this.#cache.ofId(id);
    if (cached !== undefined) return cached;

    const asOf = performance.now();
    const found = await readKey(this.#store, id);
    this.#cache.delete(id);
    // The message of a revocation may have overtaken the read, so that the reply of Redis is outdated.
    if (found === null || this.#revoked.has(id)) return null;

    const { key, validMs } = found;
    const principal: Principal = { keyId: id, grants: grantsOf(key.scopes), spaceId: key.spaceId };
    const entry: Entry = { stored: key, principal, until: asOf + Math.min(this.#cacheMs, validMs) };
    this.#cache.set(id, entry);
    return entry;
  }

  #forget(keyId: string): void {
    // A client may ask to revoke any text, also this id, and the message is sent before the text is checked. This key
    // is valid for as long as ADMIN_API_KEY is set.
    if (keyId === this.#admin?.keyId) return;
    this.#cache.delete(keyId);
    if (this.#revoked.has(keyId)) return; // This process has revoked the key itself, and receives its own message.
    const oldest = this.#revoked.size >= this.#capacity ? this.#revoked.keys().next().value : undefined;
    if (oldest !== undefined) this.#revoked.delete(oldest);
    this.#revoked.add(keyId);
    for (const listener of this.#listeners) listener(keyId);
  }
}
