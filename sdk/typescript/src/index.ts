export type { StreamMessage, WatchOptions } from './client/follow.js';
export { JobHandle } from './client/job-handle.js';
export {
  OperationHandle,
  type OperationOptions,
  type Operations,
} from './client/operations.js';
export type { CallOptions, CreateOptions, GetOptions, NewJob, YardmasterOptions } from './client/options.js';
export type { Schedules } from './client/schedules.js';
export { type ListOptions, type WatchSpaceOptions, Yardmaster } from './client/yardmaster.js';
export type { Duration } from './durations.js';
export type { ErrorObject } from './error-text.js';
export {
  Aborted,
  DeliveryLost,
  Draining,
  Killed,
  NonRetryable,
  RetryAfter,
  type SdkErrorCode,
  TimedOut,
  YardmasterError,
} from './errors.js';
export type { AnyJobs, JobType, JobTypes } from './job-types.js';
export type * as wire from './wire.generated.js';
export type { Context, EventOptions, Log, Released, SubProgress, WorkerJob } from './worker/context.js';
export type { LogEntry } from './worker/job-log.js';
export { type OnLog, type PinoLogger, toPino } from './worker/pino.js';
export type { StandardSchema } from './worker/schema.js';
export type { OnWarning, Warning, WarningKind } from './worker/warnings.js';
export { type Handler, Worker, type WorkerOptions } from './worker/worker.js';
