import type { Principal, StoredKey } from './secrets.js';

/** A secret of a key, as Redis returned it a moment ago. */
export interface Entry {
  stored: Pick<StoredKey, 'secretHash'>;
  principal: Principal;
  /** `performance.now()` from which on the entry is not used any more. */
  until: number;
  /** The whole text that a client presented and that was correct; absent before. */
  text?: string;
}

/** Cache of keys for a short time, found by a key's id, and by the text of a key that was correct. */
export class KeyCache {
  /** The accepted secrets of a key: the present one, and during an overlap the one before. */
  readonly #byId = new Map<string, readonly Entry[]>();
  readonly #byText = new Map<string, Entry>();
  readonly #capacity: number;

  /** @param capacity keys at most; the oldest is dropped first */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Return the entries of an id that may still be used. */
  ofId(id: string): readonly Entry[] {
    return this.#byId.get(id)?.filter(isUsable) ?? [];
  }

  /**
   * Return the entry of a text, undefined without one that may still be used. It does not reveal to a client how
   * close a guess is. For an unknown text, it compares only a hash, whose seed only this process has.
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
   * Make an entry findable by this text from now on, unless it is no longer an entry of its id, because the key was
   * revoked or rotated while it was read.
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
