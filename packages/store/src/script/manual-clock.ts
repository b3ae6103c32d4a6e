import { call } from '../call.js';
import type { Store } from '../store.js';
import { isoOf } from '../time.js';

// A clock that stands still until it is advanced, for tests of programs that use the service: an hour passes with one
// call. It is a number in Redis, epoch milliseconds. Scripts read the time in one place (lua/clock.lua), whose text is
// replaced. Every process on the Redis must follow the same clock, so only a private Redis may have one.

const TIME = "redis.call('TIME')";

/** Return the text of a script that reads the manual clock in this key, in place of the clock of Redis. */
export const followingManualClock = (text: string, key: string): string =>
  `local function manualTime()
local ms = redis.call('GET', '${key}')
return { string.sub(ms, 1, -4), string.sub(ms, -3) .. '000' }
end
${text.replaceAll(TIME, 'manualTime()')}`;

/** Start the manual clock with the present time, unless it was started before. @throws UNAVAILABLE */
export async function startManualClock(store: Store): Promise<void> {
  await call(store, 'set', store.redis.set(store.keys.manualClock, Date.now(), 'NX'));
}

/**
 * Advance the manual clock, by a millisecond more: times are whole milliseconds, so a delay of an hour is over, for
 * certain, in the millisecond after it, which never comes on a clock that stands still.
 *
 * @param seconds 0 only reads the clock
 * @returns the time that it shows, ISO 8601
 * @throws UNAVAILABLE
 */
export async function advanceClock(store: Store, seconds: number): Promise<string> {
  const ms = seconds === 0 ? 0 : Math.round(seconds * 1_000) + 1;
  return isoOf(await call(store, 'incrby', store.redis.incrby(store.keys.manualClock, ms)));
}
