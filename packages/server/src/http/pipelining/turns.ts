import { performance } from 'node:perf_hooks';

/** How long connections that pipeline are served in one turn of the event loop, before all others get their turn. */
const TURN_MS = 2;

/** Requests of all these connections that are served at once. With more, each takes so long that V8 frees its memory late. */
const OPEN_AT_MOST = 32;

/** Lets connections go on in the order in which they ask, for a short time in each turn of the event loop. */
export class PipelineTurns {
  /** Requests of these connections that are being served and have no response yet. */
  open = 0;
  #waiting: (() => void)[] = [];
  #isScheduled = false;
  #number = 1;
  #isCounted = false;

  /** Return the number of the current turn. */
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

  /** Schedule a run. Called when a connection asks, and when there is room again. */
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
    this.#waiting = []; // A connection that asks meanwhile comes after those.
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
