// Types of the requests and responses of Yardmaster, made by scripts/sdk/wire.mjs. Do not edit.

export interface AckOutcome {
  jobId: string;
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
  deliveryToken?: string | null;
  action: 'ack';
}

export interface AppendedLogs {
  /** Always true */
  success: boolean;
  /** Number of entries stored */
  inserted: number;
  /** `seq` of the first entry of the batch */
  fromSeq: number;
  /** `seq` of the last entry of the batch */
  toSeq: number;
}

export interface CheckpointOutcome {
  jobId: string;
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
  deliveryToken?: string | null;
  action: 'checkpoint';
  /** Any JSON value. Default: `null` */
  data?: unknown;
}

export interface ClaimedJob {
  /** Unguessable ID of 28 characters */
  id: string;
  name: string;
  payload: Record<string, unknown> | null;
  /** Execution window: maximum number of seconds between two heartbeats */
  timeoutSeconds: number;
  maxRetries: number;
  /** Number of earlier attempts */
  attemptNumber: number;
  createdAt: Timestamp;
  /** Data of the latest checkpoint of any earlier attempt; null if there is none */
  checkpoint: unknown;
  /** Number of this attempt, starting at 1 */
  attempt: number;
  /**
   * Opaque token of this delivery. Calls that send it as `x-delivery-token` have no effect once the
   * worker has lost the job
   */
  deliveryToken: string;
}

export interface CompleteOutcome {
  jobId: string;
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
  deliveryToken?: string | null;
  action: 'complete';
  /** Any JSON value. Default: `null` */
  result?: unknown;
}

export interface Copy {
  /** Payload of the copy. Default: that of the job */
  payload?: Record<string, unknown> | null;
}

export interface CreateJob {
  /** Kind of work, such as `resize`; workers poll for names */
  name: string;
  /** Data for the worker. Default: `null` */
  payload?: Record<string, unknown> | null;
  /** Number of retries after the first attempt; each failed or timed-out attempt uses one. Default: `3` */
  maxRetries?: number | null;
  /** Execution window: maximum number of seconds between two heartbeats. Default: `300` */
  timeoutSeconds?: number | null;
  /**
   * URL to send a POST request to when the job ends; http or https, without a username or password.
   * Default: `null`
   */
  callbackUrl?: string | null;
  /** Headers to add to the callback. Default: `null` */
  callbackHeaders?: Record<string, string> | null;
  /** Outcomes that trigger the callback; null for `completed` and `dead`. Default: `null` */
  callbackOn?: CreateJobCallbackOn[] | null;
  /** Unique key: create the job only if no other job holds it. Default: `null` */
  unique?: UniqueRequest | null;
  /** Labels to find and filter jobs by; duplicates are refused. Default: `null` */
  tags?: string[] | null;
  /** Delays between attempts; null to retry without a delay. Default: `null` */
  retry?: RetryRequest | null;
  /** Maximum duration of an attempt in seconds; heartbeats do not extend it. Default: `null` */
  maxRunSeconds?: number | null;
  /**
   * Maximum number of seconds from when the job becomes claimable to its first ack; if exceeded, the job
   * is dead. Default: `null`
   */
  startWithinSeconds?: number | null;
  /**
   * Head start in the queue in seconds: the job is treated as if it had been created this much earlier.
   * Default: `0`
   */
  priority?: number | null;
  /**
   * Earliest time to run the job (ISO 8601 with a time zone); a time in the past means now. Default:
   * `null`
   */
  scheduledFor?: string | null;
  /**
   * Minimum number of seconds until the job becomes claimable; cannot be combined with `scheduledFor`.
   * Default: `null`
   */
  delaySeconds?: number | null;
}

export type CreateJobCallbackOn = 'completed' | 'dead' | 'killed';

export interface DeclaredSchedule {
  /** ID of the schedule */
  id: string;
  /**
   * When to run: `minute hour day-of-month month day-of-week`, or `@hourly`, `@daily`, `@weekly`,
   * `@monthly` or `@yearly`. If both day fields are restricted, a day that matches either one counts.
   * Default: `null`
   */
  cron?: string | null;
  /**
   * Interval instead of `cron`. The first run is at `startsAt`; without it, one interval after the
   * schedule is created. Default: `null`
   */
  everySeconds?: number | null;
  /** IANA time zone of `cron`, such as `Europe/Berlin`. Default: `"UTC"` */
  timezone?: string | null;
  /** The jobs to create, as in Create Job without `scheduledFor` and `delaySeconds` */
  job: ScheduledJob;
  /**
   * What to do if the last job has not ended: `skip` this run, `allow` a second job, or `replace` the
   * last job by killing it. Default: `"skip"`
   */
  overlap?: ScheduleOverlap | null;
  /**
   * What to do after missed times: create `once` one job for the latest, or `skip` them all. A time is
   * missed if a later one is due as well, or if it is more than 60 seconds late. Default: `"once"`
   */
  missed?: ScheduleMissed | null;
  /** Missed times that are older than this are always skipped. Default: `86400` */
  missedWithinSeconds?: number | null;
  /**
   * Run each time up to this much later, at most until the next time; the delay depends on the ID and
   * the time. Default: `0`
   */
  spreadSeconds?: number | null;
  /** Earliest run (ISO 8601 with a time zone). Default: `null` */
  startsAt?: string | null;
  /** Latest run (ISO 8601 with a time zone). Default: `null` */
  endsAt?: string | null;
  /** Whether to create no jobs for now. Default: unchanged; false for a new schedule */
  paused?: boolean | null;
  /**
   * Who declares the schedule, such as the name of a deployment. Others cannot change it. Default:
   * `null`
   */
  owner?: string | null;
}

export interface ErrorBody {
  /** Human-readable message; may change */
  error: string;
  /** Stable code to branch on */
  code: ErrorCode;
  /** Current status of the job; on every 409 except `SCHEDULE_OWNED` */
  jobStatus?: JobStatus;
  /** What happened to the job earlier, if known; on a 409 of an ack */
  hint?: string;
  /**
   * Job that holds the unique key, or the last job of the schedule; with `JOB_NOT_UNIQUE` and
   * `SCHEDULE_RUNNING`
   */
  jobId?: string;
  /** Number of jobs, from the start of the list, that were created or found before the error; absent if 0 */
  stored?: number;
  /** All faults, if several fields are invalid or the field belongs to a job in a list */
  details?: FaultDetail[];
}

export type ErrorCode = 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'JOB_NOT_FOUND' | 'KEY_NOT_FOUND' | 'OPERATION_NOT_FOUND' | 'SCHEDULE_NOT_FOUND' | 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'JOB_NOT_PENDING' | 'JOB_NOT_DELIVERED' | 'JOB_NOT_RUNNING' | 'DELIVERY_LOST' | 'JOB_KILLED' | 'JOB_ENDED' | 'JOB_NOT_DEAD' | 'JOB_NOT_ENDED' | 'NO_CALLBACK' | 'JOB_NOT_UNIQUE' | 'SCHEDULE_OWNED' | 'SCHEDULE_RUNNING' | 'TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'IDEMPOTENCY_MISMATCH' | 'UPGRADE_REQUIRED' | 'TOO_MANY_STREAMS' | 'SPACE_FULL' | 'TOO_MANY_WAITERS' | 'TOO_MANY_KEYS' | 'TOO_MANY_OPERATIONS' | 'TOO_MANY_SCHEDULES' | 'RATE_LIMITED' | 'INTERNAL' | 'UNAVAILABLE' | 'OVERLOADED' | 'STORAGE_FULL' | 'STORAGE_UNSAFE';

export interface EventOutcome {
  jobId: string;
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
  deliveryToken?: string | null;
  action: 'event';
  /** Any JSON value. Default: `null` */
  data?: unknown;
}

export interface FailOutcome {
  jobId: string;
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
  deliveryToken?: string | null;
  action: 'fail';
  /** Why the attempt failed: a message, or an object */
  error: string | Record<string, unknown>;
  /**
   * Whether the job may be retried; with `false` it is dead, even if it has retries left. Default:
   * `true`
   */
  retryable?: boolean | null;
  /** Seconds to wait before the next attempt, instead of the delay in `retry`. Default: `null` */
  retryAfterSeconds?: number | null;
}

export interface FaultDetail {
  /** Path of the field in the request, such as `subProgress.build.percent` */
  path: string;
  /** What is wrong, as a sentence that starts with the path */
  message: string;
}

export interface Job {
  /** Unguessable ID of 28 characters */
  id: string;
  spaceId: string;
  name: string;
  payload: Record<string, unknown> | null;
  status: JobStatus;
  maxRetries: number;
  /**
   * Number of attempts started: 0 at creation, plus 1 at each ack, minus 1 when a running job is
   * released
   */
  attemptNumber: number;
  /** Execution window: maximum number of seconds between two heartbeats */
  timeoutSeconds: number;
  /**
   * When the job was last claimed; null while it is pending or scheduled. ISO 8601 timestamp in UTC,
   * with milliseconds
   */
  deliveredAt: string | null;
  /** When the current attempt was acked; null until then. ISO 8601 timestamp in UTC, with milliseconds */
  startedAt: string | null;
  /** When the job was completed; null in any other status. ISO 8601 timestamp in UTC, with milliseconds */
  completedAt: string | null;
  /** Result reported by the worker; null until the job is completed */
  result: unknown;
  /** Error of the latest failed attempt; absent if none failed */
  error?: string | Record<string, unknown>;
  /** Latest progress report of any attempt; absent before the first */
  progress?: Progress;
  /** Time that the job is, or was last, scheduled for; absent if it never was */
  scheduledFor?: Timestamp;
  /** Delays between attempts; absent if there are none */
  retry?: Retry;
  /** Maximum duration of an attempt in seconds; absent without a limit */
  maxRunSeconds?: number;
  /** Maximum number of seconds until the first ack; absent without a limit */
  startWithinSeconds?: number;
  /** Head start in the queue in seconds; absent if it is 0 */
  priority?: number;
  /** ID of the worker that has the job; absent unless its poll set one */
  workerId?: string;
  /** ID of the job that this one is a copy of; absent if it is not a copy */
  copyOf?: string;
  /** Unique key of the job; absent without one */
  unique?: Unique;
  /** ID of the schedule that created the job; absent for other jobs */
  scheduleId?: string;
  /** Tags of the job; absent without tags */
  tags?: string[];
  createdAt: Timestamp;
  /** Time of the latest event or heartbeat; does not change after the job has ended */
  updatedAt: Timestamp;
  callbackUrl: string | null;
  callbackHeaders: Record<string, string> | null;
  /** Outcomes that trigger the callback; absent for the default, `completed` and `dead` */
  callbackOn?: CreateJobCallbackOn[];
  /** URL of the job stream; only in create responses, and only if the service runs with `COMPAT=emit` */
  realtimeUrl?: string;
}

export interface JobEvent {
  /** `<jobId>.<seq>`; `seq` counts the events of the job from 1, without gaps */
  id: string;
  /** Unguessable ID of 28 characters */
  jobId: string;
  spaceId: string;
  type: JobEventType;
  /** Data of the event; null if it has none */
  data: unknown;
  createdAt: Timestamp;
}

export type JobEventType = 'created' | 'delivered' | 'acked' | 'progress' | 'checkpoint' | 'event' | 'completed' | 'retried' | 'released' | 'dead' | 'killed' | 'delivery_timeout' | 'replaced' | 'ready' | 'rescheduled' | 'requeued' | 'callback_sent' | 'callback_failed';

/** Status of the job */
export type JobStatus = 'scheduled' | 'pending' | 'delivered' | 'running' | 'completed' | 'dead' | 'killed';

export interface JobSummary {
  /** Unguessable ID of 28 characters */
  id: string;
  spaceId: string;
  name: string;
  status: JobStatus;
  createdAt: Timestamp;
  /** URL of the job stream; only in create responses, and only if the service runs with `COMPAT=emit` */
  realtimeUrl?: string;
}

export interface JobWithEvents {
  /** Unguessable ID of 28 characters */
  id: string;
  spaceId: string;
  name: string;
  payload: Record<string, unknown> | null;
  status: JobStatus;
  maxRetries: number;
  /**
   * Number of attempts started: 0 at creation, plus 1 at each ack, minus 1 when a running job is
   * released
   */
  attemptNumber: number;
  /** Execution window: maximum number of seconds between two heartbeats */
  timeoutSeconds: number;
  /**
   * When the job was last claimed; null while it is pending or scheduled. ISO 8601 timestamp in UTC,
   * with milliseconds
   */
  deliveredAt: string | null;
  /** When the current attempt was acked; null until then. ISO 8601 timestamp in UTC, with milliseconds */
  startedAt: string | null;
  /** When the job was completed; null in any other status. ISO 8601 timestamp in UTC, with milliseconds */
  completedAt: string | null;
  /** Result reported by the worker; null until the job is completed */
  result: unknown;
  /** Error of the latest failed attempt; absent if none failed */
  error?: string | Record<string, unknown>;
  /** Latest progress report of any attempt; absent before the first */
  progress?: Progress;
  /** Time that the job is, or was last, scheduled for; absent if it never was */
  scheduledFor?: Timestamp;
  /** Delays between attempts; absent if there are none */
  retry?: Retry;
  /** Maximum duration of an attempt in seconds; absent without a limit */
  maxRunSeconds?: number;
  /** Maximum number of seconds until the first ack; absent without a limit */
  startWithinSeconds?: number;
  /** Head start in the queue in seconds; absent if it is 0 */
  priority?: number;
  /** ID of the worker that has the job; absent unless its poll set one */
  workerId?: string;
  /** ID of the job that this one is a copy of; absent if it is not a copy */
  copyOf?: string;
  /** Unique key of the job; absent without one */
  unique?: Unique;
  /** ID of the schedule that created the job; absent for other jobs */
  scheduleId?: string;
  /** Tags of the job; absent without tags */
  tags?: string[];
  createdAt: Timestamp;
  /** Time of the latest event or heartbeat; does not change after the job has ended */
  updatedAt: Timestamp;
  callbackUrl: string | null;
  callbackHeaders: Record<string, string> | null;
  /** Outcomes that trigger the callback; absent for the default, `completed` and `dead` */
  callbackOn?: CreateJobCallbackOn[];
  /** URL of the job stream; only in create responses, and only if the service runs with `COMPAT=emit` */
  realtimeUrl?: string;
  /** History of the job, oldest event first, starting with `created`; absent with `events=0` */
  events: JobEvent[];
}

export interface KeepaliveOutcome {
  jobId: string;
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
  deliveryToken?: string | null;
  action: 'keepalive';
}

export interface Kill {
  /** Reason, recorded in the history. Default: `null` */
  reason?: string | null;
}

export interface KnownJob {
  /** Unguessable ID of 28 characters */
  id: string;
  name: string;
  status: JobStatus;
  createdAt: Timestamp;
  /** URL of the job stream; only in create responses, and only if the service runs with `COMPAT=emit` */
  realtimeUrl?: string;
}

export interface LatestProgress {
  /** Unguessable ID of 28 characters */
  jobId: string;
  /** Latest progress report; null before the first */
  progress: Progress | null;
  /**
   * When the progress was reported; null before the first report. ISO 8601 timestamp in UTC, with
   * milliseconds
   */
  timestamp: string | null;
}

export interface ListedJob {
  /** Unguessable ID of 28 characters */
  id: string;
  spaceId: string;
  name: string;
  payload: Record<string, unknown> | null;
  status: JobStatus;
  maxRetries: number;
  /**
   * Number of attempts started: 0 at creation, plus 1 at each ack, minus 1 when a running job is
   * released
   */
  attemptNumber: number;
  /** Execution window: maximum number of seconds between two heartbeats */
  timeoutSeconds: number;
  /**
   * When the job was last claimed; null while it is pending or scheduled. ISO 8601 timestamp in UTC,
   * with milliseconds
   */
  deliveredAt: string | null;
  /** When the current attempt was acked; null until then. ISO 8601 timestamp in UTC, with milliseconds */
  startedAt: string | null;
  /** When the job was completed; null in any other status. ISO 8601 timestamp in UTC, with milliseconds */
  completedAt: string | null;
  /** Result reported by the worker; null until the job is completed */
  result: unknown;
  /** Error of the latest failed attempt; absent if none failed */
  error?: string | Record<string, unknown>;
  /** Latest progress report of any attempt; absent before the first */
  progress?: Progress;
  /** Time that the job is, or was last, scheduled for; absent if it never was */
  scheduledFor?: Timestamp;
  /** Delays between attempts; absent if there are none */
  retry?: Retry;
  /** Maximum duration of an attempt in seconds; absent without a limit */
  maxRunSeconds?: number;
  /** Maximum number of seconds until the first ack; absent without a limit */
  startWithinSeconds?: number;
  /** Head start in the queue in seconds; absent if it is 0 */
  priority?: number;
  /** ID of the worker that has the job; absent unless its poll set one */
  workerId?: string;
  /** ID of the job that this one is a copy of; absent if it is not a copy */
  copyOf?: string;
  /** Unique key of the job; absent without one */
  unique?: Unique;
  /** ID of the schedule that created the job; absent for other jobs */
  scheduleId?: string;
  /** Tags of the job; absent without tags */
  tags?: string[];
  createdAt: Timestamp;
  /** Time of the latest event or heartbeat; does not change after the job has ended */
  updatedAt: Timestamp;
}

export interface LogEntry {
  /** `<jobId>.<seq>` */
  id: string;
  /** Number of the entry within the job, from 1 without gaps; never reused */
  seq: number;
  level: LogEntryLevel;
  message: string;
  /** Component of the worker that wrote the entry */
  source: string;
  /** Structured data from the worker */
  metadata: Record<string, unknown>;
  /** When the entry was written, by the clock of the worker */
  loggedAt: Timestamp;
  /** When the entry was stored */
  createdAt: Timestamp;
}

export interface LogEntryFields {
  message: string;
  /** Level (case-insensitive); `warning` is stored as `warn`, `critical` as `fatal`. Default: `info` */
  level?: LogEntryFieldsLevel | null;
  /** When the entry was written (ISO 8601, with a `T` or a space). Default: when it is stored */
  timestamp?: string | null;
  /** Component of the worker that wrote the entry. Default: `worker` */
  source?: string | null;
  metadata?: Record<string, unknown> | null;
}

export type LogEntryFieldsLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'warning' | 'critical';

export type LogEntryLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface LogsPage {
  /** Entries, in ascending order of `seq` */
  logs: LogEntry[];
  cursor: LogsPageCursor;
}

export interface LogsPageCursor {
  mode: LogsPageCursorMode;
  /**
   * `seq` of the first entry of the page; on an empty page, the requested bound, or 0 if `mode` is
   * `latest`
   */
  oldestSeq: number;
  /** `seq` of the last entry of the page; on an empty page, the same as `oldestSeq` */
  newestSeq: number;
  /**
   * Whether there are, or may be, more matching entries in this direction. A search may stop early, so
   * keep paging while this is true
   */
  hasMore: boolean;
}

export type LogsPageCursorMode = 'after' | 'before' | 'latest';

export interface NameStats {
  name: string;
  /** Number of jobs in any status */
  total: number;
  pending: number;
  /** Seconds that the next job in the queue has been pending; null if no job is pending */
  oldestPendingAgeSeconds: number | null;
}

export interface Operation {
  id: string;
  spaceId: string;
  action: OperationRequestAction;
  filter: OperationFilter;
  limit?: number;
  /** Absent if false */
  dryRun?: boolean;
  reason?: string;
  delaySeconds?: number;
  status: OperationStatus;
  /** Number of jobs examined */
  looked: number;
  /** Number of jobs changed; with `dryRun`, the number that would be */
  changed: number;
  /** Number of matching jobs whose status had changed, or whose unique key was taken */
  skipped: number;
  /** Number of jobs not examined yet */
  left: number;
  startedAt: Timestamp;
  /** ISO 8601 timestamp in UTC, with milliseconds */
  finishedAt: string | null;
}

/** Filter of the operation, as in the request */
export interface OperationFilter {
  status: JobStatus[];
  names?: string[];
  tags?: string[];
  schedule?: string;
  createdAfter?: Timestamp;
  createdBefore?: Timestamp;
  q?: string;
  ids?: string[];
}

export interface OperationFilterRequest {
  /** Only jobs with one of these statuses. The action must be possible in each of them */
  status: JobStatus | JobStatus[];
  /** Only jobs with one of these names */
  names?: string[];
  /** Only jobs with all of these tags */
  tags?: string[];
  /** Only jobs that this schedule has created */
  schedule?: string;
  /** Only these jobs */
  ids?: string[];
  /** Only jobs created at or after this time (ISO 8601 with a time zone) */
  createdAfter?: string;
  /** Only jobs created before this time (ISO 8601 with a time zone) */
  createdBefore?: string;
  /**
   * Only jobs whose payload, result or error, written as compact JSON, contains this text
   * (case-insensitive)
   */
  q?: string;
}

export interface OperationRequest {
  action: OperationRequestAction;
  filter: OperationFilterRequest;
  /** Maximum number of jobs to change; null for all. Default: `null` */
  limit?: number | null;
  /** Whether to only count, in `changed`, the jobs that the operation would change. Default: `false` */
  dryRun?: boolean | null;
  /** Reason, shown with the operation; for a kill, also in the history of each job. Default: `null` */
  reason?: string | null;
  /** Seconds until the jobs become claimable; only for `requeue` and `reschedule`. Default: `null` */
  delaySeconds?: number | null;
}

export type OperationRequestAction = 'requeue' | 'kill' | 'delete' | 'reschedule';

export type OperationStatus = 'running' | 'done' | 'cancelled';

export type Outcome = AckOutcome | KeepaliveOutcome | ProgressOutcome | CheckpointOutcome | EventOutcome | CompleteOutcome | FailOutcome | ReleaseOutcome;

export interface Pause {
  /** Names of jobs; null for the whole space. Default: `null` */
  names?: string[] | null;
}

export interface Poll {
  /** Maximum number of jobs to claim; values above 50 are capped at 50. Default: `1` */
  count?: number | null;
  /** Names of the jobs to claim; an empty list means any name */
  types?: string[] | null;
  /** Alias of `types`; ignored if `types` is present */
  type?: string | string[] | null;
  /** Alias of `types`; ignored if `types` or `type` is present */
  names?: string[] | null;
  /** Alias of `types`; ignored if any of the other three is present */
  name?: string | string[] | null;
  /**
   * Maximum number of seconds to wait for the first job if none is pending; values above 20 are capped
   * at 20. Default: `0`
   */
  waitSeconds?: number | null;
  /** Outcomes of other jobs in the space, to settle before claiming */
  settle?: Outcome[] | null;
  /**
   * Whether to ack the jobs as they are claimed: their attempts start without a delivery window.
   * Requires the scope `jobs:ack`. Default: `false`
   */
  autoAck?: boolean | null;
  /**
   * Delivery window, in seconds, of the jobs claimed by this poll; null for that of the service.
   * Default: `null`
   */
  ackWithinSeconds?: number | null;
  /** ID of the worker, shown on its jobs during their attempts. Default: `null` */
  workerId?: string | null;
}

export interface PolledJobs {
  /** Claimed jobs, oldest first; empty if none was pending */
  jobs: ClaimedJob[];
  /** Results in the order of `settle`; absent without `settle` */
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
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
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
  /** Reason, recorded in the history. Default: `null` */
  reason?: string | null;
  /** Minimum number of seconds until the job becomes claimable. Default: `null` */
  delaySeconds?: number | null;
}

export interface ReleaseOutcome {
  jobId: string;
  /** Delivery token of the claimed job; works like the header `x-delivery-token`. Default: `null` */
  deliveryToken?: string | null;
  action: 'release';
  /** Reason, recorded in the history. Default: `null` */
  reason?: string | null;
  /** Minimum number of seconds until the job becomes claimable. Default: `null` */
  delaySeconds?: number | null;
}

export interface Requeue {
  /** Minimum number of seconds until the job becomes claimable. Default: `null` */
  delaySeconds?: number | null;
}

export interface Reschedule {
  /**
   * Earliest time to run the job (ISO 8601 with a time zone); a time in the past means now. Default:
   * `null`
   */
  scheduledFor?: string | null;
  /**
   * Minimum number of seconds until the job becomes claimable; cannot be combined with `scheduledFor`.
   * Default: `null`
   */
  delaySeconds?: number | null;
  /** New head start in seconds; null keeps it. Default: `null` */
  priority?: number | null;
}

export interface Retry {
  delaySeconds: number | number[];
  factor?: number;
  maxDelaySeconds?: number;
  jitter?: number;
}

export interface RetryRequest {
  /** Delay in seconds before each retry; or a list with one delay per retry, the last of which repeats */
  delaySeconds: number | number[];
  /**
   * Multiplier applied to the delay after each retry; null means 1. Not allowed with a list of delays.
   * Default: `null`
   */
  factor?: number | null;
  /** Maximum delay in seconds, after factor and jitter; null means 604800. Default: `null` */
  maxDelaySeconds?: number | null;
  /**
   * Random variation of each delay, as a fraction: `0.2` varies it by up to 20% in either direction.
   * Default: `0.2`
   */
  jitter?: number | null;
}

export interface Schedule {
  id: string;
  spaceId: string;
  /** Absent with `everySeconds` */
  cron?: string;
  /** Absent with `cron` */
  everySeconds?: number;
  timezone: string;
  /** Body of Create Job, without fields at their defaults */
  job: Record<string, unknown>;
  overlap: ScheduleOverlap;
  missed: ScheduleMissed;
  missedWithinSeconds: number;
  spreadSeconds: number;
  startsAt?: Timestamp;
  endsAt?: Timestamp;
  paused: boolean;
  owner?: string;
  /**
   * Next time, before `spreadSeconds`; null if paused or if none is left. ISO 8601 timestamp in UTC,
   * with milliseconds
   */
  nextAt: string | null;
  /**
   * Time of the last run that created a job, without runs on demand. ISO 8601 timestamp in UTC, with
   * milliseconds
   */
  lastAt: string | null;
  /** ID of the last job, including jobs of runs on demand */
  lastJobId: string | null;
  /** Number of times that created a job */
  fired: number;
  /** Number of times that created no job */
  skipped: number;
  /** The latest time that created no job */
  lastSkipped: SkippedTime | null;
  createdAt: Timestamp;
}

export interface ScheduleList {
  schedules: Schedule[];
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
}

export type ScheduleMissed = 'once' | 'skip';

export type ScheduleOverlap = 'skip' | 'allow' | 'replace';

export interface SchedulePause {
  /** Whether to create no jobs for now */
  paused: boolean;
}

export interface ScheduleRequest {
  /**
   * When to run: `minute hour day-of-month month day-of-week`, or `@hourly`, `@daily`, `@weekly`,
   * `@monthly` or `@yearly`. If both day fields are restricted, a day that matches either one counts.
   * Default: `null`
   */
  cron?: string | null;
  /**
   * Interval instead of `cron`. The first run is at `startsAt`; without it, one interval after the
   * schedule is created. Default: `null`
   */
  everySeconds?: number | null;
  /** IANA time zone of `cron`, such as `Europe/Berlin`. Default: `"UTC"` */
  timezone?: string | null;
  /** The jobs to create, as in Create Job without `scheduledFor` and `delaySeconds` */
  job: ScheduledJob;
  /**
   * What to do if the last job has not ended: `skip` this run, `allow` a second job, or `replace` the
   * last job by killing it. Default: `"skip"`
   */
  overlap?: ScheduleOverlap | null;
  /**
   * What to do after missed times: create `once` one job for the latest, or `skip` them all. A time is
   * missed if a later one is due as well, or if it is more than 60 seconds late. Default: `"once"`
   */
  missed?: ScheduleMissed | null;
  /** Missed times that are older than this are always skipped. Default: `86400` */
  missedWithinSeconds?: number | null;
  /**
   * Run each time up to this much later, at most until the next time; the delay depends on the ID and
   * the time. Default: `0`
   */
  spreadSeconds?: number | null;
  /** Earliest run (ISO 8601 with a time zone). Default: `null` */
  startsAt?: string | null;
  /** Latest run (ISO 8601 with a time zone). Default: `null` */
  endsAt?: string | null;
  /** Whether to create no jobs for now. Default: unchanged; false for a new schedule */
  paused?: boolean | null;
  /**
   * Who declares the schedule, such as the name of a deployment. Others cannot change it. Default:
   * `null`
   */
  owner?: string | null;
}

export interface ScheduleRun {
  /** Payload of the job. Default: that of the schedule */
  payload?: Record<string, unknown> | null;
}

export interface ScheduleWithTimes {
  id: string;
  spaceId: string;
  /** Absent with `everySeconds` */
  cron?: string;
  /** Absent with `cron` */
  everySeconds?: number;
  timezone: string;
  /** Body of Create Job, without fields at their defaults */
  job: Record<string, unknown>;
  overlap: ScheduleOverlap;
  missed: ScheduleMissed;
  missedWithinSeconds: number;
  spreadSeconds: number;
  startsAt?: Timestamp;
  endsAt?: Timestamp;
  paused: boolean;
  owner?: string;
  /**
   * Next time, before `spreadSeconds`; null if paused or if none is left. ISO 8601 timestamp in UTC,
   * with milliseconds
   */
  nextAt: string | null;
  /**
   * Time of the last run that created a job, without runs on demand. ISO 8601 timestamp in UTC, with
   * milliseconds
   */
  lastAt: string | null;
  /** ID of the last job, including jobs of runs on demand */
  lastJobId: string | null;
  /** Number of times that created a job */
  fired: number;
  /** Number of times that created no job */
  skipped: number;
  /** The latest time that created no job */
  lastSkipped: SkippedTime | null;
  createdAt: Timestamp;
  /** The next 5 times, before `spreadSeconds` */
  upcoming: Timestamp[];
}

export interface ScheduledJob {
  /** Kind of work, such as `resize`; workers poll for names */
  name: string;
  /** Data for the worker. Default: `null` */
  payload?: Record<string, unknown> | null;
  /** Number of retries after the first attempt; each failed or timed-out attempt uses one. Default: `3` */
  maxRetries?: number | null;
  /** Execution window: maximum number of seconds between two heartbeats. Default: `300` */
  timeoutSeconds?: number | null;
  /**
   * URL to send a POST request to when the job ends; http or https, without a username or password.
   * Default: `null`
   */
  callbackUrl?: string | null;
  /** Headers to add to the callback. Default: `null` */
  callbackHeaders?: Record<string, string> | null;
  /** Outcomes that trigger the callback; null for `completed` and `dead`. Default: `null` */
  callbackOn?: CreateJobCallbackOn[] | null;
  /** Default: `null` */
  unique?: ScheduledUnique | null;
  /** Labels to find and filter jobs by; duplicates are refused. Default: `null` */
  tags?: string[] | null;
  /** Default: `null` */
  retry?: ScheduledRetry | null;
  /** Maximum duration of an attempt in seconds; heartbeats do not extend it. Default: `null` */
  maxRunSeconds?: number | null;
  /**
   * Maximum number of seconds from when the job becomes claimable to its first ack; if exceeded, the job
   * is dead. Default: `null`
   */
  startWithinSeconds?: number | null;
  /**
   * Head start in the queue in seconds: the job is treated as if it had been created this much earlier.
   * Default: `0`
   */
  priority?: number | null;
}

export interface ScheduledRetry {
  /** Delay in seconds before each retry; or a list with one delay per retry, the last of which repeats */
  delaySeconds: number | number[];
  /**
   * Multiplier applied to the delay after each retry; null means 1. Not allowed with a list of delays.
   * Default: `null`
   */
  factor?: number | null;
  /** Maximum delay in seconds, after factor and jitter; null means 604800. Default: `null` */
  maxDelaySeconds?: number | null;
  /**
   * Random variation of each delay, as a fraction: `0.2` varies it by up to 20% in either direction.
   * Default: `0.2`
   */
  jitter?: number | null;
}

export interface ScheduledUnique {
  /** Unique key of the job, among the jobs with the same name in the space */
  key: string;
  /**
   * When the job frees the key: when it has ended, when it is acked (`started`), or after `ttlSeconds`
   * (`expired`). Default: `"ended"`
   */
  until?: UniqueRequestUntil | null;
  /**
   * What to do if another job holds the key: return that job, reject the call with `JOB_NOT_UNIQUE`, or
   * replace that job while it is still pending or scheduled. Default: `"return"`
   */
  onConflict?: UniqueRequestOnConflict | null;
  /**
   * Number of seconds, from creation, that the job holds the key; only with `until: expired`. Default:
   * `null`
   */
  ttlSeconds?: number | null;
}

export interface SchedulesChange {
  created: number;
  changed: number;
  unchanged: number;
  deleted: number;
}

export interface SchedulesRequest {
  /** Who declares these schedules, such as the name of a deployment */
  owner: string;
  schedules: DeclaredSchedule[];
  /** Whether to delete the owner's other schedules. Default: `false` */
  prune?: boolean | null;
}

export interface Settle {
  outcomes: Outcome[];
}

export interface SettleResults {
  results: Settled[];
}

export interface Settled {
  /** Human-readable message; may change */
  error?: string;
  /** Stable code to branch on */
  code?: ErrorCode;
  /** Current status of the job; on every 409 except `SCHEDULE_OWNED` */
  jobStatus?: JobStatus;
  /** What happened to the job earlier, if known; on a 409 of an ack */
  hint?: string;
  /** Number of jobs, from the start of the list, that were created or found before the error; absent if 0 */
  stored?: number;
  /** Unguessable ID of 28 characters */
  jobId: string;
  /** Whether the outcome was accepted; if not, `error` and `code` tell why */
  success: boolean;
}

export interface SkippedTime {
  /** The time that was skipped */
  at: Timestamp;
  reason: SkippedTimeReason;
}

export type SkippedTimeReason = 'MISSED' | 'OVERLAP' | 'JOB_NOT_UNIQUE' | 'SPACE_FULL';

export interface Space {
  spaceId: string;
  jobs: SpaceJobs;
  /** Seconds that the next job in the queue has been pending; null if no job is pending */
  oldestPendingAgeSeconds: number | null;
}

export interface SpaceJobs {
  /** Absent if 0 */
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
  /** Spaces that have jobs, in a stable order */
  spaces: Space[];
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
}

export interface SpaceStats {
  spaceId: string;
  /** When the jobs were counted */
  timestamp: Timestamp;
  jobs: SpaceStatsJobs;
  /** Seconds that the next job in the queue has been pending; null if no job is pending */
  oldestPendingAgeSeconds: number | null;
  /** `true` if the whole space is paused, or the paused names; absent if nothing is paused */
  paused?: boolean | string[];
  /** The requested names, in that order; otherwise the names with the most jobs, in descending order */
  names: NameStats[];
  /** Number of names with jobs that are not in `names` */
  namesLeftOut: number;
}

export interface SpaceStatsJobs {
  /** Absent if 0 */
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
  /** The token; send it in the query parameter `token` of a stream */
  token: string;
  /** When the token expires, no later than the API key */
  expiresAt: Timestamp;
}

/** Exactly one of `jobIds`, `tag` and `spaceId` is required */
export interface StreamTokenRequest {
  /** What the token shows: everything (`jobs:read`) or only the progress of jobs (`jobs:read:progress`) */
  scope: StreamTokenRequestScope;
  /** IDs of the jobs whose streams the token opens. Default: `null` */
  jobIds?: string[] | null;
  /**
   * Tag of the jobs whose streams the token opens; it also opens space streams, limited to these jobs.
   * Default: `null`
   */
  tag?: string | null;
  /** Space whose stream the token opens, along with the streams of its jobs. Default: `null` */
  spaceId?: string | null;
  /** Number of seconds the token is valid. Default: `900` */
  expiresInSeconds?: number | null;
}

export type StreamTokenRequestScope = 'jobs:read' | 'jobs:read:progress';

/** ISO 8601 timestamp in UTC, with milliseconds */
export type Timestamp = string;

export interface Unique {
  key: string;
  until?: UniqueRequestUntil;
  onConflict?: UniqueRequestOnConflict;
  ttlSeconds?: number;
}

export interface UniqueRequest {
  /** Unique key of the job, among the jobs with the same name in the space */
  key: string;
  /**
   * When the job frees the key: when it has ended, when it is acked (`started`), or after `ttlSeconds`
   * (`expired`). Default: `"ended"`
   */
  until?: UniqueRequestUntil | null;
  /**
   * What to do if another job holds the key: return that job, reject the call with `JOB_NOT_UNIQUE`, or
   * replace that job while it is still pending or scheduled. Default: `"return"`
   */
  onConflict?: UniqueRequestOnConflict | null;
  /**
   * Number of seconds, from creation, that the job holds the key; only with `until: expired`. Default:
   * `null`
   */
  ttlSeconds?: number | null;
}

export type UniqueRequestOnConflict = 'return' | 'reject' | 'replace';

export type UniqueRequestUntil = 'ended' | 'started' | 'expired';

/** Types of the events that tell a worker that it no longer has its job. */
export const JOB_LOST_EVENTS = ['dead', 'delivery_timeout', 'killed', 'released', 'retried'] as const;
