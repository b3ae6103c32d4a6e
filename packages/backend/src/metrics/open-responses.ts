import type { ServerResponse } from 'node:http';

const NEXT = Symbol('response that came next on the connection');

type Linked<R> = R & { [NEXT]?: Linked<R> | null };

/**
 * Responses of one connection that are not answered yet, in the order in which their requests came, which is that of their
 * answers. Nearly always there is one, and a Set that goes between none and one makes its table anew each time.
 */
export class OpenResponses<R extends ServerResponse> {
  /** How many there are. */
  size = 0;
  /** Requests behind them that nobody has begun to serve. */
  waiting = 0;
  /** Whose connection it is, by its latest request: id of the API key, and whether that request was urgent. */
  owner = '';
  isUrgent = false;
  /** Called when there is one less. */
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

  /** @returns whether it was there */
  delete(res: Linked<R>): boolean {
    let before: Linked<R> | null = null;
    for (let one = this.#first; one; before = one, one = one[NEXT] ?? null) {
      if (one !== res) continue;
      const next = one[NEXT] ?? null;
      if (before) before[NEXT] = next;
      else this.#first = next;
      if (next === null) this.#last = before;
      one[NEXT] = null; // Else one that V8 has moved among the old would keep all that follow it until a full collection.
      this.size--;
      this.onFewer?.();
      return true;
    }
    return false;
  }

  /** Those that are there now; each may be taken out meanwhile. */
  all(): R[] {
    const found: R[] = [];
    for (let one = this.#first; one; one = one[NEXT] ?? null) found.push(one);
    return found;
  }
}
