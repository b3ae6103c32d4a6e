import {
  CALLBACK_ENDS,
  LIMITS,
  type Retry,
  type RetryRequest,
  retryOf,
  type StartTime,
  type TerminalStatus,
  type Unique,
  type UniqueRequest,
  uniqueOf,
} from '@yardmaster/protocol';

// The options of a create, as records and script arguments contain them: text that Lua reads without parsing JSON.

/** Format when a job becomes claimable; see timeOf in lua/clock.lua. */
export function delayOf({ scheduledFor, delaySeconds }: StartTime): string {
  if (scheduledFor !== null) return String(scheduledFor);
  return delaySeconds === null ? '' : `+${msOfSeconds(delaySeconds)}`;
}

/** Convert seconds of a request to milliseconds, rounded up so that nothing happens early. */
export const msOfSeconds = (seconds: number) => Math.ceil(seconds * 1000);

/** Format the field `retry` of a record: `<delays> <factor> <maxDelaySeconds> <jitter>`. */
export function storedRetryOf({ delaySeconds, factor, maxDelaySeconds, jitter }: RetryRequest): string {
  return `${[delaySeconds].flat().join()} ${factor ?? 1} ${maxDelaySeconds ?? LIMITS.retryDelaySecondsMax} ${jitter}`;
}

/** Parse the field `retry` of a record; undefined for none, or for a damaged field. */
export function retryOfStored(text: string | null | undefined): Retry | undefined {
  const [, delays, ...numbers] = /^([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+)$/.exec(text ?? '') ?? [];
  if (delays === undefined) return undefined;
  const [factor, longest, jitter] = numbers.map(Number) as [number, number, number];
  return retryOf({ delaySeconds: delays.split(',').map(Number), factor, maxDelaySeconds: longest, jitter });
}

/** Return the statuses that trigger a callback; undefined for the default. */
export function callbackOnOf(ends: TerminalStatus[] | null): TerminalStatus[] | undefined {
  return ends === null || ends.join() === CALLBACK_ENDS.join() ? undefined : ends;
}

// The unique key is one field of a record and not four, because List Jobs reads it for each job, and so does each ack.

/** Format the field `unique` of a record: `<until> <onConflict> <ttlSeconds> <key>`. */
export function storedUniqueOf({ until, onConflict, ttlSeconds, key }: UniqueRequest): string {
  return `${until} ${onConflict} ${ttlSeconds ?? 0} ${key}`;
}

/** Parse the field `unique` of a record; undefined for none, or for a damaged field. */
export function uniqueOfStored(text: string | null | undefined): Unique | undefined {
  if (!text) return undefined;
  const [, until, onConflict, ttlSeconds, key] = /^(\w+) (\w+) (\d+) (.+)$/s.exec(text) ?? [];
  if (key === undefined) return undefined;
  return uniqueOf({ key, until, onConflict, ttlSeconds: Number(ttlSeconds) || null } as UniqueRequest);
}
