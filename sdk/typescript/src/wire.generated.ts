// Types of the requests and responses of Yardmaster, made by scripts/sdk/wire.mjs. Do not edit.

export interface AckOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'ack';
}

export interface AppendedLogs {
  /** Always true */
  success: boolean;
  inserted: number;
  /** Seq of the first entry of the batch */
  fromSeq: number;
  /** Seq of its last entry */
  toSeq: number;
}

export interface CheckpointOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'checkpoint';
  /** Any JSON value. Default: `null` */
  data?: unknown;
}

export interface ClaimedJob {
  /** 28 characters; not guessable */
  id: string;
  name: string;
  payload: Record<string, unknown> | null;
  /** Execution window: how long an attempt may take between two heartbeats */
  timeoutSeconds: number;
  maxRetries: number;
  /** Attempts before this one */
  attemptNumber: number;
  createdAt: Timestamp;
  /** Data of the latest checkpoint of any earlier attempt, or null */
  checkpoint: unknown;
  /** Number of the attempt that an ack starts, from 1 */
  attempt: number;
  /** Opaque; sent back as `x-delivery-token`, it makes calls of a worker that lost the job change nothing */
  deliveryToken: string;
}

export interface CompleteOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'complete';
  /** Any JSON value. Default: `null` */
  result?: unknown;
}

export interface Copy {
  /** Another payload; default that of the job */
  payload?: Record<string, unknown> | null;
}

export interface CreateJob {
  /** Well-formed Unicode */
  name: string;
  /** Data for the worker. Default: `null` */
  payload?: Record<string, unknown> | null;
  /** Attempts after the first; each failure or timeout of an attempt uses one. Default: `3` */
  maxRetries?: number | null;
  /** Execution window: how long an attempt may take between two heartbeats. Default: `300` */
  timeoutSeconds?: number | null;
  /** Default: `null` */
  callbackUrl?: string | null;
  /** Default: `null` */
  callbackHeaders?: Record<string, string> | null;
  /** Default: `null` */
  callbackOn?: CreateJobCallbackOn[] | null;
  /** Default: `null` */
  unique?: UniqueRequest | null;
  /** Words by which jobs are found; no tag twice. Default: `null` */
  tags?: string[] | null;
  /** Not before this time, ISO 8601 with a time zone; a time in the past means now. Default: `null` */
  scheduledFor?: string | null;
  /** The same, in seconds from now; not together with `scheduledFor`. Default: `null` */
  delaySeconds?: number | null;
  /** Default: `null` */
  retry?: RetryRequest | null;
  /** How long one attempt may take; heartbeats do not extend it. Default: `null` */
  maxRunSeconds?: number | null;
  /**
   * How long the job may wait for its first ack, from the moment it can be claimed; then it is dead.
   * Default: `null`
   */
  startWithinSeconds?: number | null;
  /**
   * Head start in seconds: the job stands in the queue as if it had been created so much earlier.
   * Default: `0`
   */
  priority?: number | null;
}

export type CreateJobCallbackOn = 'completed' | 'dead' | 'killed';

export interface ErrorBody {
  /** Message for people */
  error: string;
  /** Code for programs */
  code: ErrorCode;
  /** Status the job has now; on every 409 */
  jobStatus?: JobStatus;
  /** What happened before, when that is known; on a 409 of an ack */
  hint?: string;
  /** Job that has the unique key; only with `JOB_NOT_UNIQUE` */
  jobId?: string;
  /** Jobs of a list that were created or found before it was refused; absent for 0 */
  stored?: number;
  /** Only when several fields are wrong, or a field of a job in a list */
  details?: FaultDetail[];
}

export type ErrorCode = 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'JOB_NOT_FOUND' | 'KEY_NOT_FOUND' | 'OPERATION_NOT_FOUND' | 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'JOB_NOT_PENDING' | 'JOB_NOT_DELIVERED' | 'JOB_NOT_RUNNING' | 'DELIVERY_LOST' | 'JOB_KILLED' | 'JOB_ENDED' | 'JOB_NOT_DEAD' | 'JOB_NOT_ENDED' | 'NO_CALLBACK' | 'JOB_NOT_UNIQUE' | 'TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'IDEMPOTENCY_MISMATCH' | 'UPGRADE_REQUIRED' | 'TOO_MANY_STREAMS' | 'SPACE_FULL' | 'TOO_MANY_WAITERS' | 'TOO_MANY_KEYS' | 'TOO_MANY_OPERATIONS' | 'RATE_LIMITED' | 'INTERNAL' | 'UNAVAILABLE' | 'OVERLOADED' | 'STORAGE_FULL' | 'STORAGE_UNSAFE';

export interface EventOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'event';
  /** Any JSON value. Default: `null` */
  data?: unknown;
}

export interface FailOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'fail';
  /** Reason of the failure, for people or for programs */
  error: string | Record<string, unknown>;
  /** false ends the job: it is dead, whatever retries it has left. Default: `true` */
  retryable?: boolean | null;
  /** Delay before the next attempt, instead of that of `retry`. Default: `null` */
  retryAfterSeconds?: number | null;
}

export interface FaultDetail {
  /** Path into the request, e.g. `subProgress.build.percent` */
  path: string;
  /** Full sentence that starts with the path */
  message: string;
}

export interface Job {
  /** 28 characters; not guessable */
  id: string;
  spaceId: string;
  name: string;
  payload: Record<string, unknown> | null;
  status: JobStatus;
  maxRetries: number;
  /**
   * Attempts that have started: 0 at creation, one more at each ack, one less at the release of a
   * running job
   */
  attemptNumber: number;
  /** Execution window: how long an attempt may take between two heartbeats */
  timeoutSeconds: number;
  /** Null while pending, also between two attempts. ISO 8601, UTC, milliseconds */
  deliveredAt: string | null;
  /** Null until the attempt is acked. ISO 8601, UTC, milliseconds */
  startedAt: string | null;
  /** Null unless the status is completed. ISO 8601, UTC, milliseconds */
  completedAt: string | null;
  /** Result of the worker; null until completion */
  result: unknown;
  /** Error of the latest attempt that failed; absent without one */
  error?: string | Record<string, unknown>;
  /** Latest report of any attempt; absent before the first */
  progress?: Progress;
  /** Last time for which the job waits or waited; absent for one that never had to */
  scheduledFor?: Timestamp;
  /** Delays between attempts; absent without any */
  retry?: Retry;
  /** How long one attempt may take; absent without a limit */
  maxRunSeconds?: number;
  /** How long the job may wait for its first ack; absent without a limit */
  startWithinSeconds?: number;
  /** Head start in seconds; absent without one */
  priority?: number;
  /** Of the worker that has the job, when its poll named it */
  workerId?: string;
  /** Job of which this one is a copy; absent for one that is none */
  copyOf?: string;
  /** Absent for a job without a unique key */
  unique?: Unique;
  /** Absent for a job without tags */
  tags?: string[];
  createdAt: Timestamp;
  /** Time of the latest event or keepalive; it does not change after the job has ended */
  updatedAt: Timestamp;
  callbackUrl: string | null;
  callbackHeaders: Record<string, string> | null;
  /** Ends after which the callback is sent; absent for completed and dead */
  callbackOn?: CreateJobCallbackOn[];
  /** URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit` */
  realtimeUrl?: string;
}

export interface JobEvent {
  /** `<jobId>.<seq>`; seq is dense, from 1, per job */
  id: string;
  /** 28 characters; not guessable */
  jobId: string;
  spaceId: string;
  type: JobEventType;
  /** Data of the event; null for an event without data */
  data: unknown;
  createdAt: Timestamp;
}

export type JobEventType = 'created' | 'delivered' | 'acked' | 'progress' | 'checkpoint' | 'event' | 'completed' | 'retried' | 'released' | 'dead' | 'killed' | 'delivery_timeout' | 'replaced' | 'ready' | 'rescheduled' | 'requeued' | 'callback_sent' | 'callback_failed';

/** Status of the job */
export type JobStatus = 'scheduled' | 'pending' | 'delivered' | 'running' | 'completed' | 'dead' | 'killed';

export interface JobSummary {
  /** 28 characters; not guessable */
  id: string;
  spaceId: string;
  name: string;
  status: JobStatus;
  createdAt: Timestamp;
  /** URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit` */
  realtimeUrl?: string;
}

export interface JobWithEvents {
  /** 28 characters; not guessable */
  id: string;
  spaceId: string;
  name: string;
  payload: Record<string, unknown> | null;
  status: JobStatus;
  maxRetries: number;
  /**
   * Attempts that have started: 0 at creation, one more at each ack, one less at the release of a
   * running job
   */
  attemptNumber: number;
  /** Execution window: how long an attempt may take between two heartbeats */
  timeoutSeconds: number;
  /** Null while pending, also between two attempts. ISO 8601, UTC, milliseconds */
  deliveredAt: string | null;
  /** Null until the attempt is acked. ISO 8601, UTC, milliseconds */
  startedAt: string | null;
  /** Null unless the status is completed. ISO 8601, UTC, milliseconds */
  completedAt: string | null;
  /** Result of the worker; null until completion */
  result: unknown;
  /** Error of the latest attempt that failed; absent without one */
  error?: string | Record<string, unknown>;
  /** Latest report of any attempt; absent before the first */
  progress?: Progress;
  /** Last time for which the job waits or waited; absent for one that never had to */
  scheduledFor?: Timestamp;
  /** Delays between attempts; absent without any */
  retry?: Retry;
  /** How long one attempt may take; absent without a limit */
  maxRunSeconds?: number;
  /** How long the job may wait for its first ack; absent without a limit */
  startWithinSeconds?: number;
  /** Head start in seconds; absent without one */
  priority?: number;
  /** Of the worker that has the job, when its poll named it */
  workerId?: string;
  /** Job of which this one is a copy; absent for one that is none */
  copyOf?: string;
  /** Absent for a job without a unique key */
  unique?: Unique;
  /** Absent for a job without tags */
  tags?: string[];
  createdAt: Timestamp;
  /** Time of the latest event or keepalive; it does not change after the job has ended */
  updatedAt: Timestamp;
  callbackUrl: string | null;
  callbackHeaders: Record<string, string> | null;
  /** Ends after which the callback is sent; absent for completed and dead */
  callbackOn?: CreateJobCallbackOn[];
  /** URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit` */
  realtimeUrl?: string;
  /** Oldest first. A whole history begins with `created`; absent with `events=0` */
  events: JobEvent[];
}

export interface KeepaliveOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'keepalive';
}

export interface Kill {
  /** Reason, for the history. Default: `null` */
  reason?: string | null;
}

export interface KnownJob {
  /** 28 characters; not guessable */
  id: string;
  name: string;
  status: JobStatus;
  createdAt: Timestamp;
  /** URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit` */
  realtimeUrl?: string;
}

export interface LatestProgress {
  /** 28 characters; not guessable */
  jobId: string;
  /** Null before the first report */
  progress: Progress | null;
  /** When it was reported; null before the first report. ISO 8601, UTC, milliseconds */
  timestamp: string | null;
}

export interface ListedJob {
  /** 28 characters; not guessable */
  id: string;
  spaceId: string;
  name: string;
  payload: Record<string, unknown> | null;
  status: JobStatus;
  maxRetries: number;
  /**
   * Attempts that have started: 0 at creation, one more at each ack, one less at the release of a
   * running job
   */
  attemptNumber: number;
  /** Execution window: how long an attempt may take between two heartbeats */
  timeoutSeconds: number;
  /** Null while pending, also between two attempts. ISO 8601, UTC, milliseconds */
  deliveredAt: string | null;
  /** Null until the attempt is acked. ISO 8601, UTC, milliseconds */
  startedAt: string | null;
  /** Null unless the status is completed. ISO 8601, UTC, milliseconds */
  completedAt: string | null;
  /** Result of the worker; null until completion */
  result: unknown;
  /** Error of the latest attempt that failed; absent without one */
  error?: string | Record<string, unknown>;
  /** Latest report of any attempt; absent before the first */
  progress?: Progress;
  /** Last time for which the job waits or waited; absent for one that never had to */
  scheduledFor?: Timestamp;
  /** Delays between attempts; absent without any */
  retry?: Retry;
  /** How long one attempt may take; absent without a limit */
  maxRunSeconds?: number;
  /** How long the job may wait for its first ack; absent without a limit */
  startWithinSeconds?: number;
  /** Head start in seconds; absent without one */
  priority?: number;
  /** Of the worker that has the job, when its poll named it */
  workerId?: string;
  /** Job of which this one is a copy; absent for one that is none */
  copyOf?: string;
  /** Absent for a job without a unique key */
  unique?: Unique;
  /** Absent for a job without tags */
  tags?: string[];
  createdAt: Timestamp;
  /** Time of the latest event or keepalive; it does not change after the job has ended */
  updatedAt: Timestamp;
}

export interface LogEntry {
  /** `<jobId>.<seq>` */
  id: string;
  /** Dense, from 1, per job; never used again when an entry is dropped */
  seq: number;
  level: LogEntryLevel;
  message: string;
  /** Part of the worker that wrote it, as the worker names it */
  source: string;
  /** Further data of the worker */
  metadata: Record<string, unknown>;
  /** Time at which it happened, by the clock of the worker */
  loggedAt: Timestamp;
  /** Time of storage */
  createdAt: Timestamp;
}

export interface LogEntryFields {
  message: string;
  /** Default: `info`. `warning` is stored as `warn`, `critical` as `fatal`. Case-insensitive */
  level?: LogEntryFieldsLevel | null;
  /** Time at which it happened, with a `T` or a blank. Default: the time of storage */
  timestamp?: string | null;
  /** Part of the worker that wrote it. Default: `worker` */
  source?: string | null;
  metadata?: Record<string, unknown> | null;
}

export type LogEntryFieldsLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'warning' | 'critical';

export type LogEntryLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface LogsPage {
  /** Ascending by seq */
  logs: LogEntry[];
  cursor: LogsPageCursor;
}

export interface LogsPageCursor {
  mode: LogsPageCursorMode;
  /** Seq of the first entry of the page; on an empty page the requested bound, or 0 for `latest` */
  oldestSeq: number;
  /** Seq of the last entry of the page; on an empty page as `oldestSeq` */
  newestSeq: number;
  /**
   * Whether more matching entries exist in the direction of paging, or may exist: a search that stopped
   * early has read up to the bound in that direction
   */
  hasMore: boolean;
}

export type LogsPageCursorMode = 'after' | 'before' | 'latest';

export interface NameStats {
  name: string;
  /** Jobs of any status */
  total: number;
  pending: number;
  /** How long its next job has been pending, with milliseconds; null without a pending job */
  oldestPendingAgeSeconds: number | null;
}

export interface Operation {
  id: string;
  spaceId: string;
  action: OperationRequestAction;
  filter: OperationFilter;
  limit?: number;
  /** Only when true */
  dryRun?: boolean;
  reason?: string;
  delaySeconds?: number;
  status: OperationStatus;
  /** Jobs that were examined */
  looked: number;
  /** Jobs that were changed; with `dryRun`, that would be */
  changed: number;
  /** Jobs that matched, but were no longer in that status, or whose unique key is taken */
  skipped: number;
  /** Jobs that are not examined yet */
  left: number;
  startedAt: Timestamp;
  /** ISO 8601, UTC, milliseconds */
  finishedAt: string | null;
}

/** As in the request */
export interface OperationFilter {
  status: JobStatus[];
  names?: string[];
  tags?: string[];
  createdAfter?: Timestamp;
  createdBefore?: Timestamp;
  q?: string;
  ids?: string[];
}

export interface OperationFilterRequest {
  /** Only jobs with one of these statuses, in each of which the action must be possible */
  status: JobStatus | JobStatus[];
  /** Only jobs with one of these names */
  names?: string[];
  /** Only jobs with all of these tags */
  tags?: string[];
  /** Only these jobs */
  ids?: string[];
  /** Only jobs created at this time or later, ISO 8601 with a time zone */
  createdAfter?: string;
  /** Only jobs created before this time, ISO 8601 with a time zone */
  createdBefore?: string;
  /**
   * Only jobs whose payload, result or error, as JSON without blanks, contains this text in upper or
   * lower case
   */
  q?: string;
}

export interface OperationRequest {
  action: OperationRequestAction;
  filter: OperationFilterRequest;
  /** Maximum number of jobs to change; default: all. Default: `null` */
  limit?: number | null;
  /** Only count, in `changed`, the jobs that it would change. Default: `false` */
  dryRun?: boolean | null;
  /** Reason, shown with the operation; of a kill also in the history of each job. Default: `null` */
  reason?: string | null;
  /** When the jobs become claimable; for requeue and reschedule. Default: `null` */
  delaySeconds?: number | null;
}

export type OperationRequestAction = 'requeue' | 'kill' | 'delete' | 'reschedule';

export type OperationStatus = 'running' | 'done' | 'cancelled';

export type Outcome = AckOutcome | KeepaliveOutcome | ProgressOutcome | CheckpointOutcome | EventOutcome | CompleteOutcome | FailOutcome | ReleaseOutcome;

export interface Pause {
  /** Names of jobs; without them, the whole space. Default: `null` */
  names?: string[] | null;
}

export interface Poll {
  /** Jobs to claim; above 50 is served as 50. Default: `1` */
  count?: number | null;
  /** Names of jobs to claim; an empty list means any name */
  types?: string[] | null;
  /** Used only without `types` */
  type?: string | string[] | null;
  /** Used only without `types` and `type` */
  names?: string[] | null;
  /** Used only without the other three fields */
  name?: string | string[] | null;
  /** How long to wait for the first job while none is pending; above 20 is served as 20. Default: `0` */
  waitSeconds?: number | null;
  /** Outcomes of other jobs of the space, settled first */
  settle?: Outcome[] | null;
  /**
   * Ack the jobs at once: their attempts start, without a delivery window. Needs the scope jobs:ack.
   * Default: `false`
   */
  autoAck?: boolean | null;
  /** Delivery window of the jobs of this poll; default that of the service. Default: `null` */
  ackWithinSeconds?: number | null;
  /** Shown on the jobs while their attempts last. Default: `null` */
  workerId?: string | null;
}

export interface PolledJobs {
  /** Oldest first; empty without a pending job */
  jobs: ClaimedJob[];
  /** In the order of `settle`; absent without it */
  settled?: Settled[];
}

export interface Progress {
  percent: number;
  message: string;
  /** Stages by name */
  subProgress?: Record<string, ProgressSubProgressValue>;
}

export interface ProgressOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'progress';
  percent: number;
  message: string;
  subProgress?: Record<string, ProgressOutcomeSubProgressValue> | null;
}

export interface ProgressOutcomeSubProgressValue {
  percent: number;
  message?: string | null;
}

export interface ProgressSubProgressValue {
  percent: number;
  message?: string;
}

export interface Release {
  /** Reason, for the history. Default: `null` */
  reason?: string | null;
  /** Minimum seconds to wait first. Default: `null` */
  delaySeconds?: number | null;
}

export interface ReleaseOutcome {
  jobId: string;
  /** As the header `x-delivery-token` of the other calls. Default: `null` */
  deliveryToken?: string | null;
  action: 'release';
  /** Reason, for the history. Default: `null` */
  reason?: string | null;
  /** Minimum seconds to wait first. Default: `null` */
  delaySeconds?: number | null;
}

export interface Requeue {
  /** Minimum seconds to wait first. Default: `null` */
  delaySeconds?: number | null;
}

export interface Reschedule {
  /** Not before this time, ISO 8601 with a time zone; a time in the past means now. Default: `null` */
  scheduledFor?: string | null;
  /** The same, in seconds from now; not together with `scheduledFor`. Default: `null` */
  delaySeconds?: number | null;
  /** Another head start, in seconds. Default: `null` */
  priority?: number | null;
}

export interface Retry {
  delaySeconds: number | number[];
  factor?: number;
  maxDelaySeconds?: number;
  jitter?: number;
}

export interface RetryRequest {
  /** Delay before each further attempt, or a delay for each, of which the last repeats; 0 for none */
  delaySeconds: number | number[];
  /**
   * Factor by which each delay is longer than the previous one; default 1; not with a list of delays.
   * Default: `null`
   */
  factor?: number | null;
  /** Longest delay, after factor and jitter; default 604800. Default: `null` */
  maxDelaySeconds?: number | null;
  /** Share of a delay by which it is shortened or lengthened at random. Default: `0.2` */
  jitter?: number | null;
}

export interface Settle {
  outcomes: Outcome[];
}

export interface SettleResults {
  results: Settled[];
}

export interface Settled {
  /** Message for people */
  error?: string;
  /** Code for programs */
  code?: ErrorCode;
  /** Status the job has now; on every 409 */
  jobStatus?: JobStatus;
  /** What happened before, when that is known; on a 409 of an ack */
  hint?: string;
  /** Jobs of a list that were created or found before it was refused; absent for 0 */
  stored?: number;
  /** 28 characters; not guessable */
  jobId: string;
  /** Without success, the fields of an error follow */
  success: boolean;
}

export interface Space {
  spaceId: string;
  jobs: SpaceJobs;
  /** As in `names`, over all names */
  oldestPendingAgeSeconds: number | null;
}

export interface SpaceJobs {
  /** Absent when it is 0 */
  scheduled?: number;
  pending: number;
  delivered: number;
  running: number;
  completed: number;
  dead: number;
  killed: number;
  total: number;
}

export interface SpaceList {
  /** Spaces that have jobs, in an order that stays */
  spaces: Space[];
  /** For the next page; null when this is the last */
  nextCursor: string | null;
}

export interface SpaceStats {
  spaceId: string;
  /** Moment of the count */
  timestamp: Timestamp;
  jobs: SpaceStatsJobs;
  /** As in `names`, over all names */
  oldestPendingAgeSeconds: number | null;
  /** true for the whole space, or the names whose jobs are paused; absent when nothing is */
  paused?: boolean | string[];
  /** The requested names, in that order; otherwise the names with the most jobs, the largest first */
  names: NameStats[];
  /** Names with jobs that are not in `names` */
  namesLeftOut: number;
}

export interface SpaceStatsJobs {
  /** Absent when it is 0 */
  scheduled?: number;
  pending: number;
  delivered: number;
  running: number;
  completed: number;
  dead: number;
  killed: number;
  total: number;
}

export interface StreamToken {
  /** To be sent as `?token=` of a stream */
  token: string;
  /** When it expires: at the latest when the API key does */
  expiresAt: Timestamp;
}

/** Exactly one of `jobIds`, `tag` and `spaceId` is required */
export interface StreamTokenRequest {
  /** `jobs:read:progress` shows only the progress of jobs */
  scope: StreamTokenRequestScope;
  /** Jobs whose streams it opens. Default: `null` */
  jobIds?: string[] | null;
  /** It opens the streams of jobs with this tag, and those of spaces for these jobs. Default: `null` */
  tag?: string | null;
  /** Space whose stream it opens, and the streams of whose jobs. Default: `null` */
  spaceId?: string | null;
  /** How long it is valid; default 900. Default: `900` */
  expiresInSeconds?: number | null;
}

export type StreamTokenRequestScope = 'jobs:read' | 'jobs:read:progress';

/** ISO 8601, UTC, milliseconds */
export type Timestamp = string;

export interface Unique {
  key: string;
  until?: UniqueRequestUntil;
  onConflict?: UniqueRequestOnConflict;
  ttlSeconds?: number;
}

export interface UniqueRequest {
  /** Compared among the jobs of this name in the space */
  key: string;
  /**
   * When the key is free again: when the job has ended, when it was acked, or after `ttlSeconds`.
   * Default: `"ended"`
   */
  until?: UniqueRequestUntil | null;
  /**
   * Return the other job, refuse with `JOB_NOT_UNIQUE`, or replace the other job while it is pending.
   * Default: `"return"`
   */
  onConflict?: UniqueRequestOnConflict | null;
  /** With `until: expired`: how long the key is occupied, from the creation of the job. Default: `null` */
  ttlSeconds?: number | null;
}

export type UniqueRequestOnConflict = 'return' | 'reject' | 'replace';

export type UniqueRequestUntil = 'ended' | 'started' | 'expired';

/** Types of the events that tell a worker that it no longer has its job. */
export const JOB_LOST_EVENTS = ['dead', 'delivery_timeout', 'killed', 'released', 'retried'] as const;
