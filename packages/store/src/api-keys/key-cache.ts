import type { Principal, StoredKey } from './api-keys.js';

/** A key as Redis returned it a moment ago. */
export interface Entry {
  stored: StoredKey;
  principal: Principal;
  /** `performance.now()` from which on the entry is not used any more. */
  until: number;
  /** The whole text that a client presented and that was correct; absent before. */
  text?: string;
}

/** Cache of keys for a short time, found by a key's id, and by the text of a key that was correct. */
export class KeyCache {
  readonly #byId = new Map<string, Entry>();
  readonly #byText = new Map<string, Entry>();
  readonly #capacity: number;

  /** @param capacity entries at most; the oldest is dropped first */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Return the entry of an id, undefined when there is none that may still be used. */
  ofId(id: string): Entry | undefined {
    return usable(this.#byId.get(id));
  }

  /**
   * Return the entry of a text, undefined when there is none that may still be used. It does not reveal to a client how
   * close a guess is. For an unknown text, it compares only a hash, whose seed only this process has.
   */
  ofText(text: string): Entry | undefined {
    return usable(this.#byText.get(text));
  }

  set(id: string, entry: Entry): void {
    this.delete(id);
    const oldest = this.#byId.size >= this.#capacity ? this.#byId.keys().next().value : undefined;
    if (oldest !== undefined) this.delete(oldest);
    this.#byId.set(id, entry);
  }

  /**
   * Make an entry findable by this text from now on, unless it is no longer the entry of its id, because the key was
   * revoked while it was read.
   */
  confirm(id: string, entry: Entry, text: string): void {
    if (this.#byId.get(id) !== entry) return;
    entry.text = text;
    this.#byText.set(text, entry);
  }

  delete(id: string): void {
    const text = this.#byId.get(id)?.text;
    if (text !== undefined) this.#byText.delete(text);
    this.#byId.delete(id);
  }

  clear(): void {
    this.#byId.clear();
    this.#byText.clear();
  }
}

const usable = (entry: Entry | undefined) =>
  entry !== undefined && entry.until > performance.now() ? entry : undefined;
