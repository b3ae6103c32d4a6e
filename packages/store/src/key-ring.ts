import { grantsOf, SCOPES } from '@yardmaster/protocol';
import { hashOfSecret, invalidKeys, isSecretOf, readKey, revokeKey, type StoredKey, splitApiKey } from './api-keys.js';
import { type Entry, KeyCache } from './key-cache.js';
import type { Principal } from './principal.js';
import type { Store } from './store.js';
import type { Subscriptions } from './subscriptions/subscriptions.js';

/**
 * How long a key is believed that nobody was heard to revoke. A stream may be opened in its last moment, and has to be
 * closed within 5 s of the revocation all the same: what looks after streams has the rest of that time.
 */
export const KEY_BELIEVED_MS = 1_000;

export interface KeyRingOptions {
  /** Plain text of ADMIN_API_KEY, a key with every scope in every space. */
  adminKey?: string | undefined;
  /** How long a key is believed without asking Redis again, in milliseconds. Default KEY_BELIEVED_MS. */
  cacheMs?: number;
  /** Keys remembered at once. Default 10 000. */
  capacity?: number;
}

/**
 * Tells whose API key a text is, with a bounded cache in front of Redis: the only state a pod has.
 *
 * A revocation is announced on a channel and takes effect here at once; when the announcement is lost, the cache
 * believes a key for at most `cacheMs`. A Redis failure is an error, never a pass.
 */
export class KeyRing {
  readonly #store: Store;
  readonly #admin: (Principal & Pick<StoredKey, 'secretHash'>) | null;
  readonly #cacheMs: number;
  readonly #capacity: number;
  /** Holds the text of ADMIN_API_KEY: looked up and not compared, as KeyCache does and for its reason. */
  readonly #adminTexts: ReadonlySet<string>;
  readonly #cache: KeyCache;
  /** Ids seen revoked. Ids are never used again, so these stay true; kept for reads that were under way. */
  readonly #revoked = new Set<string>();
  readonly #listeners = new Set<(keyId: string) => void>();

  constructor(store: Store, { adminKey, cacheMs = KEY_BELIEVED_MS, capacity = 10_000 }: KeyRingOptions = {}) {
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
   * Listen for revocations from now on. Announcements may be missed while there is no connection, so the cache is
   * dropped each time that it is subscribed.
   *
   * @returns when it is subscribed for the first time
   */
  listen(subscriptions: Subscriptions): Promise<void> {
    return new Promise((resolve) => {
      subscriptions.add(this.#store.keys.revocations, {
        message: (keyId) => this.#forget(keyId),
        lost: () => undefined, // The cache believes a key for seconds only, and revocation waits no longer for us.
        subscribed: () => {
          this.#cache.clear();
          resolve();
        },
      });
    });
  }

  /** Call back with the id of each key that is heard to be revoked from now on. */
  onRevoked(listener: (keyId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Tell whose key a text is when it was found right a moment ago. To be asked before `find`: it spares a call the hash of
   * the secret and some turns of the event loop: 18 % of its CPU (docs/performance.md).
   *
   * @returns undefined when that is not known
   */
  known(text: string): Principal | undefined {
    if (this.#admin !== null && this.#adminTexts.has(text)) return this.#admin;
    return this.#cache.ofText(text)?.principal;
  }

  /**
   * @param text what the caller presented
   * @returns null when it is no valid key: unknown, revoked, expired, or of another shape
   * @throws UNAVAILABLE when Redis cannot tell
   */
  async find(text: string): Promise<Principal | null> {
    if (this.#admin !== null && isSecretOf(this.#admin, text)) return this.#admin;
    const parts = splitApiKey(text);
    if (parts === null) return null;
    const entry = await this.#entry(parts.id);
    if (entry === null || !isSecretOf(entry.stored, parts.secret)) return null;
    this.#cache.foundRight(parts.id, entry, text);
    return entry.principal;
  }

  /** Whether a revocation of this key has been heard; false for one that was not heard of lately. */
  hasHeardRevoked(keyId: string): boolean {
    return this.#revoked.has(keyId);
  }

  /**
   * Ask Redis which of some keys that were good are so no more: revoked or expired.
   *
   * @throws UNAVAILABLE when Redis cannot tell
   */
  async invalidOf(keyIds: Iterable<string>): Promise<string[]> {
    const ids = [...keyIds].filter((id) => id !== this.#admin?.keyId);
    const invalid = await invalidKeys(this.#store, ids);
    for (const id of invalid) this.#cache.delete(id);
    return invalid;
  }

  /**
   * Revoke a key: here at once, in other processes as soon as they hear of it.
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
    // The announcement may have overtaken the read: what Redis said then is no longer so.
    if (found === null || this.#revoked.has(id)) return null;

    const { key, validMs } = found;
    const principal: Principal = { keyId: id, grants: grantsOf(key.scopes), spaceId: key.spaceId };
    const entry: Entry = { stored: key, principal, until: asOf + Math.min(this.#cacheMs, validMs) };
    this.#cache.set(id, entry);
    return entry;
  }

  #forget(keyId: string): void {
    // Its id may be asked to be revoked like any text, and is announced before anybody looks; it goes with ADMIN_API_KEY.
    if (keyId === this.#admin?.keyId) return;
    this.#cache.delete(keyId);
    if (this.#revoked.has(keyId)) return; // Our own revocation, announced to us as well.
    const oldest = this.#revoked.size >= this.#capacity ? this.#revoked.keys().next().value : undefined;
    if (oldest !== undefined) this.#revoked.delete(oldest);
    this.#revoked.add(keyId);
    for (const listener of this.#listeners) listener(keyId);
  }
}
