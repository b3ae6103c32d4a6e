import { performance } from 'node:perf_hooks';

/** How long connections that pipeline are served in one turn of the event loop, before all others have theirs. */
const TURN_MS = 2;

/** Requests of all those connections that are served at once. With more, each takes so long that V8 frees its memory late. */
const OPEN_AT_MOST = 32;

/** Lets connections go on in the order in which they ask, for a short time in each turn of the event loop. */
export class Turns {
  /** Requests of theirs that are served and not answered yet. */
  open = 0;
  #waiting: (() => void)[] = [];
  #isScheduled = false;
  #number = 1;
  #isCounted = false;

  /** The number of the turn of now. */
  current(): number {
    if (!this.#isCounted) {
      this.#isCounted = true;
      setImmediate(() => {
        this.#isCounted = false;
        this.#number++;
      });
    }
    return this.#number;
  }

  ask(goOn: () => void): void {
    this.#waiting.push(goOn);
    this.schedule();
  }

  get haveRoom(): boolean {
    return this.open < OPEN_AT_MOST;
  }

  /** Called when one asks, and when there is room again. */
  schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || !this.haveRoom) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run();
      this.schedule();
    });
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = []; // Who asks meanwhile comes behind those.
    let served = 0;
    for (
      const end = performance.now() + TURN_MS;
      served < waiting.length && this.haveRoom && performance.now() < end;
      served++
    )
      waiting[served]?.();
    this.#waiting = waiting.slice(served).concat(this.#waiting);
  }
}
