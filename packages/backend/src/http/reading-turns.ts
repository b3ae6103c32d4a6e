import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { FairQueue } from '@yardmaster/store';
import { type RequestMetrics, unansweredOn } from '../metrics/requests.js';
import { readingOf } from './reading.js';

/** Of the last so many milliseconds, the event loop has worked for such a part: then the process is busy. */
const TICK_MS = 50;
const BUSY = 0.9;

/** Requests that are served at once by a busy process, but for those that it has begun before. */
const AT_ONCE = 32;

/** How many connections go on at each tick: of a busy process, so that none waits for ever behind what takes long; else. */
const PER_TICK_BUSY = 16;
const PER_TICK = 512;

/**
 * Have connections of a server wait for their turn to be read while the process is busy.
 *
 * A request that is not read costs nothing, while one that is read and refused costs a third of one that is served: at three
 * times its capacity a process would do little but refuse. So a busy one does not read on from a connection behind its
 * response, until its turn comes. Connections of running jobs go first, and API keys have their turns one after the other. The
 * first request of a new connection is read at once, as those of probes are.
 *
 * @returns to be called with each response that has ended
 */
export function createReadingTurns(requests: Pick<RequestMetrics, 'open'>): (res: ServerResponse) => void {
  const urgent = new FairQueue<() => void>();
  const others = new FairQueue<() => void>();
  let isBusy = false;
  let ended = 0; // Responses that have ended in this turn of the event loop.
  let before = performance.eventLoopUtilization();

  const goOnWith = (count: number) => {
    for (let left = count; left > 0; left--) {
      const next = urgent.shift() ?? others.shift();
      if (next === undefined) return;
      next.item();
    }
  };

  setInterval(() => {
    const now = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(now, before).utilization > BUSY;
    before = now;
    goOnWith(isBusy ? PER_TICK_BUSY : PER_TICK);
  }, TICK_MS).unref();

  /** In a turn of its own: what goes on may end at once, and nothing else would have its turn. */
  function goOnLater(): void {
    if (ended++ > 0) return;
    setImmediate(() => {
      goOnWith(Math.min(ended, AT_ONCE - requests.open));
      ended = 0;
    });
  }

  function wait({ owner, isUrgent }: ReturnType<typeof unansweredOn>, goOn: () => void): void {
    (isUrgent ? urgent : others).push(owner, goOn);
  }

  return ({ req }) => {
    if (!isBusy) return;
    const unanswered = unansweredOn(req.socket);
    // What was begun must come in whole: a body that is not read would keep its request in the process.
    if (req.complete && unanswered.size + unanswered.waiting === 0 && !req.socket.destroyed) {
      const reading = readingOf(req.socket);
      reading.pause(wait);
      wait(unanswered, () => reading.resume(wait));
    }
    goOnLater();
  };
}
