import type { Principal, StoredKey } from './secrets.js';

/** A secret of a key that was recently read from Redis. */
export interface Entry {
  stored: Pick<StoredKey, 'secretHash'>;
  principal: Principal;
  /** When the entry expires, by `performance.now()`. */
  until: number;
  /** The correct text that a client has presented; absent before. */
  text?: string;
}

/** A short-lived cache of keys, by ID and by the text of a correct key. */
export class KeyCache {
  /** Accepted secrets of a key: the current one, and the previous one during an overlap. */
  readonly #byId = new Map<string, readonly Entry[]>();
  readonly #byText = new Map<string, Entry>();
  readonly #capacity: number;

  /** @param capacity maximum number of keys; the oldest is dropped first */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Return the entries of an ID that have not expired. */
  ofId(id: string): readonly Entry[] {
    return this.#byId.get(id)?.filter(isUsable) ?? [];
  }

  /**
   * Return the entry of a text that has not expired; undefined for none. A map lookup does not reveal how close a guess is:
   * for an unknown text, it compares only a hash, whose seed only this process knows.
   */
  ofText(text: string): Entry | undefined {
    const entry = this.#byText.get(text);
    return entry !== undefined && isUsable(entry) ? entry : undefined;
  }

  set(id: string, entries: readonly Entry[]): void {
    this.delete(id);
    const oldest = this.#byId.size >= this.#capacity ? this.#byId.keys().next().value : undefined;
    if (oldest !== undefined) this.delete(oldest);
    this.#byId.set(id, entries);
  }

  /**
   * Index an entry by its text, unless the key was revoked or rotated in the meantime.
   */
  confirm(id: string, entry: Entry, text: string): void {
    if (this.#byId.get(id)?.includes(entry) !== true) return;
    entry.text = text;
    this.#byText.set(text, entry);
  }

  delete(id: string): void {
    for (const { text } of this.#byId.get(id) ?? []) if (text !== undefined) this.#byText.delete(text);
    this.#byId.delete(id);
  }

  clear(): void {
    this.#byId.clear();
    this.#byText.clear();
  }
}

const isUsable = ({ until }: Entry) => until > performance.now();
