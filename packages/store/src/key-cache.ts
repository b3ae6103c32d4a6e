import type { StoredKey } from './api-keys.js';
import type { Principal } from './principal.js';

/** A key as Redis had it a moment ago. */
export interface Entry {
  stored: StoredKey;
  principal: Principal;
  /** `performance.now()` at which the entry is no longer believed. */
  until: number;
  /** The whole text that was presented and found right; absent before. */
  text?: string;
}

/** Entries that are believed for a while, found by a key's id, and by the text of a key that was found right. */
export class KeyCache {
  readonly #byId = new Map<string, Entry>();
  readonly #byText = new Map<string, Entry>();
  readonly #capacity: number;

  /** @param capacity entries at most; the oldest goes first */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The entry of an id, undefined when there is none that is still believed. */
  ofId(id: string): Entry | undefined {
    return believed(this.#byId.get(id));
  }

  /**
   * The same of a text. It tells nobody who guesses how near they are: of a text that is not known as a whole only a hash
   * is compared, whose seed is this process' own.
   */
  ofText(text: string): Entry | undefined {
    return believed(this.#byText.get(text));
  }

  set(id: string, entry: Entry): void {
    this.delete(id);
    const oldest = this.#byId.size >= this.#capacity ? this.#byId.keys().next().value : undefined;
    if (oldest !== undefined) this.delete(oldest);
    this.#byId.set(id, entry);
  }

  /** Find an entry by this text from now on; unless it is no longer its id's, since its key was revoked while it was read. */
  foundRight(id: string, entry: Entry, text: string): void {
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

const believed = (entry: Entry | undefined) =>
  entry !== undefined && entry.until > performance.now() ? entry : undefined;
