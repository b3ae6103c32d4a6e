// Code generated: DO NOT EDIT.
// Types of the requests and responses of Yardmaster, made by scripts/sdk/wire.mjs. Do not edit.

// Package wire has the types of the requests and responses of Yardmaster.
package wire

import "encoding/json"

// AppendedLogs is a value of the API.
type AppendedLogs struct {
	// Always true
	Success  bool `json:"success"`
	Inserted int  `json:"inserted"`
	// Seq of the first entry of the batch
	FromSeq int `json:"fromSeq"`
	// Seq of its last entry
	ToSeq int `json:"toSeq"`
}

// ClaimedJob is a value of the API.
type ClaimedJob struct {
	// 28 characters; not guessable
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload"`
	// Execution window: how long an attempt may take between two heartbeats
	TimeoutSeconds float64 `json:"timeoutSeconds"`
	MaxRetries     int     `json:"maxRetries"`
	// Attempts before this one
	AttemptNumber int       `json:"attemptNumber"`
	CreatedAt     Timestamp `json:"createdAt"`
	// Data of the latest checkpoint of any earlier attempt, or null
	Checkpoint json.RawMessage `json:"checkpoint"`
	// Number of the attempt that an ack starts, from 1
	Attempt int `json:"attempt"`
	// Opaque; sent back as `x-delivery-token`, it makes calls of a worker that lost the job change nothing
	DeliveryToken string `json:"deliveryToken"`
}

// CreateJob is a value of the API.
type CreateJob struct {
	// Well-formed Unicode
	Name string `json:"name"`
	// Data for the worker. Default: `null`
	Payload json.RawMessage `json:"payload,omitempty"`
	// Attempts after the first; each failure or time-out of an attempt uses one. Default: `3`
	MaxRetries *int `json:"maxRetries,omitempty"`
	// Execution window: how long an attempt may take between two heartbeats. Default: `300`
	TimeoutSeconds *float64 `json:"timeoutSeconds,omitempty"`
	// Default: `null`
	CallbackURL *string `json:"callbackUrl,omitempty"`
	// Default: `null`
	CallbackHeaders map[string]string `json:"callbackHeaders,omitempty"`
	// Default: `null`
	CallbackOn []CreateJobCallbackOn `json:"callbackOn,omitempty"`
	// Default: `null`
	Unique *UniqueRequest `json:"unique,omitempty"`
	// Not before this time, ISO 8601 with a time zone; a time in the past means now. Default: `null`
	ScheduledFor *string `json:"scheduledFor,omitempty"`
	// The same, in seconds from now; not together with `scheduledFor`. Default: `null`
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
	// Default: `null`
	Retry *RetryRequest `json:"retry,omitempty"`
	// How long one attempt may take; heartbeats do not extend it. Default: `null`
	MaxRunSeconds *float64 `json:"maxRunSeconds,omitempty"`
	// How long the job may wait for its first ack, from the moment it can be claimed; then it is dead.
	// Default: `null`
	StartWithinSeconds *float64 `json:"startWithinSeconds,omitempty"`
	// Head start in seconds: the job stands in the queue as if it had been created so much earlier.
	// Default: `0`
	Priority *int `json:"priority,omitempty"`
}

// CreateJobCallbackOn is a value of the API.
type CreateJobCallbackOn string

// Values of CreateJobCallbackOn.
const (
	CreateJobCallbackOnCompleted CreateJobCallbackOn = "completed"
	CreateJobCallbackOnDead      CreateJobCallbackOn = "dead"
	CreateJobCallbackOnKilled    CreateJobCallbackOn = "killed"
)

// ErrorBody is a value of the API.
type ErrorBody struct {
	// Message for people
	Error string `json:"error"`
	// Code for programs
	Code ErrorCode `json:"code"`
	// Status the job has now; on every 409
	JobStatus *JobStatus `json:"jobStatus,omitempty"`
	// What happened before, when that is known; on a 409 of an ack
	Hint *string `json:"hint,omitempty"`
	// Job that has the unique key; only with `JOB_NOT_UNIQUE`
	JobID *string `json:"jobId,omitempty"`
	// Jobs of a list that were created or found before it was refused; absent for 0
	Stored *int `json:"stored,omitempty"`
	// Only when several fields are wrong, or a field of a job in a list
	Details []FaultDetail `json:"details,omitempty"`
}

// ErrorCode is a value of the API.
type ErrorCode string

// Values of ErrorCode.
const (
	ErrorCodeInvalidRequest       ErrorCode = "INVALID_REQUEST"
	ErrorCodeUnauthenticated      ErrorCode = "UNAUTHENTICATED"
	ErrorCodeForbidden            ErrorCode = "FORBIDDEN"
	ErrorCodeJobNotFound          ErrorCode = "JOB_NOT_FOUND"
	ErrorCodeKeyNotFound          ErrorCode = "KEY_NOT_FOUND"
	ErrorCodeNotFound             ErrorCode = "NOT_FOUND"
	ErrorCodeMethodNotAllowed     ErrorCode = "METHOD_NOT_ALLOWED"
	ErrorCodeRequestTimeout       ErrorCode = "REQUEST_TIMEOUT"
	ErrorCodeJobNotPending        ErrorCode = "JOB_NOT_PENDING"
	ErrorCodeJobNotDelivered      ErrorCode = "JOB_NOT_DELIVERED"
	ErrorCodeJobNotRunning        ErrorCode = "JOB_NOT_RUNNING"
	ErrorCodeDeliveryLost         ErrorCode = "DELIVERY_LOST"
	ErrorCodeJobKilled            ErrorCode = "JOB_KILLED"
	ErrorCodeJobEnded             ErrorCode = "JOB_ENDED"
	ErrorCodeJobNotEnded          ErrorCode = "JOB_NOT_ENDED"
	ErrorCodeNoCallback           ErrorCode = "NO_CALLBACK"
	ErrorCodeJobNotUnique         ErrorCode = "JOB_NOT_UNIQUE"
	ErrorCodeTooLarge             ErrorCode = "TOO_LARGE"
	ErrorCodeUnsupportedMediaType ErrorCode = "UNSUPPORTED_MEDIA_TYPE"
	ErrorCodeIdempotencyMismatch  ErrorCode = "IDEMPOTENCY_MISMATCH"
	ErrorCodeUpgradeRequired      ErrorCode = "UPGRADE_REQUIRED"
	ErrorCodeTooManyStreams       ErrorCode = "TOO_MANY_STREAMS"
	ErrorCodeTooManyWaiters       ErrorCode = "TOO_MANY_WAITERS"
	ErrorCodeInternal             ErrorCode = "INTERNAL"
	ErrorCodeUnavailable          ErrorCode = "UNAVAILABLE"
	ErrorCodeOverloaded           ErrorCode = "OVERLOADED"
	ErrorCodeStorageFull          ErrorCode = "STORAGE_FULL"
	ErrorCodeStorageUnsafe        ErrorCode = "STORAGE_UNSAFE"
)

// FaultDetail is a value of the API.
type FaultDetail struct {
	// Path into the request, e.g. `subProgress.build.percent`
	Path string `json:"path"`
	// Full sentence that starts with the path
	Message string `json:"message"`
}

// Job is a value of the API.
type Job struct {
	// 28 characters; not guessable
	ID         string          `json:"id"`
	SpaceID    string          `json:"spaceId"`
	Name       string          `json:"name"`
	Payload    json.RawMessage `json:"payload"`
	Status     JobStatus       `json:"status"`
	MaxRetries int             `json:"maxRetries"`
	// Attempts that have started: 0 at creation, one more at each ack, one less at the release of a
	// running job
	AttemptNumber int `json:"attemptNumber"`
	// Execution window: how long an attempt may take between two heartbeats
	TimeoutSeconds float64 `json:"timeoutSeconds"`
	// Null while pending, also between two attempts. ISO 8601, UTC, milliseconds
	DeliveredAt *string `json:"deliveredAt"`
	// Null until the attempt is acked. ISO 8601, UTC, milliseconds
	StartedAt *string `json:"startedAt"`
	// Null unless the status is completed. ISO 8601, UTC, milliseconds
	CompletedAt *string `json:"completedAt"`
	// Result of the worker; null until completion
	Result json.RawMessage `json:"result"`
	// Error of the latest attempt that failed; absent without one
	Error json.RawMessage `json:"error,omitempty"`
	// Latest report of any attempt; absent before the first
	Progress *Progress `json:"progress,omitempty"`
	// Last time for which the job waits or waited; absent for one that never had to
	ScheduledFor *Timestamp `json:"scheduledFor,omitempty"`
	// Delays between attempts; absent without any
	Retry *Retry `json:"retry,omitempty"`
	// How long one attempt may take; absent without a limit
	MaxRunSeconds *float64 `json:"maxRunSeconds,omitempty"`
	// How long the job may wait for its first ack; absent without a limit
	StartWithinSeconds *float64 `json:"startWithinSeconds,omitempty"`
	// Head start in seconds; absent without one
	Priority *int `json:"priority,omitempty"`
	// Of the worker that has the job, when its poll named it
	WorkerID *string `json:"workerId,omitempty"`
	// Absent for a job without a unique key
	Unique    *Unique   `json:"unique,omitempty"`
	CreatedAt Timestamp `json:"createdAt"`
	// Time of the latest event or keepalive; it does not change after the job has ended
	UpdatedAt       Timestamp         `json:"updatedAt"`
	CallbackURL     *string           `json:"callbackUrl"`
	CallbackHeaders map[string]string `json:"callbackHeaders"`
	// Ends after which the callback is sent; absent for completed and dead
	CallbackOn []CreateJobCallbackOn `json:"callbackOn,omitempty"`
	// URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit`
	RealtimeURL *string `json:"realtimeUrl,omitempty"`
}

// JobEvent is a value of the API.
type JobEvent struct {
	// `<jobId>.<seq>`; seq is dense, from 1, per job
	ID string `json:"id"`
	// 28 characters; not guessable
	JobID   string       `json:"jobId"`
	SpaceID string       `json:"spaceId"`
	Type    JobEventType `json:"type"`
	// Data of the event; null for an event without data
	Data      json.RawMessage `json:"data"`
	CreatedAt Timestamp       `json:"createdAt"`
}

// JobEventType is a value of the API.
type JobEventType string

// Values of JobEventType.
const (
	JobEventTypeCreated         JobEventType = "created"
	JobEventTypeDelivered       JobEventType = "delivered"
	JobEventTypeAcked           JobEventType = "acked"
	JobEventTypeProgress        JobEventType = "progress"
	JobEventTypeCheckpoint      JobEventType = "checkpoint"
	JobEventTypeEvent           JobEventType = "event"
	JobEventTypeCompleted       JobEventType = "completed"
	JobEventTypeRetried         JobEventType = "retried"
	JobEventTypeReleased        JobEventType = "released"
	JobEventTypeDead            JobEventType = "dead"
	JobEventTypeKilled          JobEventType = "killed"
	JobEventTypeDeliveryTimeout JobEventType = "delivery_timeout"
	JobEventTypeReplaced        JobEventType = "replaced"
	JobEventTypeReady           JobEventType = "ready"
	JobEventTypeRescheduled     JobEventType = "rescheduled"
	JobEventTypeCallbackSent    JobEventType = "callback_sent"
	JobEventTypeCallbackFailed  JobEventType = "callback_failed"
)

// JobStatus: Status of the job
type JobStatus string

// Values of JobStatus.
const (
	JobStatusScheduled JobStatus = "scheduled"
	JobStatusPending   JobStatus = "pending"
	JobStatusDelivered JobStatus = "delivered"
	JobStatusRunning   JobStatus = "running"
	JobStatusCompleted JobStatus = "completed"
	JobStatusDead      JobStatus = "dead"
	JobStatusKilled    JobStatus = "killed"
)

// JobSummary is a value of the API.
type JobSummary struct {
	// 28 characters; not guessable
	ID        string    `json:"id"`
	SpaceID   string    `json:"spaceId"`
	Name      string    `json:"name"`
	Status    JobStatus `json:"status"`
	CreatedAt Timestamp `json:"createdAt"`
	// URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit`
	RealtimeURL *string `json:"realtimeUrl,omitempty"`
}

// JobWithEvents is a value of the API.
type JobWithEvents struct {
	// 28 characters; not guessable
	ID         string          `json:"id"`
	SpaceID    string          `json:"spaceId"`
	Name       string          `json:"name"`
	Payload    json.RawMessage `json:"payload"`
	Status     JobStatus       `json:"status"`
	MaxRetries int             `json:"maxRetries"`
	// Attempts that have started: 0 at creation, one more at each ack, one less at the release of a
	// running job
	AttemptNumber int `json:"attemptNumber"`
	// Execution window: how long an attempt may take between two heartbeats
	TimeoutSeconds float64 `json:"timeoutSeconds"`
	// Null while pending, also between two attempts. ISO 8601, UTC, milliseconds
	DeliveredAt *string `json:"deliveredAt"`
	// Null until the attempt is acked. ISO 8601, UTC, milliseconds
	StartedAt *string `json:"startedAt"`
	// Null unless the status is completed. ISO 8601, UTC, milliseconds
	CompletedAt *string `json:"completedAt"`
	// Result of the worker; null until completion
	Result json.RawMessage `json:"result"`
	// Error of the latest attempt that failed; absent without one
	Error json.RawMessage `json:"error,omitempty"`
	// Latest report of any attempt; absent before the first
	Progress *Progress `json:"progress,omitempty"`
	// Last time for which the job waits or waited; absent for one that never had to
	ScheduledFor *Timestamp `json:"scheduledFor,omitempty"`
	// Delays between attempts; absent without any
	Retry *Retry `json:"retry,omitempty"`
	// How long one attempt may take; absent without a limit
	MaxRunSeconds *float64 `json:"maxRunSeconds,omitempty"`
	// How long the job may wait for its first ack; absent without a limit
	StartWithinSeconds *float64 `json:"startWithinSeconds,omitempty"`
	// Head start in seconds; absent without one
	Priority *int `json:"priority,omitempty"`
	// Of the worker that has the job, when its poll named it
	WorkerID *string `json:"workerId,omitempty"`
	// Absent for a job without a unique key
	Unique    *Unique   `json:"unique,omitempty"`
	CreatedAt Timestamp `json:"createdAt"`
	// Time of the latest event or keepalive; it does not change after the job has ended
	UpdatedAt       Timestamp         `json:"updatedAt"`
	CallbackURL     *string           `json:"callbackUrl"`
	CallbackHeaders map[string]string `json:"callbackHeaders"`
	// Ends after which the callback is sent; absent for completed and dead
	CallbackOn []CreateJobCallbackOn `json:"callbackOn,omitempty"`
	// URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit`
	RealtimeURL *string `json:"realtimeUrl,omitempty"`
	// Oldest first; the first is always `created`
	Events []JobEvent `json:"events"`
}

// Kill is a value of the API.
type Kill struct {
	// Reason, for the history. Default: `null`
	Reason *string `json:"reason,omitempty"`
}

// KnownJob is a value of the API.
type KnownJob struct {
	// 28 characters; not guessable
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Status    JobStatus `json:"status"`
	CreatedAt Timestamp `json:"createdAt"`
	// URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit`
	RealtimeURL *string `json:"realtimeUrl,omitempty"`
}

// LatestProgress is a value of the API.
type LatestProgress struct {
	// 28 characters; not guessable
	JobID string `json:"jobId"`
	// Null before the first report
	Progress *Progress `json:"progress"`
	// When it was reported; null before the first report. ISO 8601, UTC, milliseconds
	Timestamp *string `json:"timestamp"`
}

// ListedJob is a value of the API.
type ListedJob struct {
	// 28 characters; not guessable
	ID         string          `json:"id"`
	SpaceID    string          `json:"spaceId"`
	Name       string          `json:"name"`
	Payload    json.RawMessage `json:"payload"`
	Status     JobStatus       `json:"status"`
	MaxRetries int             `json:"maxRetries"`
	// Attempts that have started: 0 at creation, one more at each ack, one less at the release of a
	// running job
	AttemptNumber int `json:"attemptNumber"`
	// Execution window: how long an attempt may take between two heartbeats
	TimeoutSeconds float64 `json:"timeoutSeconds"`
	// Null while pending, also between two attempts. ISO 8601, UTC, milliseconds
	DeliveredAt *string `json:"deliveredAt"`
	// Null until the attempt is acked. ISO 8601, UTC, milliseconds
	StartedAt *string `json:"startedAt"`
	// Null unless the status is completed. ISO 8601, UTC, milliseconds
	CompletedAt *string `json:"completedAt"`
	// Result of the worker; null until completion
	Result json.RawMessage `json:"result"`
	// Error of the latest attempt that failed; absent without one
	Error json.RawMessage `json:"error,omitempty"`
	// Latest report of any attempt; absent before the first
	Progress *Progress `json:"progress,omitempty"`
	// Last time for which the job waits or waited; absent for one that never had to
	ScheduledFor *Timestamp `json:"scheduledFor,omitempty"`
	// Delays between attempts; absent without any
	Retry *Retry `json:"retry,omitempty"`
	// How long one attempt may take; absent without a limit
	MaxRunSeconds *float64 `json:"maxRunSeconds,omitempty"`
	// How long the job may wait for its first ack; absent without a limit
	StartWithinSeconds *float64 `json:"startWithinSeconds,omitempty"`
	// Head start in seconds; absent without one
	Priority *int `json:"priority,omitempty"`
	// Of the worker that has the job, when its poll named it
	WorkerID *string `json:"workerId,omitempty"`
	// Absent for a job without a unique key
	Unique    *Unique   `json:"unique,omitempty"`
	CreatedAt Timestamp `json:"createdAt"`
	// Time of the latest event or keepalive; it does not change after the job has ended
	UpdatedAt Timestamp `json:"updatedAt"`
}

// LogEntry is a value of the API.
type LogEntry struct {
	// `<jobId>.<seq>`
	ID string `json:"id"`
	// Dense, from 1, per job; never used again when an entry is dropped
	Seq     int           `json:"seq"`
	Level   LogEntryLevel `json:"level"`
	Message string        `json:"message"`
	// Part of the worker that wrote it, as the worker names it
	Source string `json:"source"`
	// Further data of the worker
	Metadata json.RawMessage `json:"metadata"`
	// Time at which it happened, by the clock of the worker
	LoggedAt Timestamp `json:"loggedAt"`
	// Time of storage
	CreatedAt Timestamp `json:"createdAt"`
}

// LogEntryFields is a value of the API.
type LogEntryFields struct {
	Message string `json:"message"`
	// Default: `info`. `warning` is stored as `warn`, `critical` as `fatal`
	Level *LogEntryFieldsLevel `json:"level,omitempty"`
	// Time at which it happened. Default: the time of storage. A blank instead of the `T`, a comma, no
	// seconds, `+0100` and `+01` are accepted
	Timestamp *string `json:"timestamp,omitempty"`
	// Part of the worker that wrote it. Default: `worker`
	Source   *string         `json:"source,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// LogEntryFieldsLevel is a value of the API.
type LogEntryFieldsLevel string

// Values of LogEntryFieldsLevel.
const (
	LogEntryFieldsLevelTrace    LogEntryFieldsLevel = "trace"
	LogEntryFieldsLevelDebug    LogEntryFieldsLevel = "debug"
	LogEntryFieldsLevelInfo     LogEntryFieldsLevel = "info"
	LogEntryFieldsLevelWarn     LogEntryFieldsLevel = "warn"
	LogEntryFieldsLevelError    LogEntryFieldsLevel = "error"
	LogEntryFieldsLevelFatal    LogEntryFieldsLevel = "fatal"
	LogEntryFieldsLevelWarning  LogEntryFieldsLevel = "warning"
	LogEntryFieldsLevelCritical LogEntryFieldsLevel = "critical"
)

// LogEntryLevel is a value of the API.
type LogEntryLevel string

// Values of LogEntryLevel.
const (
	LogEntryLevelTrace LogEntryLevel = "trace"
	LogEntryLevelDebug LogEntryLevel = "debug"
	LogEntryLevelInfo  LogEntryLevel = "info"
	LogEntryLevelWarn  LogEntryLevel = "warn"
	LogEntryLevelError LogEntryLevel = "error"
	LogEntryLevelFatal LogEntryLevel = "fatal"
)

// LogsPage is a value of the API.
type LogsPage struct {
	// Ascending by seq
	Logs   []LogEntry     `json:"logs"`
	Cursor LogsPageCursor `json:"cursor"`
}

// LogsPageCursor is a value of the API.
type LogsPageCursor struct {
	Mode LogsPageCursorMode `json:"mode"`
	// Seq of the first entry of the page; on an empty page the requested bound, or 0 for `latest`
	OldestSeq int `json:"oldestSeq"`
	// Seq of the last entry of the page; on an empty page as `oldestSeq`
	NewestSeq int `json:"newestSeq"`
	// Whether more matching entries exist in the direction of paging, or may exist: a search that stopped
	// early has read up to the bound in that direction
	HasMore bool `json:"hasMore"`
}

// LogsPageCursorMode is a value of the API.
type LogsPageCursorMode string

// Values of LogsPageCursorMode.
const (
	LogsPageCursorModeAfter  LogsPageCursorMode = "after"
	LogsPageCursorModeBefore LogsPageCursorMode = "before"
	LogsPageCursorModeLatest LogsPageCursorMode = "latest"
)

// NameStats is a value of the API.
type NameStats struct {
	Name string `json:"name"`
	// Jobs of any status
	Total   int `json:"total"`
	Pending int `json:"pending"`
	// How long its next job has been pending, with milliseconds; null without a pending job
	OldestPendingAgeSeconds *float64 `json:"oldestPendingAgeSeconds"`
}

// Outcome is a value of the API.
type Outcome struct {
	JobID string `json:"jobId"`
	// As the header `x-delivery-token` of the other calls. Default: `null`
	DeliveryToken *string  `json:"deliveryToken,omitempty"`
	Action        string   `json:"action"`
	Percent       *float64 `json:"percent,omitempty"`
	Message       *string  `json:"message,omitempty"`
	// Stages by name
	SubProgress map[string]ProgressOutcomeSubProgressValue `json:"subProgress,omitempty"`
	// Any JSON value. Default: `null`
	Data json.RawMessage `json:"data,omitempty"`
	// Any JSON value. Default: `null`
	Result json.RawMessage `json:"result,omitempty"`
	// Reason of the failure, for people or for programs
	Error json.RawMessage `json:"error,omitempty"`
	// false ends the job: it is dead, whatever retries it has left. Default: `true`
	Retryable *bool `json:"retryable,omitempty"`
	// Delay before the next attempt, instead of that of `retry`. Default: `null`
	RetryAfterSeconds *float64 `json:"retryAfterSeconds,omitempty"`
	// Reason, for the history. Default: `null`
	Reason *string `json:"reason,omitempty"`
	// Not before so many seconds have passed. Default: `null`
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
}

// Poll is a value of the API.
type Poll struct {
	// Jobs to claim; above 50 is served as 50. Default: `1`
	Count *int `json:"count,omitempty"`
	// Names of jobs to claim; an empty list means any name
	Types []string `json:"types,omitempty"`
	// Used only without `types`
	Type json.RawMessage `json:"type,omitempty"`
	// Used only without `types` and `type`
	Names []string `json:"names,omitempty"`
	// Used only without the other three fields
	Name json.RawMessage `json:"name,omitempty"`
	// How long to wait for the first job while none is pending; above 20 is served as 20. Default: `0`
	WaitSeconds *float64 `json:"waitSeconds,omitempty"`
	// Outcomes of other jobs of the space, settled first
	Settle []Outcome `json:"settle,omitempty"`
	// Ack the jobs at once: their attempts start, without a delivery window. Needs the scope jobs:ack.
	// Default: `false`
	AutoAck *bool `json:"autoAck,omitempty"`
	// Delivery window of the jobs of this poll; default that of the service. Default: `null`
	AckWithinSeconds *int `json:"ackWithinSeconds,omitempty"`
	// Shown on the jobs while their attempts last. Default: `null`
	WorkerID *string `json:"workerId,omitempty"`
}

// PolledJobs is a value of the API.
type PolledJobs struct {
	// Oldest first; empty without a pending job
	Jobs []ClaimedJob `json:"jobs"`
	// In the order of `settle`; absent without it
	Settled []Settled `json:"settled,omitempty"`
}

// Progress is a value of the API.
type Progress struct {
	Percent float64 `json:"percent"`
	Message string  `json:"message"`
	// Stages by name
	SubProgress map[string]ProgressSubProgressValue `json:"subProgress,omitempty"`
}

// ProgressOutcomeSubProgressValue is a value of the API.
type ProgressOutcomeSubProgressValue struct {
	Percent float64 `json:"percent"`
	Message *string `json:"message,omitempty"`
}

// ProgressSubProgressValue is a value of the API.
type ProgressSubProgressValue struct {
	Percent float64 `json:"percent"`
	Message *string `json:"message,omitempty"`
}

// Release is a value of the API.
type Release struct {
	// Reason, for the history. Default: `null`
	Reason *string `json:"reason,omitempty"`
	// Not before so many seconds have passed. Default: `null`
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
}

// Reschedule is a value of the API.
type Reschedule struct {
	// Not before this time, ISO 8601 with a time zone; a time in the past means now. Default: `null`
	ScheduledFor *string `json:"scheduledFor,omitempty"`
	// The same, in seconds from now; not together with `scheduledFor`. Default: `null`
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
	// Another head start, in seconds. Default: `null`
	Priority *int `json:"priority,omitempty"`
}

// Retry is a value of the API.
type Retry struct {
	DelaySeconds    json.RawMessage `json:"delaySeconds"`
	Factor          *float64        `json:"factor,omitempty"`
	MaxDelaySeconds *float64        `json:"maxDelaySeconds,omitempty"`
	Jitter          *float64        `json:"jitter,omitempty"`
}

// RetryRequest is a value of the API.
type RetryRequest struct {
	// Delay before each further attempt, or a delay for each, of which the last repeats; 0 for none
	DelaySeconds json.RawMessage `json:"delaySeconds"`
	// By how much each delay is longer than the one before it; default 1; not with a list of delays.
	// Default: `null`
	Factor *float64 `json:"factor,omitempty"`
	// Longest delay, after factor and jitter; default 604800. Default: `null`
	MaxDelaySeconds *float64 `json:"maxDelaySeconds,omitempty"`
	// Share of a delay by which it is shortened or lengthened at random. Default: `0.2`
	Jitter *float64 `json:"jitter,omitempty"`
}

// Settle is a value of the API.
type Settle struct {
	Outcomes []Outcome `json:"outcomes"`
}

// SettleResults is a value of the API.
type SettleResults struct {
	Results []Settled `json:"results"`
}

// Settled is a value of the API.
type Settled struct {
	// Message for people
	Error *string `json:"error,omitempty"`
	// Code for programs
	Code *ErrorCode `json:"code,omitempty"`
	// Status the job has now; on every 409
	JobStatus *JobStatus `json:"jobStatus,omitempty"`
	// What happened before, when that is known; on a 409 of an ack
	Hint *string `json:"hint,omitempty"`
	// Jobs of a list that were created or found before it was refused; absent for 0
	Stored *int `json:"stored,omitempty"`
	// 28 characters; not guessable
	JobID string `json:"jobId"`
	// Without success, the fields of an error follow
	Success bool `json:"success"`
}

// SpaceStats is a value of the API.
type SpaceStats struct {
	SpaceID string `json:"spaceId"`
	// Moment of the count
	Timestamp Timestamp      `json:"timestamp"`
	Jobs      SpaceStatsJobs `json:"jobs"`
	// As in `names`, over all names
	OldestPendingAgeSeconds *float64 `json:"oldestPendingAgeSeconds"`
	// The requested names, in that order; otherwise the names with the most jobs, the largest first
	Names []NameStats `json:"names"`
	// Names with jobs that are not in `names`
	NamesLeftOut int `json:"namesLeftOut"`
}

// SpaceStatsJobs is a value of the API.
type SpaceStatsJobs struct {
	// Absent when it is 0
	Scheduled *int `json:"scheduled,omitempty"`
	Pending   int  `json:"pending"`
	Delivered int  `json:"delivered"`
	Running   int  `json:"running"`
	Completed int  `json:"completed"`
	Dead      int  `json:"dead"`
	Killed    int  `json:"killed"`
	Total     int  `json:"total"`
}

// Timestamp: ISO 8601, UTC, milliseconds
type Timestamp = string

// Unique is a value of the API.
type Unique struct {
	Key        string                   `json:"key"`
	Until      *UniqueRequestUntil      `json:"until,omitempty"`
	OnConflict *UniqueRequestOnConflict `json:"onConflict,omitempty"`
	TtlSeconds *int                     `json:"ttlSeconds,omitempty"`
}

// UniqueRequest is a value of the API.
type UniqueRequest struct {
	// Compared among the jobs of this name in the space
	Key string `json:"key"`
	// When the key is free again: when the job has ended, when it was acked, or after `ttlSeconds`.
	// Default: `"ended"`
	Until *UniqueRequestUntil `json:"until,omitempty"`
	// Return the other job, refuse with `JOB_NOT_UNIQUE`, or replace the other job while it is pending.
	// Default: `"return"`
	OnConflict *UniqueRequestOnConflict `json:"onConflict,omitempty"`
	// With `until: expired`: how long the key is occupied, from the creation of the job. Default: `null`
	TtlSeconds *int `json:"ttlSeconds,omitempty"`
}

// UniqueRequestOnConflict is a value of the API.
type UniqueRequestOnConflict string

// Values of UniqueRequestOnConflict.
const (
	UniqueRequestOnConflictReturn  UniqueRequestOnConflict = "return"
	UniqueRequestOnConflictReject  UniqueRequestOnConflict = "reject"
	UniqueRequestOnConflictReplace UniqueRequestOnConflict = "replace"
)

// UniqueRequestUntil is a value of the API.
type UniqueRequestUntil string

// Values of UniqueRequestUntil.
const (
	UniqueRequestUntilEnded   UniqueRequestUntil = "ended"
	UniqueRequestUntilStarted UniqueRequestUntil = "started"
	UniqueRequestUntilExpired UniqueRequestUntil = "expired"
)
