export { createKey, hasKeys, listKeys, removeExpiredKeys, revokeKey } from './api-keys.js';
export { appendLogs } from './append-logs.js';
export * from './attempt.js';
export { Authenticator, type AuthenticatorOptions, KEY_BELIEVED_MS } from './authenticator.js';
export { type Backlog, readBacklog, type SpaceBacklog } from './backlog.js';
export {
  beginCallback,
  CALLBACK_LEASE_MS,
  type CallbackAttempt,
  type CallbackOutcome,
  callbackUrlOf,
  type NoAttempt,
  recordCallback,
} from './callback-attempt.js';
export { type PendingCallback, type Relayed, redeliverCallback, relayCallbacks } from './callbacks.js';
export * from './claim.js';
export { type ClockLook, stepBetween } from './clock-looks.js';
export { markStep, restoreDeadlines } from './clock-steps.js';
export { type ClockWatch, createClockWatch, type Followed } from './clock-watch.js';
export { createJob } from './create.js';
export { type Due, findDue } from './due.js';
export { type Expired, expireDue } from './expire.js';
export { FairQueue } from './fair-queue.js';
export { FORMAT, FormatError, isInUse, raiseFormat, readFormat } from './format.js';
export { FAULTS, type Fault, type FaultKind, type Repair } from './fsck/faults.js';
export { FsckError, type FsckOptions, type FsckProgress, fsck } from './fsck/fsck.js';
export { type KeyMap, keyMap } from './keys.js';
export { killJob } from './kill.js';
export { type PackedLog, packLog } from './logs.js';
export {
  NO_OBSERVER,
  REDIS_ERROR_CLASSES,
  type RedisErrorClass,
  type StatusOrNone,
  type StoreObserver,
} from './observer.js';
export { isJobId, newJobId, PARTITION_TAGS, PARTITIONS, partitionOf } from './partition.js';
export { prepareRedis } from './prepare.js';
export type { Principal } from './principal.js';
export { getJob, getProgress, listJobs } from './read.js';
export { readLogs } from './read-logs.js';
export {
  evicts,
  namesOfPrimaries,
  REDIS_FAULTS,
  type RedisFault,
  type RedisSettings,
  readRedisSettings,
  redisFaultsOf,
} from './redis-settings.js';
export { readSince, type Since } from './since.js';
export { readSnapshot, type Snapshot } from './snapshot.js';
export { getStats } from './stats.js';
export {
  ANY_SPACE,
  type Caller,
  carriedOutWithinMs,
  createStore,
  primariesOf,
  type RedisClient,
  STORE_DEFAULTS,
  type Store,
  type StoreSettings,
} from './store.js';
export { ClusterSubscriptions } from './subscriptions/cluster.js';
export { ConnectionSubscriptions } from './subscriptions/connection.js';
export type { Listener, Subscriptions } from './subscriptions/subscriptions.js';
export { isoOf, redisNow } from './time.js';
