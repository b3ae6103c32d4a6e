import type { ServerResponse } from 'node:http';

const NEXT = Symbol('response that came next on the connection');

type Linked<R> = R & { [NEXT]?: Linked<R> | null };

/**
 * Unfinished responses of one connection, in the order in which their requests came, which is also the order in which
 * they are sent. Nearly always there is one, and a Set that goes between none and one makes its table again each time.
 */
export class OpenResponses<R extends ServerResponse> {
  /** How many responses there are. */
  size = 0;
  /** Requests after them that are not being served yet. */
  waiting = 0;
  /** Owner of the connection, by its latest request: id of the API key, and whether that request was urgent. */
  owner = '';
  isUrgent = false;
  /** Called when there is one response less. */
  onFewer: (() => void) | null = null;
  #first: Linked<R> | null = null;
  #last: Linked<R> | null = null;

  add(res: Linked<R>): void {
    res[NEXT] = null;
    if (this.#last) this.#last[NEXT] = res;
    else this.#first = res;
    this.#last = res;
    this.size++;
  }

  /** Remove a response. @returns whether it was there */
  delete(res: Linked<R>): boolean {
    let before: Linked<R> | null = null;
    for (let one = this.#first; one; before = one, one = one[NEXT] ?? null) {
      if (one !== res) continue;
      const next = one[NEXT] ?? null;
      if (before) before[NEXT] = next;
      else this.#first = next;
      if (next === null) this.#last = before;
      // Otherwise a response that V8 has moved to the old space would keep all that follow it until a full collection.
      one[NEXT] = null;
      this.size--;
      this.onFewer?.();
      return true;
    }
    return false;
  }

  /** Return the responses that are there now; each may be removed meanwhile. */
  all(): R[] {
    const found: R[] = [];
    for (let one = this.#first; one; one = one[NEXT] ?? null) found.push(one);
    return found;
  }
}
