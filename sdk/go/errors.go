package yardmaster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Reasons for canceling the context of a handler, which [context.Cause] returns. Except for ErrDraining, what the handler
// returns afterwards is ignored.
var (
	// ErrKilled: the job was killed.
	ErrKilled = errors.New("the job was killed")
	// ErrDeliveryLost: another worker has taken over the job.
	ErrDeliveryLost = errors.New("another worker has the job")
	// ErrTimedOut: no heartbeat arrived in time, or the attempt ran for too long.
	ErrTimedOut = errors.New("the attempt timed out")
	// ErrDraining: the worker is shutting down. A result is still reported; with an error, the job is released.
	ErrDraining = errors.New("the worker is shutting down")
)

// Error codes of the SDK itself. All others come from the service: see [wire.ErrorCode].
const (
	// CodeJobDead: the last attempt of the job failed, so it has no result.
	CodeJobDead wire.ErrorCode = "JOB_DEAD"
	// CodeTimeout: the caller's time limit has passed.
	CodeTimeout wire.ErrorCode = "TIMEOUT"
	// CodeNoResponse: the service didn't respond, or something else did, such as a proxy.
	CodeNoResponse wire.ErrorCode = "NO_RESPONSE"
)

// Error is a call that was refused or got no response.
type Error struct {
	// Code stays the same when the message changes.
	Code wire.ErrorCode
	// Status is the HTTP status; 0 without a response.
	Status int
	// Message is the text of the service, for people.
	Message string
	// JobStatus is the current status of the job; empty except for a 409 and for errors of [Handle.Result].
	JobStatus wire.JobStatus
	// JobID is the job in the way; empty except for [wire.ErrorCodeJobNotUnique] and [wire.ErrorCodeScheduleRunning].
	JobID string
	// RequestID identifies the request in the logs of the service; empty without a response.
	RequestID string
	// Details has one entry per invalid field; empty unless Status is 400.
	Details []wire.FaultDetail
	// JobError is the error of the job; nil unless Code is CodeJobDead.
	JobError json.RawMessage

	retryAfter time.Duration
	cause      error
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("yardmaster: %s (%s)", e.Message, e.Code) }

// Unwrap returns the error of the connection, if there was one.
func (e *Error) Unwrap() error { return e.cause }

func asError(err error) *Error {
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal
	}
	return &Error{Code: CodeNoResponse, Message: err.Error(), cause: err}
}

// isTemporary reports whether a retry may succeed.
func (e *Error) isTemporary() bool {
	if e.Status == http.StatusRequestEntityTooLarge { // The limit of a proxy, whose page has no code.
		return false
	}
	return e.Code == CodeNoResponse || e.Status >= 500 ||
		e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout
}

// isWithoutEffect reports whether the call certainly had no effect, so that a retry is safe.
func (e *Error) isWithoutEffect() bool {
	return e.Status == http.StatusTooManyRequests ||
		e.Code == wire.ErrorCodeOverloaded || e.Code == wire.ErrorCodeStorageFull
}

// isOfKey reports whether the API key is invalid or lacks a scope, so that someone has to act.
func (e *Error) isOfKey() bool {
	return e.Code == wire.ErrorCodeUnauthenticated || e.Code == wire.ErrorCodeForbidden ||
		(e.Code != CodeNoResponse && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden))
}

// abortReason returns the reason to abort a handler after this refusal; nil if it may continue.
func (e *Error) abortReason() error {
	switch e.Code {
	case wire.ErrorCodeJobKilled:
		return ErrKilled
	case wire.ErrorCodeDeliveryLost, wire.ErrorCodeJobNotFound:
		return ErrDeliveryLost
	case wire.ErrorCodeJobNotRunning, wire.ErrorCodeJobNotDelivered:
		if e.JobStatus == wire.JobStatusKilled {
			return ErrKilled
		}
		return ErrTimedOut
	default:
		return nil
	}
}

// errorOf returns the refusal in one entry of a settle response.
func errorOf(entry wire.Settled) *Error {
	e := &Error{Status: http.StatusConflict}
	if entry.Code != nil {
		e.Code = *entry.Code
	}
	if entry.Error != nil {
		e.Message = *entry.Error
	}
	if entry.JobStatus != nil {
		e.JobStatus = *entry.JobStatus
	}
	switch e.Code {
	case wire.ErrorCodeOverloaded, wire.ErrorCodeUnavailable, wire.ErrorCodeStorageFull, wire.ErrorCodeStorageUnsafe:
		e.Status = http.StatusServiceUnavailable
	case wire.ErrorCodeInternal:
		e.Status = http.StatusInternalServerError
	case wire.ErrorCodeForbidden:
		e.Status = http.StatusForbidden
	case wire.ErrorCodeJobNotFound:
		e.Status = http.StatusNotFound
	}
	return e
}

// ErrorLine returns the stored error of a job and its causes on one line: "net.OpError: dial tcp … (cause: …)". It accepts
// any JSON, because any client may have stored the error.
func ErrorLine(stored json.RawMessage) string {
	var value any
	if json.Unmarshal(stored, &value) != nil {
		return string(stored)
	}
	return lineBreaks.ReplaceAllString(errorLine(value), " ")
}

var lineBreaks = regexp.MustCompile(`\s*[\r\n]+\s*`)

func errorLine(stored any) string {
	if text, isText := stored.(string); isText {
		return text
	}
	fields, _ := stored.(map[string]any)
	message, hasMessage := fields["message"].(string)
	if !hasMessage {
		body, _ := outcome.JSON(stored, "error") // It comes from JSON.
		return string(body)
	}
	line := message
	if name, _ := fields["name"].(string); name != "" {
		line = strings.TrimSuffix(name+": "+message, ": ")
	}
	if causes, _ := fields["causes"].([]any); len(causes) > 0 {
		line += " (cause: " + errorLine(causes[0]) + ")"
	}
	return line
}
