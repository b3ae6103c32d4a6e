package yardmaster

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// JobInfo is what a handler knows about its job, beside the payload.
type JobInfo struct {
	// ID of the job.
	ID string
	// Name under which its handler is registered.
	Name string
	// Attempt is the number of this attempt, from 1.
	Attempt int
	// MaxRetries is the number of attempts after the first.
	MaxRetries int
	// Timeout is the longest time between two heartbeats, which the worker sends.
	Timeout time.Duration
	// CreatedAt is when the job was created.
	CreatedAt time.Time
	// Checkpoint is what the latest [Job.Save] of an earlier attempt has stored; nil without one.
	Checkpoint json.RawMessage
}

// Job is one attempt of a job. Its methods are safe for concurrent use, until the handler returns.
type Job[P any] struct {
	JobInfo
	// Payload with which the job was created.
	Payload P
	// Log writes to the log of the job, in batches.
	Log *slog.Logger

	reporter Reporter
}

// Reporter gets what a handler reports. A worker has one that sends it to the service; package yardmastertest has one
// that records it.
type Reporter interface {
	Progress(report wire.Progress) error
	Save(checkpoint json.RawMessage) error
	Event(data json.RawMessage) error
	EphemeralEvent(data json.RawMessage) error
	Log(entry LogEntry)
}

// Stage is the progress of a part of the work.
type Stage struct {
	Name string
	// Percent is 0 to 100.
	Percent float64
	// Message may be empty.
	Message string
}

// Progress shows how far the work is: 0 to 100 percent, a message that is not empty, and up to 50 stages.
// It does not wait. When it is called often, only the newest report is sent, at most every 200 ms, and the last one in
// any case. The error says which argument is invalid.
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

// percentOf corrects a rounding error, such as 100.00000000000001. It returns false for what is no percentage.
func percentOf(value float64) (float64, bool) {
	const tolerance = 1e-6
	return min(max(value, 0), 100), value >= -tolerance && value <= 100+tolerance
}

// Save stores a checkpoint, with which the next attempt can continue, and returns when it is stored.
// It takes no context, because it must work while the worker drains. After the job is lost, it returns the reason.
func (j *Job[P]) Save(checkpoint any) error {
	body, err := partBody(checkpoint, "checkpoint")
	if err != nil {
		return err
	}
	return j.reporter.Save(body)
}

// Event adds an event with any data to the history of the job, and returns when it is stored. If the storage of the
// service is full, the event is left out.
func (j *Job[P]) Event(data any) error {
	body, err := partBody(data, "event")
	if err != nil {
		return err
	}
	return j.reporter.Event(body)
}

// EphemeralEvent sends an event with any data to the streams of the job that are open. It is stored nowhere, and sent only
// once, so it may be lost.
func (j *Job[P]) EphemeralEvent(data any) error {
	body, err := partBody(data, "event")
	if err != nil {
		return err
	}
	return j.reporter.EphemeralEvent(body)
}

// LoadCheckpoint reads the checkpoint of the earlier attempts into a value. It returns false without one.
func (j *Job[P]) LoadCheckpoint(into any) (bool, error) {
	if len(j.Checkpoint) == 0 {
		return false, nil
	}
	return true, json.Unmarshal(j.Checkpoint, into)
}
