import { isJobId, YardmasterError } from '@yardmaster/protocol';
import type { RedisClient } from '@yardmaster/redis';
import { NO_OBSERVER, type StoreObserver } from './call.js';
import { Tally } from './history/tally.js';
import { type KeyMap, keyMap } from './keys.js';
import { createReadLimiter, type WithReadSlot } from './limits/read-limiter.js';
import { type Place, type SendCall, sendAlone } from './script/verbs.js';
import { KnownSettings } from './spaces/settings/known-settings.js';

/** Reads that may be megabytes long and so need a read slot: this many at once, for each process. */
const READS_AT_ONCE = 4;

/**
 * Searches at once, for each process. They have read slots of their own, so that a read without filters does not wait
 * for them.
 */
const SEARCHES_AT_ONCE = 2;

/** Settings of the store's verbs. */
export interface StoreSettings {
  /** First part of every key. Default `ym`. */
  keyPrefix: string;
  /** How long a delivered job waits for its ack, in milliseconds; 0 for the `timeoutSeconds` of the job. Default 30,000. */
  deliveryTimeoutMs: number;
  /** Delivery timeouts in a row, with no ack in between, that make a job dead. Default 100. */
  maxDeliveries: number;
  /** How long an ended job stays, in milliseconds; 0 keeps it forever. Default 7 days. */
  retentionMs: number;
  /** Records of history kept per job, `created` counted. Default 1,000. */
  eventsPerJob: number;
  /** Log entries kept per job. Default 10,000. */
  logsPerJob: number;
  /** How long Redis may take over one command, in milliseconds. Default 1,500. */
  redisTimeoutMs: number;
}

export const STORE_DEFAULTS: StoreSettings = {
  keyPrefix: 'ym',
  deliveryTimeoutMs: 30_000,
  maxDeliveries: 100,
  retentionMs: 7 * 24 * 3_600_000,
  eventsPerJob: 1_000,
  logsPerJob: 10_000,
  redisTimeoutMs: 1_500,
};

/** Estimates Redis' clock without a call to Redis. */
export interface Clock {
  /**
   * Return the time by Redis' clock so many milliseconds from now, epoch milliseconds; null while that is not known.
   */
  after(inMs: number): number | null;
  /** Report that Redis found a command too late that was in time by this clock. @param earlyMs by how much, at least */
  reportTooLate(earlyMs: number): void;
}

/** A clock that is never known, so that no command has a deadline. */
const NO_CLOCK: Clock = { after: () => null, reportTooLate: () => undefined };

/**
 * A Redis connection, its keys and its settings: first argument of every verb. The verbs are the service layer;
 * those that workers call are one round trip each.
 */
export interface Store {
  redis: RedisClient;
  /** Connection for requests and replies of megabytes: long reads, and logs. No ack waits behind it. */
  bulk: RedisClient;
  /** Sends the calls of verbs, one by one or in groups. Default: one by one. */
  send: SendCall;
  /** Runs a read that may be long when it gets a read slot. */
  withReadSlot: WithReadSlot;
  /** Runs a search when it gets a read slot for searches. */
  withSearchSlot: WithReadSlot;
  keys: KeyMap;
  settings: StoreSettings;
  /**
   * Whether new jobs may be created: false while Redis would evict some. The process' watch of Redis' settings updates
   * it.
   */
  storage: { isSafe: boolean };
  /** The secret of idempotency keys, once it is read. See jobs/create/idempotency.ts. */
  idempotency: { secret: Buffer | null };
  /** The settings of spaces, as this process knows them. The process' watch updates them, see spaces/settings. */
  spaceSettings: KnownSettings;
  observer: StoreObserver;
  /** Counts what this process does to jobs, for the histories of spaces. */
  tally: Tally;
  clock: Clock;
  /** Whether jobs follow a clock that is advanced by hand, see script/manual-clock.ts. */
  isClockManual: boolean;
  /** Draw a number of at least 0 and below 1, for the jitter of retries. */
  random: () => number;
}

/**
 * Create a store on a connection, which the caller opens and closes. The connection must not send commands again,
 * because a script that ran although its reply was lost would run twice.
 *
 * @param bulk a second connection for long reads and logs; the first when left out
 * @param observer observer of the verbs; none when left out
 * @param clock by which calls get a deadline; none when left out
 * @param random for the jitter of retries; that of Node.js when left out
 * @param isClockManual see Store; default false
 */
export function createStore(
  redis: RedisClient,
  settings: Partial<StoreSettings> = {},
  {
    bulk = redis,
    observer = NO_OBSERVER,
    clock = NO_CLOCK,
    random = Math.random,
    isClockManual = false,
  }: Partial<Pick<Store, 'bulk' | 'observer' | 'clock' | 'random' | 'isClockManual'>> = {},
): Store {
  const all = { ...STORE_DEFAULTS, ...settings };
  // This stays below the budget of a request (`redisBudgetMs`), which would give no reason.
  const withinMs = all.redisTimeoutMs + 100;
  return {
    redis,
    bulk,
    send: sendAlone,
    withReadSlot: createReadLimiter(READS_AT_ONCE, withinMs),
    withSearchSlot: createReadLimiter(SEARCHES_AT_ONCE, withinMs),
    keys: keyMap(all.keyPrefix),
    settings: all,
    storage: { isSafe: true },
    idempotency: { secret: null },
    spaceSettings: new KnownSettings(),
    observer,
    tally: new Tally(),
    clock: isClockManual ? NO_CLOCK : clock,
    isClockManual,
    random,
  };
}

/** Share of the timeout of a command in which it may be carried out; the rest is left for the reply. */
const CARRIED_OUT_WITHIN = 0.8;

/** Return how long a command that must not be late may wait in Redis, in milliseconds. */
export const carriedOutWithinMs = ({ settings }: Store) => CARRIED_OUT_WITHIN * settings.redisTimeoutMs;

/**
 * Return the latest time by Redis' clock at which a command that is sent now may be carried out. After that time, its
 * caller has an error which means that nothing was done. Epoch milliseconds, or '' for no limit, when Redis' clock is
 * not known.
 */
export function notAfterOf(store: Store): number | '' {
  const at = store.clock.after(carriedOutWithinMs(store));
  return at === null ? '' : Math.floor(at);
}

/** Return the store with its calls on the bulk connection. */
export const onBulk = (store: Store): Store => ({ ...store, redis: store.bulk, send: sendAlone });

/** The caller of a verb on a job, as far as verbs need it. */
export interface Caller {
  /** The one space this caller may touch; null for every space. */
  spaceId: string | null;
  /** Id of its API key, if it has one: read slots and Redis' time are shared between keys. */
  keyId?: string | null;
}

/** Return the owner for which a read waits for its slot. */
export const ownerOf = ({ keyId }: Caller): string => keyId ?? '';

/** A caller that may touch every space: the service itself, and keys that are bound to none. */
export const ANY_SPACE: Caller = { spaceId: null };

/**
 * Return the place of a verb on one job.
 *
 * @throws JOB_NOT_FOUND for a text that no job can have as its id
 */
export function placeOfJob(store: Store, { spaceId }: Caller, jobId: string): Place {
  if (!isJobId(jobId)) throw new YardmasterError('JOB_NOT_FOUND');
  return { base: store.keys.baseOfJob(jobId), space: spaceId ?? '' };
}

/** Return the inputs of a script on one job. @throws as placeOfJob */
export function inputsForJob(store: Store, caller: Caller, jobId: string) {
  const { base, space } = placeOfJob(store, caller, jobId);
  return { keys: { base }, args: { jobId, space } };
}
