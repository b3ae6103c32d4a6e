// An open loop: what is to begin begins at its time, whatever became of what began before.
import { setTimeout as delay } from 'node:timers/promises';
import { now } from './processes.mjs';

/**
 * Start something so many times a second for a while, however long each takes.
 *
 * @param start `(n, dueAt)`: the how manieth from 0, and when it should begin, by `now()`. It is called late when this
 *   process is, so what counts time counts it from `dueAt`
 */
export async function atEvenRate({ rate, seconds, from = now() }, start) {
  const dueAt = (n) => from + (n / rate) * 1000;
  const count = Math.round(rate * seconds);
  for (let n = 0; n < count; ) {
    for (; n < count && dueAt(n) <= now(); n++) start(n, dueAt(n));
    // Timers are of whole milliseconds; setTimeout makes one of 0.
    if (n < count) await delay(Math.max(0, Math.floor(dueAt(n) - now())));
  }
}
