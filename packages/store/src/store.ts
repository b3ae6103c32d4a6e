import { Cluster, type Redis } from 'ioredis';
import { type KeyMap, keyMap } from './keys.js';
import { NOBODY, type StoreObserver } from './observer.js';
import { type InTurn, turns } from './turns.js';

/** Reads that may be megabytes long and so take turns: this many at once, for each process. */
const READS_AT_ONCE = 4;

/** Searches take turns of their own, so that nobody who knows what to read waits for those who do not. */
const SEARCHES_AT_ONCE = 2;

/** What the store's verbs need of their surroundings. */
export interface StoreSettings {
  /** First part of every key. Default `ym`. */
  keyPrefix: string;
  /** How long a delivered job waits for its ack, in milliseconds. Default 30 000. */
  deliveryTimeoutMs: number;
  /** Delivery time-outs in a row, with no ack in between, that make a job dead. Default 100. */
  maxDeliveries: number;
  /** How long an ended job stays, in milliseconds; 0 keeps it for ever. Default 7 days. */
  retentionMs: number;
  /** Records of history kept per job, `created` counted. Default 1 000. */
  eventsPerJob: number;
  /** Log entries kept per job. Default 10 000. */
  logsPerJob: number;
  /** How long Redis may take over one command, in milliseconds. Default 1 500. */
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

/** Tells Redis' clock without asking it. */
export interface Clock {
  /** When it will be so many milliseconds later, epoch milliseconds; null while that is not known. */
  after(inMs: number): number | null;
  /** Hear that Redis found a command too late that was not, by this clock. @param earlyMs by how much at least */
  doubt(earlyMs: number): void;
}

/** Knows nothing of Redis' clock: then no command has a deadline. */
const NO_CLOCK: Clock = { after: () => null, doubt: () => undefined };

/** One Redis, or a cluster of them. */
export type RedisClient = Redis | Cluster;

/** Every Redis that holds jobs: to be checked at start, or searched through. */
export const primariesOf = (redis: RedisClient): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

/**
 * A Redis connection, its keys and its settings: first argument of every verb. The verbs are the service layer;
 * those that workers call are one round trip each.
 */
export interface Store {
  redis: RedisClient;
  /** Connection for what may be megabytes long, either way: long reads, and logs. What waits behind it is no ack. */
  bulk: RedisClient;
  /** Runs a read that may be long when its turn has come. */
  inTurn: InTurn;
  /** The same for searches. */
  inSearchTurn: InTurn;
  keys: KeyMap;
  settings: StoreSettings;
  /** Whether new jobs may be created: false while Redis would evict some. Kept by the process' watch of Redis' settings. */
  storage: { isSafe: boolean };
  observer: StoreObserver;
  clock: Clock;
}

/**
 * Put a store on a connection. The connection stays the caller's to open and close.
 *
 * @param bulk a second connection for long reads and logs; the first when left out
 * @param observer told of what the verbs do; nobody when left out
 * @param clock by which calls get a deadline; none when left out
 *
 * It must not resend: a script that ran although its reply was lost would run twice.
 */
export function createStore(
  redis: RedisClient,
  settings: Partial<StoreSettings> = {},
  { bulk = redis, observer = NOBODY, clock = NO_CLOCK }: Partial<Pick<Store, 'bulk' | 'observer' | 'clock'>> = {},
): Store {
  const all = { ...STORE_DEFAULTS, ...settings };
  // Below the budget of a request (`redisBudgetMs`), which would give no reason.
  const patienceMs = all.redisTimeoutMs + 100;
  return {
    redis,
    bulk,
    inTurn: turns(READS_AT_ONCE, patienceMs),
    inSearchTurn: turns(SEARCHES_AT_ONCE, patienceMs),
    keys: keyMap(all.keyPrefix),
    settings: all,
    storage: { isSafe: true },
    observer,
    clock,
  };
}

/** The part of the time-out of a command in which it may be carried out; the reply has the rest. */
const CARRIED_OUT_WITHIN = 0.8;

/** How long a command that must not be late may wait in Redis, milliseconds. */
export const carriedOutWithinMs = ({ settings }: Store) => CARRIED_OUT_WITHIN * settings.redisTimeoutMs;

/**
 * The latest time by Redis' clock at which a command that is sent now may be carried out, because its caller is told after
 * that that nothing was done. Epoch milliseconds, or '' for no limit: Redis' clock is not known.
 */
export const deadlineOf = (store: Store): number | '' => store.clock.after(carriedOutWithinMs(store)) ?? '';

/** The same store, whose calls go over the connection for what may be long. */
export const onBulk = (store: Store): Store => ({ ...store, redis: store.bulk });

/**
 * Who calls a verb on a job, as far as the job cares.
 */
export interface Caller {
  /** The one space this caller may touch; null for every space. */
  spaceId: string | null;
  /** Id of its API key, if it has one: callers share long reads and Redis' time by their keys. */
  keyId?: string | null;
}

/** As whose a read takes its turn. */
export const ownerOf = ({ keyId }: Caller): string => keyId ?? '';

/** A caller that may touch every space: the service itself, and keys that are bound to none. */
export const ANY_SPACE: Caller = { spaceId: null };
