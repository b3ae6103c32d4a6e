import { isJobId, YardmasterError } from '@yardmaster/protocol';
import type { RedisClient, ReplicatedConnections } from '@yardmaster/redis';
import type { KeyMap } from './keys.js';
import type { WithReadSlot } from './limits/read-limiter.js';
import type { StoreObserver } from './observer.js';
import type { Place, VerbCall } from './script/script.js';
import type { KnownSettings } from './spaces/settings/known-settings.js';

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
  /** Bytes of Redis' memory that the history of a job may take. Default 8 MB. */
  eventBytesPerJob: number;
  /** Log entries kept per job. Default 10,000. */
  logsPerJob: number;
  /** API keys of one space. Default 1,000. */
  keysPerSpace: number;
  /** Bytes of Redis' memory that the logs of a job may take. Default 32 MB. */
  logBytesPerJob: number;
  /** How long Redis may take over one command, in milliseconds. Default 1,500. */
  redisTimeoutMs: number;
  /** Whether jobs follow a clock that is advanced by hand, see script/manual-clock.ts. Default false. */
  isClockManual: boolean;
  /** Draw a number of at least 0 and below 1, for the jitter of retries. Default `Math.random`. */
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
  logBytesPerJob: 32 * 1_048_576,
  redisTimeoutMs: 1_500,
  isClockManual: false,
  random: Math.random,
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

/** What a process knows without asking Redis. Copies of a store share it. */
export interface Known {
  clock: Clock;
  /** The settings of spaces. The process' watch updates them, see spaces/settings. */
  spaces: KnownSettings;
  /**
   * Whether new jobs may be created: false while Redis would evict some. The process' watch of Redis' settings updates
   * it.
   */
  isStorageSafe: boolean;
  /** The secret of idempotency keys, once it is read. See jobs/create/idempotency.ts. */
  idempotencySecret: Buffer | null;
}

/**
 * A Redis connection, its keys and its settings: first argument of every verb. The verbs are the service layer;
 * those that workers call are one round trip each.
 */
export interface Store {
  redis: RedisClient;
  /** Connection for requests and replies of megabytes: long reads, and logs. No ack waits behind it. */
  bulk: RedisClient;
  /** Connections for calls whose effect a replica must have before they return; null when no replica is waited for. */
  replicated: ReplicatedConnections | null;
  /** Confirmations of such calls, for which the caller of the verbs waits; null when each verb waits for its own. */
  unconfirmed: Promise<void>[] | null;
  /** Sends the calls of verbs, one by one or in groups. */
  send: SendCall;
  /** Runs a read that may be long when it gets a read slot, and a search when it gets one of its own. */
  slots: { read: WithReadSlot; search: WithReadSlot };
  keys: KeyMap;
  settings: StoreSettings;
  known: Known;
  observer: StoreObserver;
}

/** Sends a call, and returns the reply of each verb, which may be that of an error. @throws as evaluate */
export type SendCall = (store: Store, call: VerbCall) => Promise<readonly unknown[][]>;

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
  const at = store.known.clock.after(carriedOutWithinMs(store));
  return at === null ? '' : Math.floor(at);
}

/** The caller of a verb on a job, as far as verbs need it. */
export interface Caller {
  /** The one space this caller may touch; null for every space. */
  spaceId: string | null;
  /** Id of its API key, if it has one. */
  keyId?: string | null;
}

/**
 * Return the tenant that a call counts for: the space of its key. Turns, places and bytes are shared between tenants,
 * because one tenant can make any number of keys. A key for every space counts for the space in the path, or else for
 * itself.
 *
 * @param pathSpace '' when the path has none
 */
export function tenantOf({ spaceId, keyId }: Caller, pathSpace = ''): string {
  const space = spaceId ?? pathSpace;
  return space === '' ? `key ${keyId ?? ''}` : space; // No space id has a blank.
}

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
