// Package outcome decides what a worker reports when a handler has ended.
package outcome

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Actions of outcomes.
const (
	Ack        = "ack"
	Keepalive  = "keepalive"
	Progress   = "progress"
	Checkpoint = "checkpoint"
	Event      = "event"
	Complete   = "complete"
	Fail       = "fail"
	Release    = "release"
)

// The service takes errors of up to 64 KB of JSON, in which a character may need six bytes.
const maxErrorBytes = 10_000

// NonRetryable is an error after which the job is dead.
type NonRetryable struct{ Err error }

func (e *NonRetryable) Error() string { return e.Err.Error() }
func (e *NonRetryable) Unwrap() error { return e.Err }

// RetryAfter is an error with the delay before the next attempt.
type RetryAfter struct {
	Err   error
	Delay time.Duration
}

func (e *RetryAfter) Error() string { return e.Err.Error() }
func (e *RetryAfter) Unwrap() error { return e.Err }

// Released gives the job back without an attempt.
type Released struct {
	Delay  time.Duration
	Reason string
}

func (e *Released) Error() string { return fmt.Sprintf("the job is released for %s", e.Delay) }

// Of returns the outcome of a handler that has returned. The job and its token are not set.
func Of(result any, err error) wire.Outcome {
	var released *Released
	if errors.As(err, &released) {
		return OfRelease(released.Delay, released.Reason)
	}
	if err != nil {
		return ofError(err)
	}
	body, err := json.Marshal(result)
	if err != nil {
		return ofError(fmt.Errorf("the result is not representable as JSON: %w", err))
	}
	return wire.Outcome{Action: Complete, Result: body}
}

// OfRelease returns the outcome that gives a job back.
func OfRelease(delay time.Duration, reason string) wire.Outcome {
	released := wire.Outcome{Action: Release}
	if reason != "" {
		released.Reason = &reason
	}
	if delay > 0 {
		seconds := delay.Seconds()
		released.DelaySeconds = &seconds
	}
	return released
}

// OfText returns the outcome of a failure.
func OfText(text string) wire.Outcome {
	if len(text) > maxErrorBytes {
		text = text[:maxErrorBytes] + " …"
	}
	body, _ := json.Marshal(text) // A string is always representable; invalid UTF-8 is replaced.
	return wire.Outcome{Action: Fail, Error: body}
}

func ofError(err error) wire.Outcome {
	text := err.Error()
	if text == "" {
		text = fmt.Sprintf("%T", err)
	}
	failed := OfText(text)
	var nonRetryable *NonRetryable
	if errors.As(err, &nonRetryable) {
		retryable := false
		failed.Retryable = &retryable
	}
	var retryAfter *RetryAfter
	if errors.As(err, &retryAfter) {
		seconds := max(retryAfter.Delay, 0).Seconds()
		failed.RetryAfterSeconds = &seconds
	}
	return failed
}
