import {
  CALLBACK_ENDS,
  LIMITS,
  type Retry,
  type RetryRequest,
  retryOf,
  type Schedule,
  type TerminalStatus,
  type Unique,
  type UniqueRequest,
  uniqueOf,
} from '@yardmaster/protocol';

// How options of docs/api/create.md#fields stand in records and in arguments of scripts: as text that Lua reads without JSON.

/** Write when a job becomes claimable, see timeOf in lua/clock.lua. */
export function delayOf({ scheduledFor, delaySeconds }: Schedule): string {
  if (scheduledFor !== null) return String(scheduledFor);
  return delaySeconds === null ? '' : `+${msOfSeconds(delaySeconds)}`;
}

/** Convert seconds of a request, so that nothing happens early. */
export const msOfSeconds = (seconds: number) => Math.ceil(seconds * 1000);

/** Write the field `retry` of a record: `<delays> <factor> <maxDelaySeconds> <jitter>`. */
export function storedRetryOf({ delaySeconds, factor, maxDelaySeconds, jitter }: RetryRequest): string {
  return `${[delaySeconds].flat().join()} ${factor ?? 1} ${maxDelaySeconds ?? LIMITS.retryDelaySecondsMax} ${jitter}`;
}

/** Return the retry policy of a record as its job shows it; undefined for none, or for a damaged field. */
export function retryOfStored(text: string | null | undefined): Retry | undefined {
  const [, delays, ...numbers] = /^([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+)$/.exec(text ?? '') ?? [];
  if (delays === undefined) return undefined;
  const [factor, longest, jitter] = numbers.map(Number) as [number, number, number];
  return retryOf({ delaySeconds: delays.split(',').map(Number), factor, maxDelaySeconds: longest, jitter });
}

/** Return the ends after which a callback is sent, undefined for the default. */
export function callbackOnOf(ends: TerminalStatus[] | null): TerminalStatus[] | undefined {
  return ends === null || ends.join() === CALLBACK_ENDS.join() ? undefined : ends;
}

// The field `unique` of a record: `<until> <onConflict> <ttlSeconds> <key>`, so that Lua need not parse JSON. It is one
// field and not four, because List Jobs reads it of each job, and an ack of each job that it starts.

/** Write the unique key of a request as its record contains it. */
export function storedUniqueOf({ until, onConflict, ttlSeconds, key }: UniqueRequest): string {
  return `${until} ${onConflict} ${ttlSeconds ?? 0} ${key}`;
}

/** Return the unique key of a record as its job shows it; undefined for none, or for a damaged field. */
export function uniqueOfStored(text: string | null | undefined): Unique | undefined {
  if (!text) return undefined;
  const [, until, onConflict, ttlSeconds, key] = /^(\w+) (\w+) (\d+) (.+)$/s.exec(text) ?? [];
  if (key === undefined) return undefined;
  return uniqueOf({ key, until, onConflict, ttlSeconds: Number(ttlSeconds) || null } as UniqueRequest);
}
