import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FairQueue } from '@yardmaster/store';
import { type RequestMetrics, unansweredOn } from '../metrics/requests.js';
import { readingOf } from './reading.js';

/** Requests in the process at which connections wait for their turn to be read again. */
const BUSY_AT = 256;

/** So often connections are read on although no request was answered: some may send nothing any more. */
const TICK_MS = 20;

/**
 * Has connections wait for their turn while the process is busy. A request that is not read costs nothing, while one that is
 * read and refused costs a third of one that is served: at three times its capacity a process would do little but refuse.
 *
 * A connection waits behind its response. Those of running jobs go first, and API keys have their turns one after the other.
 * The first request of a new connection is read at once, as those of probes are.
 *
 * @returns a function to call with each response that has ended
 */
export function createReadingTurns(requests: Pick<RequestMetrics, 'open'>): (ended: ServerResponse) => void {
  const urgent = new FairQueue<Socket>();
  const others = new FairQueue<Socket>();
  let timer: NodeJS.Timeout | undefined;

  function readNext(): boolean {
    const next = urgent.shift() ?? others.shift();
    if (next !== undefined) readingOf(next.item).resume(createReadingTurns);
    return next !== undefined;
  }

  function tick(): void {
    timer = undefined;
    for (let free = BUSY_AT - requests.open; free > 0 && readNext(); free--);
    if (urgent.size + others.size > 0) timer = setTimeout(tick, TICK_MS).unref();
  }

  return ({ req }) => {
    if (requests.open < BUSY_AT) {
      if (timer !== undefined) readNext();
      return;
    }
    const unanswered = unansweredOn(req.socket);
    // What was begun must come in whole: a body that is not read would keep its request in the process.
    if (!req.complete || unanswered.size > 0 || req.socket.destroyed) return;
    readingOf(req.socket).pause(createReadingTurns);
    (unanswered.isUrgent ? urgent : others).push(unanswered.owner, req.socket);
    timer ??= setTimeout(tick, TICK_MS).unref();
  };
}
