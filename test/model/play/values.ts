import { type CreateJobRequest, createJobRequest, type JsonValue, type NewLog } from '@yardmaster/protocol';
import type { CallbackOutcome, Heartbeat, StoreSettings } from '@yardmaster/store';
import type { Random } from '../../support/random.js';

// What callers send: few values, so that they coincide, and values that a careless script would corrupt.

/** The first two are of one partition. */
export const SPACES = ['s1', 's41', 's2'];

export const NAMES = ['build', 'build:arm', 'say "ü"\n\\'];

export const HOOK = 'https://example.com/hook';

const JSON_VALUES: JsonValue[] = [null, [], {}, 0, 1e21, 'te"xt', '', false, { a: [{}], ü: null }, 2 ** 53];

export const jsonOf = (random: Random) => random.of(JSON_VALUES);

export function settingsOf(random: Random): Omit<StoreSettings, 'keyPrefix'> {
  return {
    deliveryTimeoutMs: random.of([30_000, 3_000]),
    maxDeliveries: random.of([1, 2, 2, 100]),
    retentionMs: random.of([0, 90_000, 3_600_000]),
    // The smallest is the smallest setting that is allowed: the oldest events are dropped soon.
    eventsPerJob: random.of([10, 12, 1_000]),
    logsPerJob: random.of([1, 7, 10_000]),
    // A busy machine may take its time over a long read.
    redisTimeoutMs: 60_000,
  };
}

export function requestOf(random: Random): CreateJobRequest {
  const hook = random.chance(0.75);
  return createJobRequest.parse({
    name: random.of(NAMES),
    payload: random.of([null, {}, { list: [], n: 1.5 }]),
    maxRetries: random.of([0, 0, 1, 1, 2, 3]),
    timeoutSeconds: random.of([0.0015, 20, 60.5, 300]),
    callbackUrl: hook ? HOOK : null,
    callbackHeaders: hook && random.chance(0.3) ? { 'X-Token': 't"t' } : null,
  });
}

export function uniqueOf(random: Random): NonNullable<CreateJobRequest['unique']> {
  const until = random.of(['ended', 'started', 'expired'] as const);
  const onConflict = random.of(['return', 'reject', 'replace'] as const);
  return {
    key: random.of(['a', 'ended b\n']),
    until,
    onConflict,
    ttlSeconds: until === 'expired' ? random.of([1, 40]) : null,
  };
}

export function beatOf(random: Random): Heartbeat {
  const kind = random.of(['progress', 'checkpoint', 'event', 'keepalive'] as const);
  if (kind === 'keepalive') return { kind };
  if (kind !== 'progress') return { kind, data: jsonOf(random) };
  return { kind, data: { percent: random.between(0, 1_000) / 10, message: random.of(['on', 'ö "']) } };
}

export function outcomeOf(random: Random): CallbackOutcome & { retryMs: number | null } {
  const retryMs = random.of([null, 5_000, 30_000]);
  const of = { url: HOOK, attempt: random.between(1, 3), willRetry: retryMs !== null };
  return random.chance(0.5)
    ? { type: 'callback_sent', data: { ...of, statusCode: random.of([200, 503]) }, retryMs }
    : { type: 'callback_failed', data: { ...of, error: 'refused' }, retryMs };
}

export function logsOf(random: Random): NewLog[] {
  return Array.from({ length: random.between(1, 4) }, () => ({
    message: random.of(['begun', 'disk is FULL', 'half "way"', '']),
    ...(random.chance(0.5) && { level: random.of(['debug', 'warn', 'error'] as const) }),
    ...(random.chance(0.3) && { timestamp: 1_700_000_000_000 }),
    ...(random.chance(0.3) && { source: random.of(['worker', 'compiler']) }),
    ...(random.chance(0.3) && { metadata: random.of([{}, { line: 7, at: [] }]) }),
  }));
}
