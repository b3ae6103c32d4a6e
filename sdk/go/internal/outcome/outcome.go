// Package outcome decides what a worker reports when a handler returns.
package outcome

import (
	"fmt"
	"net/http"
	"strconv"
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

const (
	maxReason = 1_000 // In characters; the service accepts 64 KB of JSON.
	// Maximum length of the name in an error that replaces a refused one, in characters.
	maxReplacedName = 100
)

// NonRetryable is an error that makes the job dead.
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

// Released puts the job back in the queue without using up an attempt.
type Released struct {
	Delay  time.Duration
	Reason string
}

func (e *Released) Error() string { return fmt.Sprintf("the job is released for %s", e.Delay) }

// Of returns the outcome of a handler, whatever it returned. The job and its token are not set.
func Of(result any, err error) wire.Outcome {
	made, failure := Isolated(func() (wire.Outcome, error) { return of(result, err), nil })
	switch {
	case failure == nil:
		return made
	case err == nil:
		return invalidResult("The result is not JSON: result cannot be read")
	default:
		return wire.Outcome{Action: Fail, Error: (&Error{Name: nameOf(withoutControl(err)), Message: unreadable}).json()}
	}
}

func of(result any, err error) wire.Outcome {
	if err == nil {
		body, fault := Stored(result, "result")
		if IsTooLarge(fault) {
			return invalidResult(fault.Error())
		}
		if fault != nil {
			return invalidResult("The result is not JSON: " + fault.Error())
		}
		return wire.Outcome{Action: Complete, Result: body}
	}
	failed := wire.Outcome{Action: Fail}
	for _, each := range wrappedIn(err) {
		switch each := each.(type) {
		case *Released:
			return OfRelease(each.Delay, each.Reason)
		case *NonRetryable:
			failed.Retryable = new(bool)
		case *RetryAfter:
			if failed.RetryAfterSeconds == nil {
				seconds := each.Delay.Seconds()
				failed.RetryAfterSeconds = &seconds
			}
		}
	}
	failed.Error = describe(err).json()
	return failed
}

// IsUnexpected reports whether an outcome is a failure that the handler didn't choose.
func IsUnexpected(o wire.Outcome) bool {
	isChosen := o.Retryable != nil || o.RetryAfterSeconds != nil
	return o.Action == Fail && (!isChosen || errorIn(o.Error).Name == invalidResultName)
}

// OfRelease returns the outcome that releases a job.
func OfRelease(delay time.Duration, reason string) wire.Outcome {
	released := wire.Outcome{Action: Release}
	if reason != "" {
		reason = cut(reason, maxReason)
		released.Reason = &reason
	}
	if delay > 0 {
		seconds := delay.Seconds()
		released.DelaySeconds = &seconds
	}
	return released
}

const invalidResultName = "InvalidResult"

// invalidResult returns the failure of an attempt whose result can't be stored. A retry would return the same.
func invalidResult(message string) wire.Outcome {
	return wire.Outcome{
		Action: Fail, Retryable: new(bool), Error: (&Error{Name: invalidResultName, Message: message}).json(),
	}
}

// InsteadOf replaces an outcome that the service refused with 400 or 413 by one whose content it accepts. It returns false
// for a report that doesn't end an attempt.
func InsteadOf(o wire.Outcome, status int, refusal string) (wire.Outcome, bool) {
	var instead wire.Outcome
	switch o.Action {
	case Complete:
		message := "The service refuses the result: " + refusal
		if status == http.StatusRequestEntityTooLarge {
			message = fmt.Sprintf("The result has %s bytes of JSON, which the service refuses: %s. "+
				"Store it elsewhere and return its URL.", grouped(len(o.Result)), refusal)
		}
		instead = invalidResult(message)
	case Fail:
		refused := &Error{
			Name:    cut(errorIn(o.Error).Name, maxReplacedName),
			Message: "The service refused the error of this attempt: " + refusal,
		}
		instead = wire.Outcome{
			Action: Fail, Error: refused.json(), Retryable: o.Retryable, RetryAfterSeconds: o.RetryAfterSeconds,
		}
	case Release:
		instead = wire.Outcome{Action: Release}
	default:
		return o, false
	}
	instead.JobID, instead.DeliveryToken = o.JobID, o.DeliveryToken
	return instead, true
}

// grouped formats a number as 1,234,567.
func grouped(number int) string {
	digits := strconv.Itoa(number)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
