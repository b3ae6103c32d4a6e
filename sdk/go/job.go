package yardmaster

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// JobInfo describes a job without its payload.
type JobInfo struct {
	// ID of the job.
	ID string
	// Name under which its handler is registered.
	Name string
	// Attempt is the number of this attempt, starting at 1.
	Attempt int
	// MaxRetries is the maximum number of retries after the first attempt.
	MaxRetries int
	// Timeout is the longest time between heartbeats, which the worker sends.
	Timeout time.Duration
	// CreatedAt is when the job was created.
	CreatedAt time.Time
	// Checkpoint is the latest checkpoint saved by an earlier attempt; nil without one. See [Job.LoadCheckpoint].
	Checkpoint json.RawMessage
}

// Job is one attempt of a job. Its methods are safe for concurrent use until the handler returns.
type Job[P any] struct {
	JobInfo
	// Payload with which the job was created.
	Payload P
	// Log writes to the log of the job, in batches.
	Log *slog.Logger

	reporter Reporter
}

// Reporter receives what a handler reports. A worker's reporter sends it to the service; that of package yardmastertest
// records it.
type Reporter interface {
	Progress(report wire.Progress) error
	Save(checkpoint json.RawMessage) error
	Event(data json.RawMessage) error
	EphemeralEvent(data json.RawMessage) error
	Log(entry LogEntry)
}

// Stage is the progress of one part of the work.
type Stage struct {
	Name string
	// Percent is from 0 to 100.
	Percent float64
	// Message may be empty.
	Message string
}

// Progress reports progress: 0 to 100 percent, a non-empty message, and up to 50 stages. It doesn't wait for the service.
// Call it as often as you like: the newest report is sent at most every 200 ms, and the last one always. The error says
// which argument is invalid.
func (j *Job[P]) Progress(percent float64, message string, stages ...Stage) error {
	percent, isPercent := percentOf(percent)
	report := wire.Progress{Percent: percent, Message: message}
	if !isPercent {
		return errors.New("yardmaster: percent must be from 0 to 100")
	}
	if message == "" {
		return errors.New("yardmaster: the message of a progress report must not be empty")
	}
	if len(stages) > 50 {
		return errors.New("yardmaster: a progress report has at most 50 stages")
	}
	for _, stage := range stages {
		percent, isPercent := percentOf(stage.Percent)
		if !isPercent {
			return errors.New("yardmaster: percent of a stage must be from 0 to 100")
		}
		if report.SubProgress == nil {
			report.SubProgress = map[string]wire.ProgressSubProgressValue{}
		}
		report.SubProgress[stage.Name] = wire.ProgressSubProgressValue{
			Percent: percent, Message: nonEmpty(stage.Message),
		}
	}
	return j.reporter.Progress(report)
}

// percentOf corrects a rounding error, such as 100.00000000000001. It returns false if the value is not a percentage.
func percentOf(value float64) (float64, bool) {
	const tolerance = 1e-6
	return min(max(value, 0), 100), value >= -tolerance && value <= 100+tolerance
}

// Save saves a checkpoint for the next attempt, and returns when it is stored. It takes no context, because it must work
// while the worker drains. If the job is lost, it returns the reason.
func (j *Job[P]) Save(checkpoint any) error {
	body, err := partBody(checkpoint, "checkpoint")
	if err != nil {
		return err
	}
	return j.reporter.Save(body)
}

// Event adds an event with any data to the history of the job, and returns when it is stored. If the storage of the
// service is full, the event is dropped.
func (j *Job[P]) Event(data any) error {
	body, err := partBody(data, "event")
	if err != nil {
		return err
	}
	return j.reporter.Event(body)
}

// EphemeralEvent sends an event with any data to the open streams of the job. It isn't stored and is sent only once, so it
// may be lost.
func (j *Job[P]) EphemeralEvent(data any) error {
	body, err := partBody(data, "event")
	if err != nil {
		return err
	}
	return j.reporter.EphemeralEvent(body)
}

// LoadCheckpoint decodes the checkpoint of an earlier attempt into a value. It returns false without one.
func (j *Job[P]) LoadCheckpoint(into any) (bool, error) {
	if len(j.Checkpoint) == 0 {
		return false, nil
	}
	return true, json.Unmarshal(j.Checkpoint, into)
}
