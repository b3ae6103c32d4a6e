// Package yardmastertest calls handlers in tests without a service and records what they report.
//
//	run := yardmastertest.Run(ctx, resize, Resize{Image: "cat.png"}, yardmastertest.Options{})
//	if run.Status != yardmastertest.Completed || run.Result.Bytes != 7 { … }
package yardmastertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Default limit of the service (MAX_PAYLOAD_BYTES).
const maxResultBytes = 262_144

// Options describes the job that the handler gets. The zero value of a field selects its default.
type Options struct {
	// Checkpoint saved by an earlier attempt. Default: none.
	Checkpoint any
	// Attempt is the number of the attempt. Default: 1.
	Attempt int
	// Name of the job. Default: test.
	Name string
}

// Status is the status of the job after the handler.
type Status string

// Statuses of a job after its handler.
const (
	// Completed: the handler returned a result.
	Completed Status = "completed"
	// Failed: the attempt failed, and the service would retry the job while retries are left.
	Failed Status = "failed"
	// Dead: the attempt failed with a non-retryable error, or its result can't be stored.
	Dead Status = "dead"
	// Released: the handler released the job.
	Released Status = "released"
	// Aborted: the context of the test was canceled with [yardmaster.ErrKilled] or another reason for which a worker
	// ignores what the handler returns.
	Aborted Status = "aborted"
)

// Recording has what a handler returned and reported.
type Recording[R any] struct {
	Status Status
	// Result of the handler; its zero value unless Status is Completed.
	Result R
	// Err is the error that the handler returned, or why its result can't be stored.
	Err error
	// Delay of the retry or the release; 0 without one.
	Delay time.Duration
	// Reason of a release.
	Reason string
	// Progress has every report, including those that a worker would skip for a newer one.
	Progress []wire.Progress
	// Checkpoints, Events and EphemeralEvents are JSON, in order.
	Checkpoints, Events, EphemeralEvents []json.RawMessage
	Logs                                 []yardmaster.LogEntry
}

// Run calls a handler with a payload, which is encoded and decoded as JSON as with a service. To abort the handler, cancel
// the context with a reason such as [yardmaster.ErrKilled]. A panic of the handler is not recovered.
func Run[P, R any](
	ctx context.Context, handler yardmaster.Handler[P, R], payload P, options Options,
) *Recording[R] {
	job := yardmaster.Job[P]{JobInfo: yardmaster.JobInfo{
		ID: "test", Name: options.Name, Attempt: max(options.Attempt, 1), MaxRetries: 3, Timeout: 5 * time.Minute,
		CreatedAt: time.Now(),
	}}
	if job.Name == "" {
		job.Name = "test"
	}
	if options.Checkpoint != nil {
		job.Checkpoint = mustJSON(options.Checkpoint, "checkpoint")
	}
	if err := json.Unmarshal(mustJSON(payload, "payload"), &job.Payload); err != nil {
		panic(fmt.Sprintf("yardmastertest: the payload can't be decoded: %v", err))
	}
	recorded := &recorder{}
	result, err := yardmaster.Call(ctx, handler, job, recorded)
	recorded.mu.Lock()
	defer recorded.mu.Unlock()
	r := &Recording[R]{
		Err: err, Progress: recorded.progress, Checkpoints: recorded.checkpoints, Events: recorded.events,
		EphemeralEvents: recorded.ephemeralEvents, Logs: recorded.logs,
	}
	ended := outcome.Of(result, err)
	if len(ended.Result) > maxResultBytes {
		refusal := fmt.Sprintf("result must be at most %d bytes of JSON", maxResultBytes)
		ended, _ = outcome.InsteadOf(ended, http.StatusRequestEntityTooLarge, refusal)
	}
	if r.Err == nil && ended.Action == outcome.Fail {
		r.Err = errors.New(yardmaster.ErrorLine(ended.Error))
	}
	r.settle(ctx, result, ended)
	return r
}

func (r *Recording[R]) settle(ctx context.Context, result R, o wire.Outcome) {
	if o.RetryAfterSeconds != nil {
		r.Delay = time.Duration(*o.RetryAfterSeconds * float64(time.Second))
	}
	if o.DelaySeconds != nil {
		r.Delay = time.Duration(*o.DelaySeconds * float64(time.Second))
	}
	if o.Reason != nil {
		r.Reason = *o.Reason
	}
	reason := context.Cause(ctx)
	switch {
	case reason != nil && reason != yardmaster.ErrDraining:
		r.Status = Aborted
	case o.Action == outcome.Complete:
		r.Status, r.Result = Completed, result
	case o.Action == outcome.Release || reason == yardmaster.ErrDraining:
		r.Status = Released
	case o.Retryable != nil:
		r.Status = Dead
	default:
		r.Status = Failed
	}
}

func mustJSON(value any, name string) json.RawMessage {
	text, err := outcome.JSON(value, name)
	if err != nil {
		panic(fmt.Sprintf("yardmastertest: the %s is not JSON: %v", name, err))
	}
	return text
}

// recorder is a [yardmaster.Reporter] that keeps everything.
type recorder struct {
	mu                  sync.Mutex
	progress            []wire.Progress
	checkpoints, events []json.RawMessage
	ephemeralEvents     []json.RawMessage
	logs                []yardmaster.LogEntry
}

func (r *recorder) Progress(report wire.Progress) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = append(r.progress, report)
	return nil
}

func (r *recorder) Save(checkpoint json.RawMessage) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkpoints = append(r.checkpoints, checkpoint)
	return nil
}

func (r *recorder) Event(data json.RawMessage) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, data)
	return nil
}

func (r *recorder) EphemeralEvent(data json.RawMessage) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ephemeralEvents = append(r.ephemeralEvents, data)
	return nil
}

func (r *recorder) Log(entry yardmaster.LogEntry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, entry)
}
