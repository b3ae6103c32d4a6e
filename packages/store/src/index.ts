export { createKey, hasKeys, listKeys, readOwnKey } from './api-keys/api-keys.js';
export { Authenticator, KEY_CACHE_MS } from './api-keys/authenticator.js';
export { finishRevocations, removeExpiredKeys, revokeKey } from './api-keys/revoke.js';
export { rotateKey } from './api-keys/rotate.js';
export { ADMIN_KEY_ID, type KeyBucket, type Principal } from './api-keys/secrets.js';
export type { StreamGrant } from './api-keys/stream-token.js';
export { type Act, appendAct, listActs } from './audit/acts.js';
export {
  type AttemptedCallback,
  beginCallback,
  CALLBACK_LEASE_MS,
  type CallbackAttempt,
  type CallbackOutcome,
  type NoAttempt,
  recordCallback,
} from './callbacks/attempt.js';
export { type PendingCallback, type Relayed, redeliverCallback, relayCallbacks } from './callbacks/outbox.js';
export { createStore } from './create-store.js';
export { type ClockReading, markStep, reopenWindows, stepBetween } from './deadlines/clock-steps.js';
export { createClockWatch } from './deadlines/clock-watch.js';
export { type Due, findDue } from './deadlines/due.js';
export { type Expired, expireDue } from './deadlines/expire.js';
export { type Promoted, promoteDue } from './deadlines/promote.js';
export { countedBy, SpaceHistoryCounter } from './history/counter.js';
export { flushHistory, isOutage } from './history/flush.js';
export { getHistory } from './history/read.js';
export * from './jobs/attempt/attempt.js';
export { claimJob, type Polled, pollJobs } from './jobs/claim/claim.js';
export { settleAndPoll } from './jobs/claim/settle-and-poll.js';
export { copyJob } from './jobs/create/copy.js';
export { type Creation, createJob, type PackedJob, packJob } from './jobs/create/create.js';
export { createJobs, type ManyCreated } from './jobs/create/create-many.js';
export { idempotencySecretOf } from './jobs/create/idempotency.js';
export { withSpaceDefaults } from './jobs/create/space-defaults.js';
export { findInputs, matchesText, type Places, placesOf, TEXT_FIELDS } from './jobs/find/filter.js';
export { isSearch, type JobPage, listJobs } from './jobs/find/list.js';
export { deleteJob, killJob, requeueJob, rescheduleJob } from './jobs/manage.js';
export { hasClaimable, readSpaceOf, readStatus } from './jobs/probe.js';
export { getJob, getProgress } from './jobs/read/read.js';
export { readSince, type Since } from './jobs/read/since.js';
export { readSnapshot, type Snapshot } from './jobs/read/snapshot.js';
export { STATE_PARTS, statePartsOf } from './jobs/read/state.js';
export {
  AUDIT_STREAMS,
  type AuditStream,
  newJobId,
  PARTITION_TAGS,
  PARTITIONS,
  partitionOf,
  partitionOfJob,
  presenceChannelOf,
} from './keys.js';
export { FairQueue, PerKey } from './limits/fair-queue.js';
export { appendLogs, type PackedLog, packLog } from './logs/append.js';
export { readLogs } from './logs/read.js';
export { type Change, NO_OBSERVER, REDIS_ERROR_CLASSES, type StoreObserver } from './observer.js';
export { cancelOperation, getOperation, listOperations, startOperation } from './operations/operations.js';
export { nextPartition, type Step, stepOperation } from './operations/step.js';
export { checkFormat, FORMAT, FormatError, markFormat, prepareRedis } from './prepare.js';
export {
  evicts,
  namesOfPrimaries,
  REDIS_FAULTS,
  type RedisFault,
  type RedisSettings,
  readRedisSettings,
  redisFaultsOf,
} from './redis-settings.js';
export { type Fired, fireSchedules } from './schedules/fire.js';
export { dueOf } from './schedules/plan.js';
export { type StoredSchedule, storedScheduleOf, timingOf } from './schedules/record.js';
export {
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  putSchedules,
  runSchedule,
} from './schedules/schedules.js';
export { advanceClock } from './script/manual-clock.js';
export { confirmationOf, isReplicated, runScript, sendCalls, textOn } from './script/run-script.js';
export type { ScriptArgument, VerbCall } from './script/script.js';
export { lua } from './script/scripts.generated.js';
export { type Backlog, type NameQueue, readBacklog } from './spaces/backlog.js';
export { recountBytes } from './spaces/bytes/recount.js';
export { listSpaces } from './spaces/list.js';
export { pauseSpace, readPaused, requeueResumed, resumeSpace } from './spaces/pause/pause.js';
export { type KnownSettings, settingsOfText, storedSettings } from './spaces/settings/known-settings.js';
export { changeSettings, loadSettings, readSettings, refreshSettings } from './spaces/settings/settings.js';
export { countJobs, getStats, NAMES_AT_ONCE, type StatusCounts } from './spaces/stats.js';
export {
  ANY_SPACE,
  type Caller,
  carriedOutWithinMs,
  type SendCall,
  STORE_DEFAULTS,
  type Store,
  type StoreSettings,
  tenantOf,
} from './store.js';
export { isoOf, redisNow } from './time.js';
