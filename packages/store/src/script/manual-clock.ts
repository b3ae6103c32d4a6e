import { call } from '../call.js';
import type { Store } from '../store.js';
import { isoOf } from '../time.js';

// A clock that stands still until it is advanced, for tests of programs that use the service: one call makes an hour pass.
// It is a number in Redis, epoch milliseconds. Scripts read the time in one place (lua/clock.lua), whose text is replaced.
// Every process on a Redis must follow the same clock, so use it only on a private Redis.

const TIME = "redis.call('TIME')";

/** Return the text of a script, changed to read the manual clock in this key instead of the clock of Redis. */
export const followingManualClock = (text: string, key: string): string =>
  `local function manualTime()
local ms = redis.call('GET', '${key}')
return { string.sub(ms, 1, -4), string.sub(ms, -3) .. '000' }
end
${text.replaceAll(TIME, 'manualTime()')}`;

/** Start the manual clock at the current time, unless it is already started. @throws UNAVAILABLE */
export async function startManualClock(store: Store): Promise<void> {
  await call(store, 'set', store.redis.set(store.keys.manualClock, Date.now(), 'NX'));
}

/**
 * Advance the manual clock, plus one millisecond. Times are whole milliseconds, so a delay is certain to be over only in
 * the millisecond after it, which a clock that stands still would never reach.
 *
 * @param seconds 0 to only read the clock
 * @returns the new time, ISO 8601
 * @throws UNAVAILABLE
 */
export async function advanceClock(store: Store, seconds: number): Promise<string> {
  const ms = seconds === 0 ? 0 : Math.round(seconds * 1_000) + 1;
  return isoOf(await call(store, 'incrby', store.redis.incrby(store.keys.manualClock, ms)));
}
