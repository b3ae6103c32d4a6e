import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { FairQueue } from '@yardmaster/store';
import { openResponsesOn, type RequestMetrics } from '../metrics/requests.js';
import { type Reading, readingOf } from './reading.js';

/** Reason for not reading a connection. */
const TURN = Symbol('waits for its turn');

/** How often the load is measured, milliseconds. */
const TICK_MS = 50;

/** Share of that time in which the event loop worked; above it, the process is busy. */
const BUSY = 0.9;

/** Requests that a busy process serves at once, apart from those that it began before. */
const AT_ONCE = 128;

/** Connections that are read at each tick while the process is busy, so that none waits for ever behind slow requests. */
const PER_TICK_BUSY = 16;

/** Connections that are read at each tick once the process is no longer busy. */
const PER_TICK = 512;

/** One of so many turns is for a connection that is not urgent, if one waits. */
const NOT_URGENT_EVERY = 8;

/**
 * Make connections of a server wait for their turn to be read while the process is busy.
 *
 * A request that is not read costs nothing, but one that is read and refused costs a third of one that is served. At
 * three times its capacity a process would do little but refuse. So a busy process does not read on from a connection
 * after its response until its turn comes. Connections of running jobs go first, except for one turn in eight, and API
 * keys take their turns one after the other. The first request of a new connection is read at once, and so are requests
 * of probes.
 *
 * @returns a function to be called with each response that has ended
 */
export function createReadingTurns(requests: Pick<RequestMetrics, 'inFlight'>): (res: ServerResponse) => void {
  const urgent = new FairQueue<Reading>();
  const others = new FairQueue<Reading>();
  let taken = 0;
  let isBusy = false;
  let ended = 0; // Responses that have ended in this turn of the event loop.
  let before = performance.eventLoopUtilization();

  const goOnWith = (count: number) => {
    for (let left = count; left > 0; ) {
      const [first, second] = ++taken % NOT_URGENT_EVERY === 0 ? [others, urgent] : [urgent, others];
      const next = first.shift() ?? second.shift();
      if (next === undefined) return;
      if (next.item.resume(TURN)) left--;
    }
  };

  setInterval(() => {
    const now = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(now, before).utilization > BUSY;
    before = now;
    goOnWith(isBusy ? PER_TICK_BUSY : PER_TICK);
  }, TICK_MS).unref();

  /** Go on in a later turn of the event loop: what goes on may end at once, and nothing else would get its turn. */
  function goOnLater(): void {
    if (ended++ > 0) return;
    setImmediate(() => {
      goOnWith(Math.min(ended, AT_ONCE - requests.inFlight));
      ended = 0;
    });
  }

  return ({ req }) => {
    if (!isBusy || (requests.inFlight < AT_ONCE && urgent.size + others.size === 0)) return;
    const unanswered = openResponsesOn(req.socket);
    // A request that has begun must arrive as a whole: a body that is not read would keep its request in the process.
    if (req.complete && unanswered.size + unanswered.waiting === 0 && !req.socket.destroyed) {
      const reading = readingOf(req.socket);
      reading.pause(TURN);
      (unanswered.isUrgent ? urgent : others).push(unanswered.owner, reading);
    }
    goOnLater();
  };
}
