package yardmaster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
)

// Handler works on a job. What it returns becomes the result of the job, as JSON; with an error or a panic the attempt has
// failed. A result that is no JSON, or too large, makes the job dead.
//
// The context is canceled when the handler must stop. [context.Cause] is then [ErrKilled], [ErrDeliveryLost],
// [ErrTimedOut] or [ErrDraining].
type Handler[P, R any] func(ctx context.Context, job *Job[P]) (R, error)

// NonRetryable makes an error the last one: the job is dead, even if retries are left. For nil it returns nil.
func NonRetryable(err error) error {
	if err == nil {
		return nil
	}
	return &outcome.NonRetryable{Err: err}
}

// Longest delays that the service takes.
const (
	maxRetryDelay = 7 * 24 * time.Hour
	maxDelay      = 366 * 24 * time.Hour
)

// RetryAfter sets the delay before the next attempt, at most a week, whatever the retry policy of the job says. For a nil
// error it returns nil.
func RetryAfter(err error, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return &outcome.RetryAfter{Err: err, Delay: min(max(delay, 0), maxRetryDelay)}
}

// Release gives the job back: it is claimable again after the delay, at most 366 days, and the attempt is not counted.
// Without a delay, or with a negative one, it is claimed again at once. The reason, at most one, becomes part of the history
// of the job; it is cut to 1,000 characters.
func Release(delay time.Duration, reason ...string) error {
	released := &outcome.Released{Delay: min(max(delay, 0), maxDelay)}
	if len(reason) > 0 {
		released.Reason = reason[0]
	}
	return released
}

// untypedHandler is a handler whose payload is not decoded yet.
type untypedHandler func(ctx context.Context, info JobInfo, payload json.RawMessage, reporter Reporter) (any, error)

// untyped decodes the payload. One that does not fit is the same at the next attempt, so the job is dead.
func untyped[P, R any](handler Handler[P, R]) untypedHandler {
	return func(ctx context.Context, info JobInfo, raw json.RawMessage, reporter Reporter) (any, error) {
		var payload P
		if err := json.Unmarshal(raw, &payload); err != nil {
			return nil, NonRetryable(fmt.Errorf("the payload is invalid: %w", err))
		}
		return Call(ctx, handler, Job[P]{JobInfo: info, Payload: payload}, reporter)
	}
}

// Call calls a handler with a job whose reports go to a reporter. A worker does this on its own; a test uses package
// yardmastertest.
func Call[P, R any](ctx context.Context, handler Handler[P, R], job Job[P], reporter Reporter) (R, error) {
	job.reporter = reporter
	job.Log = slog.New(&logHandler{reporter: reporter, fields: newFieldWriter()})
	return handler(context.WithValue(ctx, reporterKey{}, reporter), &job)
}
