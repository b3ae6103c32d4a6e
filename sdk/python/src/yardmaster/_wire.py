# Types of the requests and responses of Yardmaster, made by scripts/sdk/wire.mjs. Do not edit.
# ruff: noqa
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class _AckOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["ack"]


class AckOutcome(_AckOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]


class AppendedLogs(TypedDict):
    # Always true
    success: bool
    inserted: int
    # Seq of the first entry of the batch
    fromSeq: int
    # Seq of its last entry
    toSeq: int


class _CheckpointOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["checkpoint"]


class CheckpointOutcome(_CheckpointOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]
    # Any JSON value. Default: `null`
    data: Any


class ClaimedJob(TypedDict):
    # 28 characters; not guessable
    id: str
    name: str
    payload: Optional[Dict[str, Any]]
    # Execution window: how long an attempt may take between two heartbeats
    timeoutSeconds: float
    maxRetries: int
    # Attempts before this one
    attemptNumber: int
    createdAt: "Timestamp"
    # Data of the latest checkpoint of any earlier attempt, or null
    checkpoint: Any
    # Number of the attempt that an ack starts, from 1
    attempt: int
    # Opaque; sent back as `x-delivery-token`, it makes calls of a worker that lost the job
    # change nothing
    deliveryToken: str


class _CompleteOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["complete"]


class CompleteOutcome(_CompleteOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]
    # Any JSON value. Default: `null`
    result: Any


class Copy(TypedDict, total=False):
    # Another payload; default that of the job
    payload: Optional[Dict[str, Any]]


class _CreateJobRequired(TypedDict):
    # Well-formed Unicode
    name: str


class CreateJob(_CreateJobRequired, total=False):
    # Data for the worker. Default: `null`
    payload: Optional[Dict[str, Any]]
    # Attempts after the first; each failure or timeout of an attempt uses one. Default: `3`
    maxRetries: Optional[int]
    # Execution window: how long an attempt may take between two heartbeats. Default: `300`
    timeoutSeconds: Optional[float]
    # Default: `null`
    callbackUrl: Optional[str]
    # Default: `null`
    callbackHeaders: Optional[Dict[str, str]]
    # Default: `null`
    callbackOn: Optional[List["CreateJobCallbackOn"]]
    # Default: `null`
    unique: Optional["UniqueRequest"]
    # Words by which jobs are found; no tag twice. Default: `null`
    tags: Optional[List[str]]
    # Not before this time, ISO 8601 with a time zone; a time in the past means now. Default:
    # `null`
    scheduledFor: Optional[str]
    # The same, in seconds from now; not together with `scheduledFor`. Default: `null`
    delaySeconds: Optional[float]
    # Default: `null`
    retry: Optional["RetryRequest"]
    # How long one attempt may take; heartbeats do not extend it. Default: `null`
    maxRunSeconds: Optional[float]
    # How long the job may wait for its first ack, from the moment it can be claimed; then it is
    # dead. Default: `null`
    startWithinSeconds: Optional[float]
    # Head start in seconds: the job stands in the queue as if it had been created so much
    # earlier. Default: `0`
    priority: Optional[int]


class _ErrorBodyRequired(TypedDict):
    # Message for people
    error: str
    # Code for programs
    code: "ErrorCode"


class ErrorBody(_ErrorBodyRequired, total=False):
    # Status the job has now; on every 409
    jobStatus: "JobStatus"
    # What happened before, when that is known; on a 409 of an ack
    hint: str
    # Job that has the unique key; only with `JOB_NOT_UNIQUE`
    jobId: str
    # Jobs of a list that were created or found before it was refused; absent for 0
    stored: int
    # Only when several fields are wrong, or a field of a job in a list
    details: List["FaultDetail"]


class _EventOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["event"]


class EventOutcome(_EventOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]
    # Any JSON value. Default: `null`
    data: Any


class _FailOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["fail"]
    # Reason of the failure, for people or for programs
    error: Union[str, Dict[str, Any]]


class FailOutcome(_FailOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]
    # false ends the job: it is dead, whatever retries it has left. Default: `true`
    retryable: Optional[bool]
    # Delay before the next attempt, instead of that of `retry`. Default: `null`
    retryAfterSeconds: Optional[float]


class FaultDetail(TypedDict):
    # Path into the request, e.g. `subProgress.build.percent`
    path: str
    # Full sentence that starts with the path
    message: str


class _JobRequired(TypedDict):
    # 28 characters; not guessable
    id: str
    spaceId: str
    name: str
    payload: Optional[Dict[str, Any]]
    status: "JobStatus"
    maxRetries: int
    # Attempts that have started: 0 at creation, one more at each ack, one less at the release
    # of a running job
    attemptNumber: int
    # Execution window: how long an attempt may take between two heartbeats
    timeoutSeconds: float
    # Null while pending, also between two attempts. ISO 8601, UTC, milliseconds
    deliveredAt: Optional[str]
    # Null until the attempt is acked. ISO 8601, UTC, milliseconds
    startedAt: Optional[str]
    # Null unless the status is completed. ISO 8601, UTC, milliseconds
    completedAt: Optional[str]
    # Result of the worker; null until completion
    result: Any
    createdAt: "Timestamp"
    # Time of the latest event or keepalive; it does not change after the job has ended
    updatedAt: "Timestamp"
    callbackUrl: Optional[str]
    callbackHeaders: Optional[Dict[str, str]]


class Job(_JobRequired, total=False):
    # Error of the latest attempt that failed; absent without one
    error: Union[str, Dict[str, Any]]
    # Latest report of any attempt; absent before the first
    progress: "Progress"
    # Last time for which the job waits or waited; absent for one that never had to
    scheduledFor: "Timestamp"
    # Delays between attempts; absent without any
    retry: "Retry"
    # How long one attempt may take; absent without a limit
    maxRunSeconds: float
    # How long the job may wait for its first ack; absent without a limit
    startWithinSeconds: float
    # Head start in seconds; absent without one
    priority: int
    # Of the worker that has the job, when its poll named it
    workerId: str
    # Job of which this one is a copy; absent for one that is none
    copyOf: str
    # Absent for a job without a unique key
    unique: "Unique"
    # Absent for a job without tags
    tags: List[str]
    # Ends after which the callback is sent; absent for completed and dead
    callbackOn: List["CreateJobCallbackOn"]
    # URL of the stream of the job; only in the response to its creation, and only with
    # `COMPAT=emit`
    realtimeUrl: str


class JobEvent(TypedDict):
    # `<jobId>.<seq>`; seq is dense, from 1, per job
    id: str
    # 28 characters; not guessable
    jobId: str
    spaceId: str
    type: "JobEventType"
    # Data of the event; null for an event without data
    data: Any
    createdAt: "Timestamp"


class _JobSummaryRequired(TypedDict):
    # 28 characters; not guessable
    id: str
    spaceId: str
    name: str
    status: "JobStatus"
    createdAt: "Timestamp"


class JobSummary(_JobSummaryRequired, total=False):
    # URL of the stream of the job; only in the response to its creation, and only with
    # `COMPAT=emit`
    realtimeUrl: str


class _JobWithEventsRequired(TypedDict):
    # 28 characters; not guessable
    id: str
    spaceId: str
    name: str
    payload: Optional[Dict[str, Any]]
    status: "JobStatus"
    maxRetries: int
    # Attempts that have started: 0 at creation, one more at each ack, one less at the release
    # of a running job
    attemptNumber: int
    # Execution window: how long an attempt may take between two heartbeats
    timeoutSeconds: float
    # Null while pending, also between two attempts. ISO 8601, UTC, milliseconds
    deliveredAt: Optional[str]
    # Null until the attempt is acked. ISO 8601, UTC, milliseconds
    startedAt: Optional[str]
    # Null unless the status is completed. ISO 8601, UTC, milliseconds
    completedAt: Optional[str]
    # Result of the worker; null until completion
    result: Any
    createdAt: "Timestamp"
    # Time of the latest event or keepalive; it does not change after the job has ended
    updatedAt: "Timestamp"
    callbackUrl: Optional[str]
    callbackHeaders: Optional[Dict[str, str]]
    # Oldest first. A whole history begins with `created`; absent with `events=0`
    events: List["JobEvent"]


class JobWithEvents(_JobWithEventsRequired, total=False):
    # Error of the latest attempt that failed; absent without one
    error: Union[str, Dict[str, Any]]
    # Latest report of any attempt; absent before the first
    progress: "Progress"
    # Last time for which the job waits or waited; absent for one that never had to
    scheduledFor: "Timestamp"
    # Delays between attempts; absent without any
    retry: "Retry"
    # How long one attempt may take; absent without a limit
    maxRunSeconds: float
    # How long the job may wait for its first ack; absent without a limit
    startWithinSeconds: float
    # Head start in seconds; absent without one
    priority: int
    # Of the worker that has the job, when its poll named it
    workerId: str
    # Job of which this one is a copy; absent for one that is none
    copyOf: str
    # Absent for a job without a unique key
    unique: "Unique"
    # Absent for a job without tags
    tags: List[str]
    # Ends after which the callback is sent; absent for completed and dead
    callbackOn: List["CreateJobCallbackOn"]
    # URL of the stream of the job; only in the response to its creation, and only with
    # `COMPAT=emit`
    realtimeUrl: str


class _KeepaliveOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["keepalive"]


class KeepaliveOutcome(_KeepaliveOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]


class Kill(TypedDict, total=False):
    # Reason, for the history. Default: `null`
    reason: Optional[str]


class _KnownJobRequired(TypedDict):
    # 28 characters; not guessable
    id: str
    name: str
    status: "JobStatus"
    createdAt: "Timestamp"


class KnownJob(_KnownJobRequired, total=False):
    # URL of the stream of the job; only in the response to its creation, and only with
    # `COMPAT=emit`
    realtimeUrl: str


class LatestProgress(TypedDict):
    # 28 characters; not guessable
    jobId: str
    # Null before the first report
    progress: Optional["Progress"]
    # When it was reported; null before the first report. ISO 8601, UTC, milliseconds
    timestamp: Optional[str]


class _ListedJobRequired(TypedDict):
    # 28 characters; not guessable
    id: str
    spaceId: str
    name: str
    payload: Optional[Dict[str, Any]]
    status: "JobStatus"
    maxRetries: int
    # Attempts that have started: 0 at creation, one more at each ack, one less at the release
    # of a running job
    attemptNumber: int
    # Execution window: how long an attempt may take between two heartbeats
    timeoutSeconds: float
    # Null while pending, also between two attempts. ISO 8601, UTC, milliseconds
    deliveredAt: Optional[str]
    # Null until the attempt is acked. ISO 8601, UTC, milliseconds
    startedAt: Optional[str]
    # Null unless the status is completed. ISO 8601, UTC, milliseconds
    completedAt: Optional[str]
    # Result of the worker; null until completion
    result: Any
    createdAt: "Timestamp"
    # Time of the latest event or keepalive; it does not change after the job has ended
    updatedAt: "Timestamp"


class ListedJob(_ListedJobRequired, total=False):
    # Error of the latest attempt that failed; absent without one
    error: Union[str, Dict[str, Any]]
    # Latest report of any attempt; absent before the first
    progress: "Progress"
    # Last time for which the job waits or waited; absent for one that never had to
    scheduledFor: "Timestamp"
    # Delays between attempts; absent without any
    retry: "Retry"
    # How long one attempt may take; absent without a limit
    maxRunSeconds: float
    # How long the job may wait for its first ack; absent without a limit
    startWithinSeconds: float
    # Head start in seconds; absent without one
    priority: int
    # Of the worker that has the job, when its poll named it
    workerId: str
    # Job of which this one is a copy; absent for one that is none
    copyOf: str
    # Absent for a job without a unique key
    unique: "Unique"
    # Absent for a job without tags
    tags: List[str]


class LogEntry(TypedDict):
    # `<jobId>.<seq>`
    id: str
    # Dense, from 1, per job; never used again when an entry is dropped
    seq: int
    level: "LogEntryLevel"
    message: str
    # Part of the worker that wrote it, as the worker names it
    source: str
    # Further data of the worker
    metadata: Dict[str, Any]
    # Time at which it happened, by the clock of the worker
    loggedAt: "Timestamp"
    # Time of storage
    createdAt: "Timestamp"


class _LogEntryFieldsRequired(TypedDict):
    message: str


class LogEntryFields(_LogEntryFieldsRequired, total=False):
    # Default: `info`. `warning` is stored as `warn`, `critical` as `fatal`. Case-insensitive
    level: Optional["LogEntryFieldsLevel"]
    # Time at which it happened, with a `T` or a blank. Default: the time of storage
    timestamp: Optional[str]
    # Part of the worker that wrote it. Default: `worker`
    source: Optional[str]
    metadata: Optional[Dict[str, Any]]


class LogsPage(TypedDict):
    # Ascending by seq
    logs: List["LogEntry"]
    cursor: "LogsPageCursor"


class LogsPageCursor(TypedDict):
    mode: "LogsPageCursorMode"
    # Seq of the first entry of the page; on an empty page the requested bound, or 0 for
    # `latest`
    oldestSeq: int
    # Seq of the last entry of the page; on an empty page as `oldestSeq`
    newestSeq: int
    # Whether more matching entries exist in the direction of paging, or may exist: a search
    # that stopped early has read up to the bound in that direction
    hasMore: bool


class NameStats(TypedDict):
    name: str
    # Jobs of any status
    total: int
    pending: int
    # How long its next job has been pending, with milliseconds; null without a pending job
    oldestPendingAgeSeconds: Optional[float]


class _OperationRequired(TypedDict):
    id: str
    spaceId: str
    action: "OperationRequestAction"
    filter: "OperationFilter"
    status: "OperationStatus"
    # Jobs that were examined
    looked: int
    # Jobs that were changed; with `dryRun`, that would be
    changed: int
    # Jobs that matched, but were no longer in that status, or whose unique key is taken
    skipped: int
    # Jobs that are not examined yet
    left: int
    startedAt: "Timestamp"
    # ISO 8601, UTC, milliseconds
    finishedAt: Optional[str]


class Operation(_OperationRequired, total=False):
    limit: int
    # Only when true
    dryRun: bool
    reason: str
    delaySeconds: float


class _OperationFilterRequired(TypedDict):
    status: List["JobStatus"]


# As in the request
class OperationFilter(_OperationFilterRequired, total=False):
    names: List[str]
    tags: List[str]
    createdAfter: "Timestamp"
    createdBefore: "Timestamp"
    q: str
    ids: List[str]


class _OperationFilterRequestRequired(TypedDict):
    # Only jobs with one of these statuses, in each of which the action must be possible
    status: Union["JobStatus", List["JobStatus"]]


class OperationFilterRequest(_OperationFilterRequestRequired, total=False):
    # Only jobs with one of these names
    names: List[str]
    # Only jobs with all of these tags
    tags: List[str]
    # Only these jobs
    ids: List[str]
    # Only jobs created at this time or later, ISO 8601 with a time zone
    createdAfter: str
    # Only jobs created before this time, ISO 8601 with a time zone
    createdBefore: str
    # Only jobs whose payload, result or error, as JSON without blanks, contains this text in
    # upper or lower case
    q: str


class _OperationRequestRequired(TypedDict):
    action: "OperationRequestAction"
    filter: "OperationFilterRequest"


class OperationRequest(_OperationRequestRequired, total=False):
    # Maximum number of jobs to change; default: all. Default: `null`
    limit: Optional[int]
    # Only count, in `changed`, the jobs that it would change. Default: `false`
    dryRun: Optional[bool]
    # Reason, shown with the operation; of a kill also in the history of each job. Default:
    # `null`
    reason: Optional[str]
    # When the jobs become claimable; for requeue and reschedule. Default: `null`
    delaySeconds: Optional[float]


class Pause(TypedDict, total=False):
    # Names of jobs; without them, the whole space. Default: `null`
    names: Optional[List[str]]


class Poll(TypedDict, total=False):
    # Jobs to claim; above 50 is served as 50. Default: `1`
    count: Optional[int]
    # Names of jobs to claim; an empty list means any name
    types: Optional[List[str]]
    # Used only without `types`
    type: Optional[Union[str, List[str]]]
    # Used only without `types` and `type`
    names: Optional[List[str]]
    # Used only without the other three fields
    name: Optional[Union[str, List[str]]]
    # How long to wait for the first job while none is pending; above 20 is served as 20.
    # Default: `0`
    waitSeconds: Optional[float]
    # Outcomes of other jobs of the space, settled first
    settle: Optional[List["Outcome"]]
    # Ack the jobs at once: their attempts start, without a delivery window. Needs the scope
    # jobs:ack. Default: `false`
    autoAck: Optional[bool]
    # Delivery window of the jobs of this poll; default that of the service. Default: `null`
    ackWithinSeconds: Optional[int]
    # Shown on the jobs while their attempts last. Default: `null`
    workerId: Optional[str]


class _PolledJobsRequired(TypedDict):
    # Oldest first; empty without a pending job
    jobs: List["ClaimedJob"]


class PolledJobs(_PolledJobsRequired, total=False):
    # In the order of `settle`; absent without it
    settled: List["Settled"]


class _ProgressRequired(TypedDict):
    percent: float
    message: str


class Progress(_ProgressRequired, total=False):
    # Stages by name
    subProgress: Dict[str, "ProgressSubProgressValue"]


class _ProgressOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["progress"]
    percent: float
    message: str


class ProgressOutcome(_ProgressOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]
    subProgress: Optional[Dict[str, "ProgressOutcomeSubProgressValue"]]


class _ProgressOutcomeSubProgressValueRequired(TypedDict):
    percent: float


class ProgressOutcomeSubProgressValue(_ProgressOutcomeSubProgressValueRequired, total=False):
    message: Optional[str]


class _ProgressSubProgressValueRequired(TypedDict):
    percent: float


class ProgressSubProgressValue(_ProgressSubProgressValueRequired, total=False):
    message: str


class Release(TypedDict, total=False):
    # Reason, for the history. Default: `null`
    reason: Optional[str]
    # Minimum seconds to wait first. Default: `null`
    delaySeconds: Optional[float]


class _ReleaseOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["release"]


class ReleaseOutcome(_ReleaseOutcomeRequired, total=False):
    # As the header `x-delivery-token` of the other calls. Default: `null`
    deliveryToken: Optional[str]
    # Reason, for the history. Default: `null`
    reason: Optional[str]
    # Minimum seconds to wait first. Default: `null`
    delaySeconds: Optional[float]


class Requeue(TypedDict, total=False):
    # Minimum seconds to wait first. Default: `null`
    delaySeconds: Optional[float]


class Reschedule(TypedDict, total=False):
    # Not before this time, ISO 8601 with a time zone; a time in the past means now. Default:
    # `null`
    scheduledFor: Optional[str]
    # The same, in seconds from now; not together with `scheduledFor`. Default: `null`
    delaySeconds: Optional[float]
    # Another head start, in seconds. Default: `null`
    priority: Optional[int]


class _RetryRequired(TypedDict):
    delaySeconds: Union[float, List[float]]


class Retry(_RetryRequired, total=False):
    factor: float
    maxDelaySeconds: float
    jitter: float


class _RetryRequestRequired(TypedDict):
    # Delay before each further attempt, or a delay for each, of which the last repeats; 0 for
    # none
    delaySeconds: Union[float, List[float]]


class RetryRequest(_RetryRequestRequired, total=False):
    # Factor by which each delay is longer than the previous one; default 1; not with a list of
    # delays. Default: `null`
    factor: Optional[float]
    # Longest delay, after factor and jitter; default 604800. Default: `null`
    maxDelaySeconds: Optional[float]
    # Share of a delay by which it is shortened or lengthened at random. Default: `0.2`
    jitter: Optional[float]


class Settle(TypedDict):
    outcomes: List["Outcome"]


class SettleResults(TypedDict):
    results: List["Settled"]


class _SettledRequired(TypedDict):
    # 28 characters; not guessable
    jobId: str
    # Without success, the fields of an error follow
    success: bool


class Settled(_SettledRequired, total=False):
    # Message for people
    error: str
    # Code for programs
    code: "ErrorCode"
    # Status the job has now; on every 409
    jobStatus: "JobStatus"
    # What happened before, when that is known; on a 409 of an ack
    hint: str
    # Jobs of a list that were created or found before it was refused; absent for 0
    stored: int


class Space(TypedDict):
    spaceId: str
    jobs: "SpaceJobs"
    # As in `names`, over all names
    oldestPendingAgeSeconds: Optional[float]


class _SpaceJobsRequired(TypedDict):
    pending: int
    delivered: int
    running: int
    completed: int
    dead: int
    killed: int
    total: int


class SpaceJobs(_SpaceJobsRequired, total=False):
    # Absent when it is 0
    scheduled: int


class SpaceList(TypedDict):
    # Spaces that have jobs, in an order that stays
    spaces: List["Space"]
    # For the next page; null when this is the last
    nextCursor: Optional[str]


class _SpaceStatsRequired(TypedDict):
    spaceId: str
    # Moment of the count
    timestamp: "Timestamp"
    jobs: "SpaceStatsJobs"
    # As in `names`, over all names
    oldestPendingAgeSeconds: Optional[float]
    # The requested names, in that order; otherwise the names with the most jobs, the largest
    # first
    names: List["NameStats"]
    # Names with jobs that are not in `names`
    namesLeftOut: int


class SpaceStats(_SpaceStatsRequired, total=False):
    # true for the whole space, or the names whose jobs are paused; absent when nothing is
    paused: Union[bool, List[str]]


class _SpaceStatsJobsRequired(TypedDict):
    pending: int
    delivered: int
    running: int
    completed: int
    dead: int
    killed: int
    total: int


class SpaceStatsJobs(_SpaceStatsJobsRequired, total=False):
    # Absent when it is 0
    scheduled: int


class StreamToken(TypedDict):
    # To be sent as `?token=` of a stream
    token: str
    # When it expires: at the latest when the API key does
    expiresAt: "Timestamp"


class _StreamTokenRequestRequired(TypedDict):
    # `jobs:read:progress` shows only the progress of jobs
    scope: "StreamTokenRequestScope"


# Exactly one of `jobIds`, `tag` and `spaceId` is required
class StreamTokenRequest(_StreamTokenRequestRequired, total=False):
    # Jobs whose streams it opens. Default: `null`
    jobIds: Optional[List[str]]
    # It opens the streams of jobs with this tag, and those of spaces for these jobs. Default:
    # `null`
    tag: Optional[str]
    # Space whose stream it opens, and the streams of whose jobs. Default: `null`
    spaceId: Optional[str]
    # How long it is valid; default 900. Default: `900`
    expiresInSeconds: Optional[int]


class _UniqueRequired(TypedDict):
    key: str


class Unique(_UniqueRequired, total=False):
    until: "UniqueRequestUntil"
    onConflict: "UniqueRequestOnConflict"
    ttlSeconds: int


class _UniqueRequestRequired(TypedDict):
    # Compared among the jobs of this name in the space
    key: str


class UniqueRequest(_UniqueRequestRequired, total=False):
    # When the key is free again: when the job has ended, when it was acked, or after
    # `ttlSeconds`. Default: `"ended"`
    until: Optional["UniqueRequestUntil"]
    # Return the other job, refuse with `JOB_NOT_UNIQUE`, or replace the other job while it is
    # pending. Default: `"return"`
    onConflict: Optional["UniqueRequestOnConflict"]
    # With `until: expired`: how long the key is occupied, from the creation of the job.
    # Default: `null`
    ttlSeconds: Optional[int]


CreateJobCallbackOn = Literal["completed", "dead", "killed"]


ErrorCode = Literal["INVALID_REQUEST", "UNAUTHENTICATED", "FORBIDDEN", "JOB_NOT_FOUND", "KEY_NOT_FOUND", "OPERATION_NOT_FOUND", "NOT_FOUND", "METHOD_NOT_ALLOWED", "REQUEST_TIMEOUT", "JOB_NOT_PENDING", "JOB_NOT_DELIVERED", "JOB_NOT_RUNNING", "DELIVERY_LOST", "JOB_KILLED", "JOB_ENDED", "JOB_NOT_DEAD", "JOB_NOT_ENDED", "NO_CALLBACK", "JOB_NOT_UNIQUE", "TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "IDEMPOTENCY_MISMATCH", "UPGRADE_REQUIRED", "TOO_MANY_STREAMS", "SPACE_FULL", "TOO_MANY_WAITERS", "TOO_MANY_KEYS", "TOO_MANY_OPERATIONS", "RATE_LIMITED", "INTERNAL", "UNAVAILABLE", "OVERLOADED", "STORAGE_FULL", "STORAGE_UNSAFE"]


JobEventType = Literal["created", "delivered", "acked", "progress", "checkpoint", "event", "completed", "retried", "released", "dead", "killed", "delivery_timeout", "replaced", "ready", "rescheduled", "requeued", "callback_sent", "callback_failed"]


# Status of the job
JobStatus = Literal["scheduled", "pending", "delivered", "running", "completed", "dead", "killed"]


LogEntryFieldsLevel = Literal["trace", "debug", "info", "warn", "error", "fatal", "warning", "critical"]


LogEntryLevel = Literal["trace", "debug", "info", "warn", "error", "fatal"]


LogsPageCursorMode = Literal["after", "before", "latest"]


OperationRequestAction = Literal["requeue", "kill", "delete", "reschedule"]


OperationStatus = Literal["running", "done", "cancelled"]


Outcome = Union["AckOutcome", "KeepaliveOutcome", "ProgressOutcome", "CheckpointOutcome", "EventOutcome", "CompleteOutcome", "FailOutcome", "ReleaseOutcome"]


StreamTokenRequestScope = Literal["jobs:read", "jobs:read:progress"]


# ISO 8601, UTC, milliseconds
Timestamp = str


UniqueRequestOnConflict = Literal["return", "reject", "replace"]


UniqueRequestUntil = Literal["ended", "started", "expired"]

#: Types of the events that tell a worker that it no longer has its job.
JOB_LOST_EVENTS = ("dead", "delivery_timeout", "killed", "released", "retried")
