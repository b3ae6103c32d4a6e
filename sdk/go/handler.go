package yardmaster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
)

// Handler runs a job. What it returns becomes the result, as JSON; an error or a panic fails the attempt. A result that
// isn't JSON or is too large makes the job dead.
//
// The context is canceled when the handler must stop. [context.Cause] is then [ErrKilled], [ErrDeliveryLost],
// [ErrTimedOut] or [ErrDraining].
type Handler[P, R any] func(ctx context.Context, job *Job[P]) (R, error)

// NonRetryable wraps an error so that it makes the job dead, even if retries are left. For a nil error it returns nil.
func NonRetryable(err error) error {
	if err == nil {
		return nil
	}
	return &outcome.NonRetryable{Err: err}
}

// Longest delays that the service accepts.
const (
	maxRetryDelay = 7 * 24 * time.Hour
	maxDelay      = 366 * 24 * time.Hour
)

// RetryAfter wraps an error with the delay before the next attempt, at most a week, which overrides the retry policy of the
// job. For a nil error it returns nil.
func RetryAfter(err error, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return &outcome.RetryAfter{Err: err, Delay: min(max(delay, 0), maxRetryDelay)}
}

// Release puts the job back in the queue without using up an attempt. The job is claimable again after the delay, at most
// 366 days; if the delay is 0 or negative, immediately. An optional reason, cut to 1,000 characters, becomes part of the
// job's history.
func Release(delay time.Duration, reason ...string) error {
	released := &outcome.Released{Delay: min(max(delay, 0), maxDelay)}
	if len(reason) > 0 {
		released.Reason = reason[0]
	}
	return released
}

// untypedHandler is a handler that decodes its payload.
type untypedHandler func(ctx context.Context, info JobInfo, payload json.RawMessage, reporter Reporter) (any, error)

// untyped decodes the payload. If that fails, the job is dead, because the next attempt would get the same payload.
func untyped[P, R any](handler Handler[P, R]) untypedHandler {
	return func(ctx context.Context, info JobInfo, raw json.RawMessage, reporter Reporter) (any, error) {
		var payload P
		if err := json.Unmarshal(raw, &payload); err != nil {
			return nil, NonRetryable(fmt.Errorf("the payload is invalid: %w", err))
		}
		return Call(ctx, handler, Job[P]{JobInfo: info, Payload: payload}, reporter)
	}
}

// Call calls a handler with a job whose reports go to a reporter. Workers call it; tests use package yardmastertest.
func Call[P, R any](ctx context.Context, handler Handler[P, R], job Job[P], reporter Reporter) (R, error) {
	job.reporter = reporter
	job.Log = slog.New(&logHandler{reporter: reporter, fields: newFieldWriter()})
	return handler(context.WithValue(ctx, reporterKey{}, reporter), &job)
}
