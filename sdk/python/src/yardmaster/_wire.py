# Types of the requests and responses of Yardmaster, made by scripts/sdk/wire.mjs. Do not edit.
# ruff: noqa
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class _AckOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["ack"]


class AckOutcome(_AckOutcomeRequired, total=False):
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
    deliveryToken: Optional[str]


class AppendedLogs(TypedDict):
    # Always true
    success: bool
    # Number of entries stored
    inserted: int
    # `seq` of the first entry of the batch
    fromSeq: int
    # `seq` of the last entry of the batch
    toSeq: int


class _CheckpointOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["checkpoint"]


class CheckpointOutcome(_CheckpointOutcomeRequired, total=False):
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
    deliveryToken: Optional[str]
    # Any JSON value. Default: `null`
    data: Any


class ClaimedJob(TypedDict):
    # Unguessable ID of 28 characters
    id: str
    name: str
    payload: Optional[Dict[str, Any]]
    # Execution window: maximum number of seconds between two heartbeats
    timeoutSeconds: float
    maxRetries: int
    # Number of earlier attempts
    attemptNumber: int
    createdAt: "Timestamp"
    # Data of the latest checkpoint of any earlier attempt; null if there is none
    checkpoint: Any
    # Number of this attempt, starting at 1
    attempt: int
    # Opaque token of this delivery. Calls that send it as `x-delivery-token` have no effect
    # once the worker has lost the job
    deliveryToken: str


class _CompleteOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["complete"]


class CompleteOutcome(_CompleteOutcomeRequired, total=False):
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
    deliveryToken: Optional[str]
    # Any JSON value. Default: `null`
    result: Any


class Copy(TypedDict, total=False):
    # Payload of the copy. Default: that of the job
    payload: Optional[Dict[str, Any]]


class _CreateJobRequired(TypedDict):
    # Kind of work, such as `resize`; workers poll for names
    name: str


class CreateJob(_CreateJobRequired, total=False):
    # Data for the worker. Default: `null`
    payload: Optional[Dict[str, Any]]
    # Number of retries after the first attempt; each failed or timed-out attempt uses one.
    # Default: `3`
    maxRetries: Optional[int]
    # Execution window: maximum number of seconds between two heartbeats. Default: `300`
    timeoutSeconds: Optional[float]
    # URL to send a POST request to when the job ends; http or https, without a username or
    # password. Default: `null`
    callbackUrl: Optional[str]
    # Headers to add to the callback. Default: `null`
    callbackHeaders: Optional[Dict[str, str]]
    # Outcomes that trigger the callback; null for `completed` and `dead`. Default: `null`
    callbackOn: Optional[List["CreateJobCallbackOn"]]
    # Unique key: create the job only if no other job holds it. Default: `null`
    unique: Optional["UniqueRequest"]
    # Labels to find and filter jobs by; duplicates are refused. Default: `null`
    tags: Optional[List[str]]
    # Delays between attempts; null to retry without a delay. Default: `null`
    retry: Optional["RetryRequest"]
    # Maximum duration of an attempt in seconds; heartbeats do not extend it. Default: `null`
    maxRunSeconds: Optional[float]
    # Maximum number of seconds from when the job becomes claimable to its first ack; if
    # exceeded, the job is dead. Default: `null`
    startWithinSeconds: Optional[float]
    # Head start in the queue in seconds: the job is treated as if it had been created this much
    # earlier. Default: `0`
    priority: Optional[int]
    # Earliest time to run the job (ISO 8601 with a time zone); a time in the past means now.
    # Default: `null`
    scheduledFor: Optional[str]
    # Minimum number of seconds until the job becomes claimable; cannot be combined with
    # `scheduledFor`. Default: `null`
    delaySeconds: Optional[float]


class _DeclaredScheduleRequired(TypedDict):
    # ID of the schedule
    id: str
    # The jobs to create, as in Create Job without `scheduledFor` and `delaySeconds`
    job: "ScheduledJob"


class DeclaredSchedule(_DeclaredScheduleRequired, total=False):
    # When to run: `minute hour day-of-month month day-of-week`, or `@hourly`, `@daily`,
    # `@weekly`, `@monthly` or `@yearly`. If both day fields are restricted, a day that matches
    # either one counts. Default: `null`
    cron: Optional[str]
    # Interval instead of `cron`. The first run is at `startsAt`; without it, one interval after
    # the schedule is created. Default: `null`
    everySeconds: Optional[float]
    # IANA time zone of `cron`, such as `Europe/Berlin`. Default: `"UTC"`
    timezone: Optional[str]
    # What to do if the last job has not ended: `skip` this run, `allow` a second job, or
    # `replace` the last job by killing it. Default: `"skip"`
    overlap: Optional["ScheduleOverlap"]
    # What to do after missed times: create `once` one job for the latest, or `skip` them all. A
    # time is missed if a later one is due as well, or if it is more than 60 seconds late.
    # Default: `"once"`
    missed: Optional["ScheduleMissed"]
    # Missed times that are older than this are always skipped. Default: `86400`
    missedWithinSeconds: Optional[float]
    # Run each time up to this much later, at most until the next time; the delay depends on the
    # ID and the time. Default: `0`
    spreadSeconds: Optional[float]
    # Earliest run (ISO 8601 with a time zone). Default: `null`
    startsAt: Optional[str]
    # Latest run (ISO 8601 with a time zone). Default: `null`
    endsAt: Optional[str]
    # Whether to create no jobs for now. Default: unchanged; false for a new schedule
    paused: Optional[bool]
    # Who declares the schedule, such as the name of a deployment. Others cannot change it.
    # Default: `null`
    owner: Optional[str]


class _ErrorBodyRequired(TypedDict):
    # Human-readable message; may change
    error: str
    # Stable code to branch on
    code: "ErrorCode"


class ErrorBody(_ErrorBodyRequired, total=False):
    # Current status of the job; on every 409 except `SCHEDULE_OWNED`
    jobStatus: "JobStatus"
    # What happened to the job earlier, if known; on a 409 of an ack
    hint: str
    # Job that holds the unique key, or the last job of the schedule; with `JOB_NOT_UNIQUE` and
    # `SCHEDULE_RUNNING`
    jobId: str
    # Number of jobs, from the start of the list, that were created or found before the error;
    # absent if 0
    stored: int
    # All faults, if several fields are invalid or the field belongs to a job in a list
    details: List["FaultDetail"]


class _EventOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["event"]


class EventOutcome(_EventOutcomeRequired, total=False):
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
    deliveryToken: Optional[str]
    # Any JSON value. Default: `null`
    data: Any


class _FailOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["fail"]
    # Why the attempt failed: a message, or an object
    error: Union[str, Dict[str, Any]]


class FailOutcome(_FailOutcomeRequired, total=False):
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
    deliveryToken: Optional[str]
    # Whether the job may be retried; with `false` it is dead, even if it has retries left.
    # Default: `true`
    retryable: Optional[bool]
    # Seconds to wait before the next attempt, instead of the delay in `retry`. Default: `null`
    retryAfterSeconds: Optional[float]


class FaultDetail(TypedDict):
    # Path of the field in the request, such as `subProgress.build.percent`
    path: str
    # What is wrong, as a sentence that starts with the path
    message: str


class _JobRequired(TypedDict):
    # Unguessable ID of 28 characters
    id: str
    spaceId: str
    name: str
    payload: Optional[Dict[str, Any]]
    status: "JobStatus"
    maxRetries: int
    # Number of attempts started: 0 at creation, plus 1 at each ack, minus 1 when a running job
    # is released
    attemptNumber: int
    # Execution window: maximum number of seconds between two heartbeats
    timeoutSeconds: float
    # When the job was last claimed; null while it is pending or scheduled. ISO 8601 timestamp
    # in UTC, with milliseconds
    deliveredAt: Optional[str]
    # When the current attempt was acked; null until then. ISO 8601 timestamp in UTC, with
    # milliseconds
    startedAt: Optional[str]
    # When the job was completed; null in any other status. ISO 8601 timestamp in UTC, with
    # milliseconds
    completedAt: Optional[str]
    # Result reported by the worker; null until the job is completed
    result: Any
    createdAt: "Timestamp"
    # Time of the latest event or heartbeat; does not change after the job has ended
    updatedAt: "Timestamp"
    callbackUrl: Optional[str]
    callbackHeaders: Optional[Dict[str, str]]


class Job(_JobRequired, total=False):
    # Error of the latest failed attempt; absent if none failed
    error: Union[str, Dict[str, Any]]
    # Latest progress report of any attempt; absent before the first
    progress: "Progress"
    # Time that the job is, or was last, scheduled for; absent if it never was
    scheduledFor: "Timestamp"
    # Delays between attempts; absent if there are none
    retry: "Retry"
    # Maximum duration of an attempt in seconds; absent without a limit
    maxRunSeconds: float
    # Maximum number of seconds until the first ack; absent without a limit
    startWithinSeconds: float
    # Head start in the queue in seconds; absent if it is 0
    priority: int
    # ID of the worker that has the job; absent unless its poll set one
    workerId: str
    # ID of the job that this one is a copy of; absent if it is not a copy
    copyOf: str
    # Unique key of the job; absent without one
    unique: "Unique"
    # ID of the schedule that created the job; absent for other jobs
    scheduleId: str
    # Tags of the job; absent without tags
    tags: List[str]
    # Outcomes that trigger the callback; absent for the default, `completed` and `dead`
    callbackOn: List["CreateJobCallbackOn"]
    # URL of the job stream; only in create responses, and only if the service runs with
    # `COMPAT=emit`
    realtimeUrl: str


class JobEvent(TypedDict):
    # `<jobId>.<seq>`; `seq` counts the events of the job from 1, without gaps
    id: str
    # Unguessable ID of 28 characters
    jobId: str
    spaceId: str
    type: "JobEventType"
    # Data of the event; null if it has none
    data: Any
    createdAt: "Timestamp"


class _JobSummaryRequired(TypedDict):
    # Unguessable ID of 28 characters
    id: str
    spaceId: str
    name: str
    status: "JobStatus"
    createdAt: "Timestamp"


class JobSummary(_JobSummaryRequired, total=False):
    # URL of the job stream; only in create responses, and only if the service runs with
    # `COMPAT=emit`
    realtimeUrl: str


class _JobWithEventsRequired(TypedDict):
    # Unguessable ID of 28 characters
    id: str
    spaceId: str
    name: str
    payload: Optional[Dict[str, Any]]
    status: "JobStatus"
    maxRetries: int
    # Number of attempts started: 0 at creation, plus 1 at each ack, minus 1 when a running job
    # is released
    attemptNumber: int
    # Execution window: maximum number of seconds between two heartbeats
    timeoutSeconds: float
    # When the job was last claimed; null while it is pending or scheduled. ISO 8601 timestamp
    # in UTC, with milliseconds
    deliveredAt: Optional[str]
    # When the current attempt was acked; null until then. ISO 8601 timestamp in UTC, with
    # milliseconds
    startedAt: Optional[str]
    # When the job was completed; null in any other status. ISO 8601 timestamp in UTC, with
    # milliseconds
    completedAt: Optional[str]
    # Result reported by the worker; null until the job is completed
    result: Any
    createdAt: "Timestamp"
    # Time of the latest event or heartbeat; does not change after the job has ended
    updatedAt: "Timestamp"
    callbackUrl: Optional[str]
    callbackHeaders: Optional[Dict[str, str]]
    # History of the job, oldest event first, starting with `created`; absent with `events=0`
    events: List["JobEvent"]


class JobWithEvents(_JobWithEventsRequired, total=False):
    # Error of the latest failed attempt; absent if none failed
    error: Union[str, Dict[str, Any]]
    # Latest progress report of any attempt; absent before the first
    progress: "Progress"
    # Time that the job is, or was last, scheduled for; absent if it never was
    scheduledFor: "Timestamp"
    # Delays between attempts; absent if there are none
    retry: "Retry"
    # Maximum duration of an attempt in seconds; absent without a limit
    maxRunSeconds: float
    # Maximum number of seconds until the first ack; absent without a limit
    startWithinSeconds: float
    # Head start in the queue in seconds; absent if it is 0
    priority: int
    # ID of the worker that has the job; absent unless its poll set one
    workerId: str
    # ID of the job that this one is a copy of; absent if it is not a copy
    copyOf: str
    # Unique key of the job; absent without one
    unique: "Unique"
    # ID of the schedule that created the job; absent for other jobs
    scheduleId: str
    # Tags of the job; absent without tags
    tags: List[str]
    # Outcomes that trigger the callback; absent for the default, `completed` and `dead`
    callbackOn: List["CreateJobCallbackOn"]
    # URL of the job stream; only in create responses, and only if the service runs with
    # `COMPAT=emit`
    realtimeUrl: str


class _KeepaliveOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["keepalive"]


class KeepaliveOutcome(_KeepaliveOutcomeRequired, total=False):
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
    deliveryToken: Optional[str]


class Kill(TypedDict, total=False):
    # Reason, recorded in the history. Default: `null`
    reason: Optional[str]


class _KnownJobRequired(TypedDict):
    # Unguessable ID of 28 characters
    id: str
    name: str
    status: "JobStatus"
    createdAt: "Timestamp"


class KnownJob(_KnownJobRequired, total=False):
    # URL of the job stream; only in create responses, and only if the service runs with
    # `COMPAT=emit`
    realtimeUrl: str


class LatestProgress(TypedDict):
    # Unguessable ID of 28 characters
    jobId: str
    # Latest progress report; null before the first
    progress: Optional["Progress"]
    # When the progress was reported; null before the first report. ISO 8601 timestamp in UTC,
    # with milliseconds
    timestamp: Optional[str]


class _ListedJobRequired(TypedDict):
    # Unguessable ID of 28 characters
    id: str
    spaceId: str
    name: str
    payload: Optional[Dict[str, Any]]
    status: "JobStatus"
    maxRetries: int
    # Number of attempts started: 0 at creation, plus 1 at each ack, minus 1 when a running job
    # is released
    attemptNumber: int
    # Execution window: maximum number of seconds between two heartbeats
    timeoutSeconds: float
    # When the job was last claimed; null while it is pending or scheduled. ISO 8601 timestamp
    # in UTC, with milliseconds
    deliveredAt: Optional[str]
    # When the current attempt was acked; null until then. ISO 8601 timestamp in UTC, with
    # milliseconds
    startedAt: Optional[str]
    # When the job was completed; null in any other status. ISO 8601 timestamp in UTC, with
    # milliseconds
    completedAt: Optional[str]
    # Result reported by the worker; null until the job is completed
    result: Any
    createdAt: "Timestamp"
    # Time of the latest event or heartbeat; does not change after the job has ended
    updatedAt: "Timestamp"


class ListedJob(_ListedJobRequired, total=False):
    # Error of the latest failed attempt; absent if none failed
    error: Union[str, Dict[str, Any]]
    # Latest progress report of any attempt; absent before the first
    progress: "Progress"
    # Time that the job is, or was last, scheduled for; absent if it never was
    scheduledFor: "Timestamp"
    # Delays between attempts; absent if there are none
    retry: "Retry"
    # Maximum duration of an attempt in seconds; absent without a limit
    maxRunSeconds: float
    # Maximum number of seconds until the first ack; absent without a limit
    startWithinSeconds: float
    # Head start in the queue in seconds; absent if it is 0
    priority: int
    # ID of the worker that has the job; absent unless its poll set one
    workerId: str
    # ID of the job that this one is a copy of; absent if it is not a copy
    copyOf: str
    # Unique key of the job; absent without one
    unique: "Unique"
    # ID of the schedule that created the job; absent for other jobs
    scheduleId: str
    # Tags of the job; absent without tags
    tags: List[str]


class LogEntry(TypedDict):
    # `<jobId>.<seq>`
    id: str
    # Number of the entry within the job, from 1 without gaps; never reused
    seq: int
    level: "LogEntryLevel"
    message: str
    # Component of the worker that wrote the entry
    source: str
    # Structured data from the worker
    metadata: Dict[str, Any]
    # When the entry was written, by the clock of the worker
    loggedAt: "Timestamp"
    # When the entry was stored
    createdAt: "Timestamp"


class _LogEntryFieldsRequired(TypedDict):
    message: str


class LogEntryFields(_LogEntryFieldsRequired, total=False):
    # Level (case-insensitive); `warning` is stored as `warn`, `critical` as `fatal`. Default:
    # `info`
    level: Optional["LogEntryFieldsLevel"]
    # When the entry was written (ISO 8601, with a `T` or a space). Default: when it is stored
    timestamp: Optional[str]
    # Component of the worker that wrote the entry. Default: `worker`
    source: Optional[str]
    metadata: Optional[Dict[str, Any]]


class LogsPage(TypedDict):
    # Entries, in ascending order of `seq`
    logs: List["LogEntry"]
    cursor: "LogsPageCursor"


class LogsPageCursor(TypedDict):
    mode: "LogsPageCursorMode"
    # `seq` of the first entry of the page; on an empty page, the requested bound, or 0 if
    # `mode` is `latest`
    oldestSeq: int
    # `seq` of the last entry of the page; on an empty page, the same as `oldestSeq`
    newestSeq: int
    # Whether there are, or may be, more matching entries in this direction. A search may stop
    # early, so keep paging while this is true
    hasMore: bool


class NameStats(TypedDict):
    name: str
    # Number of jobs in any status
    total: int
    pending: int
    # Seconds that the next job in the queue has been pending; null if no job is pending
    oldestPendingAgeSeconds: Optional[float]


class _OperationRequired(TypedDict):
    id: str
    spaceId: str
    action: "OperationRequestAction"
    filter: "OperationFilter"
    status: "OperationStatus"
    # Number of jobs examined
    looked: int
    # Number of jobs changed; with `dryRun`, the number that would be
    changed: int
    # Number of matching jobs whose status had changed, or whose unique key was taken
    skipped: int
    # Number of jobs not examined yet
    left: int
    startedAt: "Timestamp"
    # ISO 8601 timestamp in UTC, with milliseconds
    finishedAt: Optional[str]


class Operation(_OperationRequired, total=False):
    limit: int
    # Absent if false
    dryRun: bool
    reason: str
    delaySeconds: float


class _OperationFilterRequired(TypedDict):
    status: List["JobStatus"]


# Filter of the operation, as in the request
class OperationFilter(_OperationFilterRequired, total=False):
    names: List[str]
    tags: List[str]
    schedule: str
    createdAfter: "Timestamp"
    createdBefore: "Timestamp"
    q: str
    ids: List[str]


class _OperationFilterRequestRequired(TypedDict):
    # Only jobs with one of these statuses. The action must be possible in each of them
    status: Union["JobStatus", List["JobStatus"]]


class OperationFilterRequest(_OperationFilterRequestRequired, total=False):
    # Only jobs with one of these names
    names: List[str]
    # Only jobs with all of these tags
    tags: List[str]
    # Only jobs that this schedule has created
    schedule: str
    # Only these jobs
    ids: List[str]
    # Only jobs created at or after this time (ISO 8601 with a time zone)
    createdAfter: str
    # Only jobs created before this time (ISO 8601 with a time zone)
    createdBefore: str
    # Only jobs whose payload, result or error, written as compact JSON, contains this text
    # (case-insensitive)
    q: str


class _OperationRequestRequired(TypedDict):
    action: "OperationRequestAction"
    filter: "OperationFilterRequest"


class OperationRequest(_OperationRequestRequired, total=False):
    # Maximum number of jobs to change; null for all. Default: `null`
    limit: Optional[int]
    # Whether to only count, in `changed`, the jobs that the operation would change. Default:
    # `false`
    dryRun: Optional[bool]
    # Reason, shown with the operation; for a kill, also in the history of each job. Default:
    # `null`
    reason: Optional[str]
    # Seconds until the jobs become claimable; only for `requeue` and `reschedule`. Default:
    # `null`
    delaySeconds: Optional[float]


class Pause(TypedDict, total=False):
    # Names of jobs; null for the whole space. Default: `null`
    names: Optional[List[str]]


class Poll(TypedDict, total=False):
    # Maximum number of jobs to claim; values above 50 are capped at 50. Default: `1`
    count: Optional[int]
    # Names of the jobs to claim; an empty list means any name
    types: Optional[List[str]]
    # Alias of `types`; ignored if `types` is present
    type: Optional[Union[str, List[str]]]
    # Alias of `types`; ignored if `types` or `type` is present
    names: Optional[List[str]]
    # Alias of `types`; ignored if any of the other three is present
    name: Optional[Union[str, List[str]]]
    # Maximum number of seconds to wait for the first job if none is pending; values above 20
    # are capped at 20. Default: `0`
    waitSeconds: Optional[float]
    # Outcomes of other jobs in the space, to settle before claiming
    settle: Optional[List["Outcome"]]
    # Whether to ack the jobs as they are claimed: their attempts start without a delivery
    # window. Requires the scope `jobs:ack`. Default: `false`
    autoAck: Optional[bool]
    # Delivery window, in seconds, of the jobs claimed by this poll; null for that of the
    # service. Default: `null`
    ackWithinSeconds: Optional[int]
    # ID of the worker, shown on its jobs during their attempts. Default: `null`
    workerId: Optional[str]


class _PolledJobsRequired(TypedDict):
    # Claimed jobs, oldest first; empty if none was pending
    jobs: List["ClaimedJob"]


class PolledJobs(_PolledJobsRequired, total=False):
    # Results in the order of `settle`; absent without `settle`
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
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
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
    # Reason, recorded in the history. Default: `null`
    reason: Optional[str]
    # Minimum number of seconds until the job becomes claimable. Default: `null`
    delaySeconds: Optional[float]


class _ReleaseOutcomeRequired(TypedDict):
    jobId: str
    action: Literal["release"]


class ReleaseOutcome(_ReleaseOutcomeRequired, total=False):
    # Delivery token of the claimed job; works like the header `x-delivery-token`. Default:
    # `null`
    deliveryToken: Optional[str]
    # Reason, recorded in the history. Default: `null`
    reason: Optional[str]
    # Minimum number of seconds until the job becomes claimable. Default: `null`
    delaySeconds: Optional[float]


class Requeue(TypedDict, total=False):
    # Minimum number of seconds until the job becomes claimable. Default: `null`
    delaySeconds: Optional[float]


class Reschedule(TypedDict, total=False):
    # Earliest time to run the job (ISO 8601 with a time zone); a time in the past means now.
    # Default: `null`
    scheduledFor: Optional[str]
    # Minimum number of seconds until the job becomes claimable; cannot be combined with
    # `scheduledFor`. Default: `null`
    delaySeconds: Optional[float]
    # New head start in seconds; null keeps it. Default: `null`
    priority: Optional[int]


class _RetryRequired(TypedDict):
    delaySeconds: Union[float, List[float]]


class Retry(_RetryRequired, total=False):
    factor: float
    maxDelaySeconds: float
    jitter: float


class _RetryRequestRequired(TypedDict):
    # Delay in seconds before each retry; or a list with one delay per retry, the last of which
    # repeats
    delaySeconds: Union[float, List[float]]


class RetryRequest(_RetryRequestRequired, total=False):
    # Multiplier applied to the delay after each retry; null means 1. Not allowed with a list of
    # delays. Default: `null`
    factor: Optional[float]
    # Maximum delay in seconds, after factor and jitter; null means 604800. Default: `null`
    maxDelaySeconds: Optional[float]
    # Random variation of each delay, as a fraction: `0.2` varies it by up to 20% in either
    # direction. Default: `0.2`
    jitter: Optional[float]


class _ScheduleRequired(TypedDict):
    id: str
    spaceId: str
    timezone: str
    # Body of Create Job, without fields at their defaults
    job: Dict[str, Any]
    overlap: "ScheduleOverlap"
    missed: "ScheduleMissed"
    missedWithinSeconds: float
    spreadSeconds: float
    paused: bool
    # Next time, before `spreadSeconds`; null if paused or if none is left. ISO 8601 timestamp
    # in UTC, with milliseconds
    nextAt: Optional[str]
    # Time of the last run that created a job, without runs on demand. ISO 8601 timestamp in
    # UTC, with milliseconds
    lastAt: Optional[str]
    # ID of the last job, including jobs of runs on demand
    lastJobId: Optional[str]
    # Number of times that created a job
    fired: int
    # Number of times that created no job
    skipped: int
    # The latest time that created no job
    lastSkipped: Optional["SkippedTime"]
    createdAt: "Timestamp"


class Schedule(_ScheduleRequired, total=False):
    # Absent with `everySeconds`
    cron: str
    # Absent with `cron`
    everySeconds: float
    startsAt: "Timestamp"
    endsAt: "Timestamp"
    owner: str


class ScheduleList(TypedDict):
    schedules: List["Schedule"]
    # Cursor of the next page; null on the last page
    nextCursor: Optional[str]


class SchedulePause(TypedDict):
    # Whether to create no jobs for now
    paused: bool


class _ScheduleRequestRequired(TypedDict):
    # The jobs to create, as in Create Job without `scheduledFor` and `delaySeconds`
    job: "ScheduledJob"


class ScheduleRequest(_ScheduleRequestRequired, total=False):
    # When to run: `minute hour day-of-month month day-of-week`, or `@hourly`, `@daily`,
    # `@weekly`, `@monthly` or `@yearly`. If both day fields are restricted, a day that matches
    # either one counts. Default: `null`
    cron: Optional[str]
    # Interval instead of `cron`. The first run is at `startsAt`; without it, one interval after
    # the schedule is created. Default: `null`
    everySeconds: Optional[float]
    # IANA time zone of `cron`, such as `Europe/Berlin`. Default: `"UTC"`
    timezone: Optional[str]
    # What to do if the last job has not ended: `skip` this run, `allow` a second job, or
    # `replace` the last job by killing it. Default: `"skip"`
    overlap: Optional["ScheduleOverlap"]
    # What to do after missed times: create `once` one job for the latest, or `skip` them all. A
    # time is missed if a later one is due as well, or if it is more than 60 seconds late.
    # Default: `"once"`
    missed: Optional["ScheduleMissed"]
    # Missed times that are older than this are always skipped. Default: `86400`
    missedWithinSeconds: Optional[float]
    # Run each time up to this much later, at most until the next time; the delay depends on the
    # ID and the time. Default: `0`
    spreadSeconds: Optional[float]
    # Earliest run (ISO 8601 with a time zone). Default: `null`
    startsAt: Optional[str]
    # Latest run (ISO 8601 with a time zone). Default: `null`
    endsAt: Optional[str]
    # Whether to create no jobs for now. Default: unchanged; false for a new schedule
    paused: Optional[bool]
    # Who declares the schedule, such as the name of a deployment. Others cannot change it.
    # Default: `null`
    owner: Optional[str]


class ScheduleRun(TypedDict, total=False):
    # Payload of the job. Default: that of the schedule
    payload: Optional[Dict[str, Any]]


class _ScheduleWithTimesRequired(TypedDict):
    id: str
    spaceId: str
    timezone: str
    # Body of Create Job, without fields at their defaults
    job: Dict[str, Any]
    overlap: "ScheduleOverlap"
    missed: "ScheduleMissed"
    missedWithinSeconds: float
    spreadSeconds: float
    paused: bool
    # Next time, before `spreadSeconds`; null if paused or if none is left. ISO 8601 timestamp
    # in UTC, with milliseconds
    nextAt: Optional[str]
    # Time of the last run that created a job, without runs on demand. ISO 8601 timestamp in
    # UTC, with milliseconds
    lastAt: Optional[str]
    # ID of the last job, including jobs of runs on demand
    lastJobId: Optional[str]
    # Number of times that created a job
    fired: int
    # Number of times that created no job
    skipped: int
    # The latest time that created no job
    lastSkipped: Optional["SkippedTime"]
    createdAt: "Timestamp"
    # The next 5 times, before `spreadSeconds`
    upcoming: List["Timestamp"]


class ScheduleWithTimes(_ScheduleWithTimesRequired, total=False):
    # Absent with `everySeconds`
    cron: str
    # Absent with `cron`
    everySeconds: float
    startsAt: "Timestamp"
    endsAt: "Timestamp"
    owner: str


class _ScheduledJobRequired(TypedDict):
    # Kind of work, such as `resize`; workers poll for names
    name: str


class ScheduledJob(_ScheduledJobRequired, total=False):
    # Data for the worker. Default: `null`
    payload: Optional[Dict[str, Any]]
    # Number of retries after the first attempt; each failed or timed-out attempt uses one.
    # Default: `3`
    maxRetries: Optional[int]
    # Execution window: maximum number of seconds between two heartbeats. Default: `300`
    timeoutSeconds: Optional[float]
    # URL to send a POST request to when the job ends; http or https, without a username or
    # password. Default: `null`
    callbackUrl: Optional[str]
    # Headers to add to the callback. Default: `null`
    callbackHeaders: Optional[Dict[str, str]]
    # Outcomes that trigger the callback; null for `completed` and `dead`. Default: `null`
    callbackOn: Optional[List["CreateJobCallbackOn"]]
    # Default: `null`
    unique: Optional["ScheduledUnique"]
    # Labels to find and filter jobs by; duplicates are refused. Default: `null`
    tags: Optional[List[str]]
    # Default: `null`
    retry: Optional["ScheduledRetry"]
    # Maximum duration of an attempt in seconds; heartbeats do not extend it. Default: `null`
    maxRunSeconds: Optional[float]
    # Maximum number of seconds from when the job becomes claimable to its first ack; if
    # exceeded, the job is dead. Default: `null`
    startWithinSeconds: Optional[float]
    # Head start in the queue in seconds: the job is treated as if it had been created this much
    # earlier. Default: `0`
    priority: Optional[int]


class _ScheduledRetryRequired(TypedDict):
    # Delay in seconds before each retry; or a list with one delay per retry, the last of which
    # repeats
    delaySeconds: Union[float, List[float]]


class ScheduledRetry(_ScheduledRetryRequired, total=False):
    # Multiplier applied to the delay after each retry; null means 1. Not allowed with a list of
    # delays. Default: `null`
    factor: Optional[float]
    # Maximum delay in seconds, after factor and jitter; null means 604800. Default: `null`
    maxDelaySeconds: Optional[float]
    # Random variation of each delay, as a fraction: `0.2` varies it by up to 20% in either
    # direction. Default: `0.2`
    jitter: Optional[float]


class _ScheduledUniqueRequired(TypedDict):
    # Unique key of the job, among the jobs with the same name in the space
    key: str


class ScheduledUnique(_ScheduledUniqueRequired, total=False):
    # When the job frees the key: when it has ended, when it is acked (`started`), or after
    # `ttlSeconds` (`expired`). Default: `"ended"`
    until: Optional["UniqueRequestUntil"]
    # What to do if another job holds the key: return that job, reject the call with
    # `JOB_NOT_UNIQUE`, or replace that job while it is still pending or scheduled. Default:
    # `"return"`
    onConflict: Optional["UniqueRequestOnConflict"]
    # Number of seconds, from creation, that the job holds the key; only with `until: expired`.
    # Default: `null`
    ttlSeconds: Optional[int]


class SchedulesChange(TypedDict):
    created: int
    changed: int
    unchanged: int
    deleted: int


class _SchedulesRequestRequired(TypedDict):
    # Who declares these schedules, such as the name of a deployment
    owner: str
    schedules: List["DeclaredSchedule"]


class SchedulesRequest(_SchedulesRequestRequired, total=False):
    # Whether to delete the owner's other schedules. Default: `false`
    prune: Optional[bool]


class Settle(TypedDict):
    outcomes: List["Outcome"]


class SettleResults(TypedDict):
    results: List["Settled"]


class _SettledRequired(TypedDict):
    # Unguessable ID of 28 characters
    jobId: str
    # Whether the outcome was accepted; if not, `error` and `code` tell why
    success: bool


class Settled(_SettledRequired, total=False):
    # Human-readable message; may change
    error: str
    # Stable code to branch on
    code: "ErrorCode"
    # Current status of the job; on every 409 except `SCHEDULE_OWNED`
    jobStatus: "JobStatus"
    # What happened to the job earlier, if known; on a 409 of an ack
    hint: str
    # Number of jobs, from the start of the list, that were created or found before the error;
    # absent if 0
    stored: int


class SkippedTime(TypedDict):
    # The time that was skipped
    at: "Timestamp"
    reason: "SkippedTimeReason"


class Space(TypedDict):
    spaceId: str
    jobs: "SpaceJobs"
    # Seconds that the next job in the queue has been pending; null if no job is pending
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
    # Absent if 0
    scheduled: int


class SpaceList(TypedDict):
    # Spaces that have jobs, in a stable order
    spaces: List["Space"]
    # Cursor of the next page; null on the last page
    nextCursor: Optional[str]


class _SpaceStatsRequired(TypedDict):
    spaceId: str
    # When the jobs were counted
    timestamp: "Timestamp"
    jobs: "SpaceStatsJobs"
    # Seconds that the next job in the queue has been pending; null if no job is pending
    oldestPendingAgeSeconds: Optional[float]
    # The requested names, in that order; otherwise the names with the most jobs, in descending
    # order
    names: List["NameStats"]
    # Number of names with jobs that are not in `names`
    namesLeftOut: int


class SpaceStats(_SpaceStatsRequired, total=False):
    # `true` if the whole space is paused, or the paused names; absent if nothing is paused
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
    # Absent if 0
    scheduled: int


class StreamToken(TypedDict):
    # The token; send it in the query parameter `token` of a stream
    token: str
    # When the token expires, no later than the API key
    expiresAt: "Timestamp"


class _StreamTokenRequestRequired(TypedDict):
    # What the token shows: everything (`jobs:read`) or only the progress of jobs
    # (`jobs:read:progress`)
    scope: "StreamTokenRequestScope"


# Exactly one of `jobIds`, `tag` and `spaceId` is required
class StreamTokenRequest(_StreamTokenRequestRequired, total=False):
    # IDs of the jobs whose streams the token opens. Default: `null`
    jobIds: Optional[List[str]]
    # Tag of the jobs whose streams the token opens; it also opens space streams, limited to
    # these jobs. Default: `null`
    tag: Optional[str]
    # Space whose stream the token opens, along with the streams of its jobs. Default: `null`
    spaceId: Optional[str]
    # Number of seconds the token is valid. Default: `900`
    expiresInSeconds: Optional[int]


class _UniqueRequired(TypedDict):
    key: str


class Unique(_UniqueRequired, total=False):
    until: "UniqueRequestUntil"
    onConflict: "UniqueRequestOnConflict"
    ttlSeconds: int


class _UniqueRequestRequired(TypedDict):
    # Unique key of the job, among the jobs with the same name in the space
    key: str


class UniqueRequest(_UniqueRequestRequired, total=False):
    # When the job frees the key: when it has ended, when it is acked (`started`), or after
    # `ttlSeconds` (`expired`). Default: `"ended"`
    until: Optional["UniqueRequestUntil"]
    # What to do if another job holds the key: return that job, reject the call with
    # `JOB_NOT_UNIQUE`, or replace that job while it is still pending or scheduled. Default:
    # `"return"`
    onConflict: Optional["UniqueRequestOnConflict"]
    # Number of seconds, from creation, that the job holds the key; only with `until: expired`.
    # Default: `null`
    ttlSeconds: Optional[int]


CreateJobCallbackOn = Literal["completed", "dead", "killed"]


ErrorCode = Literal["INVALID_REQUEST", "UNAUTHENTICATED", "FORBIDDEN", "JOB_NOT_FOUND", "KEY_NOT_FOUND", "OPERATION_NOT_FOUND", "SCHEDULE_NOT_FOUND", "NOT_FOUND", "METHOD_NOT_ALLOWED", "REQUEST_TIMEOUT", "JOB_NOT_PENDING", "JOB_NOT_DELIVERED", "JOB_NOT_RUNNING", "DELIVERY_LOST", "JOB_KILLED", "JOB_ENDED", "JOB_NOT_DEAD", "JOB_NOT_ENDED", "NO_CALLBACK", "JOB_NOT_UNIQUE", "SCHEDULE_OWNED", "SCHEDULE_RUNNING", "TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "IDEMPOTENCY_MISMATCH", "UPGRADE_REQUIRED", "TOO_MANY_STREAMS", "SPACE_FULL", "TOO_MANY_WAITERS", "TOO_MANY_KEYS", "TOO_MANY_OPERATIONS", "TOO_MANY_SCHEDULES", "RATE_LIMITED", "INTERNAL", "UNAVAILABLE", "OVERLOADED", "STORAGE_FULL", "STORAGE_UNSAFE"]


JobEventType = Literal["created", "delivered", "acked", "progress", "checkpoint", "event", "completed", "retried", "released", "dead", "killed", "delivery_timeout", "replaced", "ready", "rescheduled", "requeued", "callback_sent", "callback_failed"]


# Status of the job
JobStatus = Literal["scheduled", "pending", "delivered", "running", "completed", "dead", "killed"]


LogEntryFieldsLevel = Literal["trace", "debug", "info", "warn", "error", "fatal", "warning", "critical"]


LogEntryLevel = Literal["trace", "debug", "info", "warn", "error", "fatal"]


LogsPageCursorMode = Literal["after", "before", "latest"]


OperationRequestAction = Literal["requeue", "kill", "delete", "reschedule"]


OperationStatus = Literal["running", "done", "cancelled"]


Outcome = Union["AckOutcome", "KeepaliveOutcome", "ProgressOutcome", "CheckpointOutcome", "EventOutcome", "CompleteOutcome", "FailOutcome", "ReleaseOutcome"]


ScheduleMissed = Literal["once", "skip"]


ScheduleOverlap = Literal["skip", "allow", "replace"]


SkippedTimeReason = Literal["MISSED", "OVERLAP", "JOB_NOT_UNIQUE", "SPACE_FULL"]


StreamTokenRequestScope = Literal["jobs:read", "jobs:read:progress"]


# ISO 8601 timestamp in UTC, with milliseconds
Timestamp = str


UniqueRequestOnConflict = Literal["return", "reject", "replace"]


UniqueRequestUntil = Literal["ended", "started", "expired"]

#: Types of the events that tell a worker that it no longer has its job.
JOB_LOST_EVENTS = ("dead", "delivery_timeout", "killed", "released", "retried")
