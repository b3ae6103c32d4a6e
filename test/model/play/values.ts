import {
  type CreateJobRequest,
  createJobRequest,
  type FailRequest,
  type JsonValue,
  type NewLog,
  type RescheduleRequest,
} from '@yardmaster/protocol';
import type { CallbackOutcome, Heartbeat } from '@yardmaster/store';
import type { Random } from '../../support/random.js';
import { NO_BYTES } from '../history.js';
import { iso, type WorldSettings } from '../world.js';

// What callers send: few values, so that they coincide, and values that a careless script would corrupt.

/** The first two are of one partition. */
export const SPACES = ['s1', 's41', 's2'];

export const NAMES = ['build', 'build:arm', 'say "ü"\n\\'];

/** The second is part of the first. */
export const TAGS = ['eu-west', 'eu', 'say "ü"/'];

export const HOOK = 'https://example.com/hook';

const JSON_VALUES: JsonValue[] = [null, [], {}, 0, 1e21, 'te"xt', '', false, { a: [{}], ü: null }, 2 ** 53];

export const jsonOf = (random: Random) => random.of(JSON_VALUES);

const USUAL = {
  ...{ deliveryTimeoutMs: 30_000, maxDeliveries: 2, retentionMs: 3_600_000 },
  ...{ eventsPerJob: 1_000, eventBytesPerJob: 8 * 1_048_576, logsPerJob: 10_000, logBytesPerJob: 32 * 1_048_576 },
  schedulesPerSpace: 1_000,
  redisTimeoutMs: 60_000, // A busy machine may take its time over a long read.
};
/** Few, because each has scripts of its own. With the smallest `eventsPerJob`, the oldest events are dropped soon. */
const SETTINGS = [
  { ...USUAL, logsPerJob: 7 },
  { ...USUAL, deliveryTimeoutMs: 3_000, maxDeliveries: 1, retentionMs: 90_000, logBytesPerJob: NO_BYTES },
  { ...USUAL, maxDeliveries: 100, retentionMs: 0, eventsPerJob: 12, logsPerJob: 1 },
  { ...USUAL, deliveryTimeoutMs: 3_000, retentionMs: 90_000, eventsPerJob: 10, logsPerJob: 7 },
  { ...USUAL, retentionMs: 90_000, eventBytesPerJob: NO_BYTES },
];

export const settingsOf = (random: Random): Omit<WorldSettings, 'keyPrefix'> => random.of(SETTINGS);

/** @param options further fields of the body */
export function requestOf(random: Random, options: object = {}): CreateJobRequest {
  const hook = random.chance(0.75);
  return createJobRequest.parse({
    name: random.of(NAMES),
    payload: random.of([null, {}, { list: [], n: 1.5 }]),
    maxRetries: random.of([0, 0, 1, 1, 2, 3]),
    timeoutSeconds: random.of([0.0015, 20, 60.5, 300]),
    callbackUrl: hook ? HOOK : null,
    callbackHeaders: hook && random.chance(0.3) ? { 'X-Token': 't"t' } : null,
    ...options,
  });
}

/** Seconds, as delays, limits and windows. A half of a millisecond shows how they are rounded. */
export const DELAYS = [0, 0.0015, 1, 20, 60];

/** Head starts in seconds. Those of a second make jobs equal that were queued a second apart. */
const PRIORITIES = [0, 0, -1, 1, 600];

const ENDS = ['completed', 'dead', 'killed'];

/** Draw options that any create can store, as a body has them. */
export function plainOptionsOf(random: Random) {
  const isList = random.chance(0.3);
  const retry = {
    delaySeconds: isList ? random.of([[1], [1, 20], [0, 60, 0.0015]]) : random.of(DELAYS),
    factor: isList ? null : random.of([null, 1, 1.5, 10]),
    maxDelaySeconds: random.of([null, null, 1, 21.5, 604_800]),
    jitter: random.of([0.2, 0, 1]),
  };
  return {
    retry: random.chance(0.5) ? retry : null,
    // Shorter and longer than the execution window, in which the first heartbeat comes before the end of the attempt.
    timeoutSeconds: random.of([0.0015, 20, 60.5, 60.5, 300]),
    maxRunSeconds: random.chance(0.5) ? random.of([0.0015, 10, 20, 90, 400]) : null,
    callbackOn: random.chance(0.4) ? random.of([ENDS, ENDS.slice(0, 2), ENDS.slice(1), ENDS.slice(2)]) : null,
  };
}

/** Times at which the date is hard to compute. */
const FAR = ['2028-02-29T23:59:59.999Z', '2100-03-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];

/** Draw a time in the past, now, soon, or far away, or a delay. */
function scheduleOf(random: Random, now: number) {
  if (random.chance(0.5)) return { delaySeconds: random.of(DELAYS) };
  const soon = iso(now + random.of([-60_000, 0, 1, 1_000, 60_000]));
  return { scheduledFor: random.chance(0.8) ? soon : random.of(FAR) };
}

/** Draw options that decide where and until when a job waits, as a body has them. */
export const waitingOptionsOf = (random: Random, now: number) => ({
  tags: random.chance(0.5) ? TAGS.filter(() => random.chance(0.6)) : null,
  ...(random.chance(0.5) && scheduleOf(random, now)),
  startWithinSeconds: random.chance(0.7) ? random.of([0.0015, 1, 20, 60, 4_000]) : null,
  priority: random.of(PRIORITIES),
});

export function newTimeOf(random: Random, now: number): RescheduleRequest {
  const { scheduledFor = null, delaySeconds = null } = scheduleOf(random, now) as {
    scheduledFor?: string;
    delaySeconds?: number;
  };
  const priority = random.of([null, null, ...PRIORITIES]);
  return { scheduledFor: scheduledFor === null ? null : Date.parse(scheduledFor), delaySeconds, priority };
}

export const failureOf = (random: Random, isTimed: boolean): Omit<FailRequest, 'error'> => ({
  retryable: !isTimed || random.chance(0.85),
  retryAfterSeconds: isTimed && random.chance(0.25) ? random.of(DELAYS) : null,
});

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
  const kind = random.of(['progress', 'checkpoint', 'event', 'ephemeral', 'keepalive'] as const);
  if (kind === 'keepalive') return { kind };
  if (kind !== 'progress') return { kind, data: jsonOf(random) };
  return { kind, data: { percent: random.between(0, 1_000) / 10, message: random.of(['on', 'ö "']) } };
}

export function outcomeOf(random: Random): CallbackOutcome & { retryMs: number | null } {
  const retryMs = random.of([null, 5_000, 30_000]);
  const attempt = random.between(1, 3);
  const of = { url: HOOK, attempt, retryAttempt: attempt - 1, willRetry: retryMs !== null };
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
