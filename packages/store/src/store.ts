import { isJobId, YardmasterError } from '@yardmaster/protocol';
import type { RedisClient, ReplicatedConnections } from '@yardmaster/redis';
import type { KeyMap } from './keys.js';
import type { WithReadSlot } from './limits/read-limiter.js';
import type { StoreObserver } from './observer.js';
import type { Place, VerbCall } from './script/script.js';
import type { KnownSettings } from './spaces/settings/known-settings.js';

/** Settings of the store's verbs. */
export interface StoreSettings {
  /** Prefix of every key. Default `ym`. */
  keyPrefix: string;
  /** Delivery window, in milliseconds; 0 to use the `timeoutSeconds` of the job. Default 30,000. */
  deliveryTimeoutMs: number;
  /** Number of consecutive delivery timeouts after which a job is dead. Default 100. */
  maxDeliveries: number;
  /** How long an ended job is kept, in milliseconds; 0 keeps it forever. Default 7 days. */
  retentionMs: number;
  /** Events kept per job, including `created`. Default 1,000. */
  eventsPerJob: number;
  /** Maximum memory of a job's history, in bytes. Default 8 MB. */
  eventBytesPerJob: number;
  /** Log entries kept per job. Default 10,000. */
  logsPerJob: number;
  /** Maximum number of API keys in a space. Default 1,000. */
  keysPerSpace: number;
  /** Maximum number of schedules in a space. Default 1,000. */
  schedulesPerSpace: number;
  /** Maximum memory of a job's logs, in bytes. Default 32 MB. */
  logBytesPerJob: number;
  /** Timeout of a Redis command, in milliseconds. Default 1,500. */
  redisTimeoutMs: number;
  /** Whether jobs follow a manual clock; see script/manual-clock.ts. Default false. */
  isClockManual: boolean;
  /** Random number of at least 0 and less than 1, for the jitter of retries. Default `Math.random`. */
  random: () => number;
}

export const STORE_DEFAULTS: StoreSettings = {
  keyPrefix: 'ym',
  deliveryTimeoutMs: 30_000,
  maxDeliveries: 100,
  retentionMs: 7 * 24 * 3_600_000,
  eventsPerJob: 1_000,
  eventBytesPerJob: 8 * 1_048_576,
  logsPerJob: 10_000,
  keysPerSpace: 1_000,
  schedulesPerSpace: 1_000,
  logBytesPerJob: 32 * 1_048_576,
  redisTimeoutMs: 1_500,
  isClockManual: false,
  random: Math.random,
};

/** An estimate of the clock of Redis that needs no call to Redis. */
export interface Clock {
  /**
   * Estimate what the clock of Redis will show in `inMs` milliseconds, epoch milliseconds; null while unknown.
   */
  after(inMs: number): number | null;
  /** Report that Redis considered a command late that was in time by this estimate. @param earlyMs minimum error */
  reportTooLate(earlyMs: number): void;
}

/** What a process knows without asking Redis. Copies of a store share this object. */
export interface Known {
  clock: Clock;
  /** Settings of all spaces, updated by the watch of the process; see spaces/settings. */
  spaces: KnownSettings;
  /**
   * Whether jobs can be created: false while Redis could evict them. Updated by the process's watch of Redis settings.
   */
  isStorageSafe: boolean;
  /** Secret for idempotency keys; see jobs/create/idempotency.ts; null until it is read. */
  idempotencySecret: Buffer | null;
}

/**
 * A Redis connection with its keys and settings: the first argument of every verb. The verbs are the service layer;
 * each verb that workers call takes one round trip.
 */
export interface Store {
  redis: RedisClient;
  /** Connection for large requests and replies, such as long reads and logs, so that no ack waits behind them. */
  bulk: RedisClient;
  /** Connections for calls that a replica must confirm before they return; null if none must. */
  replicated: ReplicatedConnections | null;
  /** Confirmations that the caller of the verbs awaits; null when each verb awaits its own. */
  unconfirmed: Promise<void>[] | null;
  /** Sends the calls of verbs, alone or in groups. */
  send: SendCall;
  /** Run work in a read slot: `read` for reads that may be long, `search` for searches. */
  slots: { read: WithReadSlot; search: WithReadSlot };
  keys: KeyMap;
  settings: StoreSettings;
  known: Known;
  observer: StoreObserver;
}

/** Send a call and return the reply of each verb, which may be an error. @throws as evaluate */
export type SendCall = (store: Store, call: VerbCall) => Promise<readonly unknown[][]>;

/** Share of a command's timeout within which Redis must run it; the rest is for the reply. */
const CARRIED_OUT_WITHIN = 0.8;

/** Return how long a command with a deadline can wait in Redis, in milliseconds. */
export const carriedOutWithinMs = ({ settings }: Store) => CARRIED_OUT_WITHIN * settings.redisTimeoutMs;

/**
 * Return the deadline of a command sent now, epoch milliseconds by the clock of Redis; '' for none, while that clock is
 * unknown. After the deadline, the caller gets an error that promises that nothing was done.
 */
export function notAfterOf(store: Store): number | '' {
  const at = store.known.clock.after(carriedOutWithinMs(store));
  return at === null ? '' : Math.floor(at);
}

/** What a verb must know about its caller. */
export interface Caller {
  /** The space that the caller may access; null for every space. */
  spaceId: string | null;
  /** ID of its API key; null or absent without one. */
  keyId?: string | null;
}

/**
 * Return the tenant of a call: the space of its key. Queues and budgets are shared between tenants rather than keys,
 * because a tenant can make any number of keys. A call with a key that isn't bound to a space belongs to the space in its
 * path, or else to the key.
 *
 * @param pathSpace '' when the path has none
 */
export function tenantOf({ spaceId, keyId }: Caller, pathSpace = ''): string {
  const space = spaceId ?? pathSpace;
  return space === '' ? `key ${keyId ?? ''}` : space; // A space ID contains no blank.
}

/** A caller that may access every space. */
export const ANY_SPACE: Caller = { spaceId: null };

/**
 * Return the place of a verb for one job.
 *
 * @throws JOB_NOT_FOUND for a text that cannot be a job ID
 */
export function placeOfJob(store: Store, { spaceId }: Caller, jobId: string): Place {
  if (!isJobId(jobId)) throw new YardmasterError('JOB_NOT_FOUND');
  return { base: store.keys.baseOfJob(jobId), space: spaceId ?? '' };
}

/** Return the inputs of a script for one job. @throws as placeOfJob */
export function inputsForJob(store: Store, caller: Caller, jobId: string) {
  const { base, space } = placeOfJob(store, caller, jobId);
  return { keys: { base }, args: { jobId, space } };
}
