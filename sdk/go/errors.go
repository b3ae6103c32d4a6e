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

// Reasons for which the context of a handler is canceled. [context.Cause] returns them.
// After any of them except ErrDraining, whatever the handler returns is ignored.
var (
	// ErrKilled: the job was killed.
	ErrKilled = errors.New("the job was killed")
	// ErrDeliveryLost: another worker has or had the job.
	ErrDeliveryLost = errors.New("another worker has the job")
	// ErrTimedOut: the attempt is over, because it had no heartbeat in time or ran for too long.
	ErrTimedOut = errors.New("the attempt timed out")
	// ErrDraining: the worker stops. A result is still reported; with an error, the job is released.
	ErrDraining = errors.New("the worker stops")
)

// Codes of errors that the SDK makes itself. All others come from the service, see [wire.ErrorCode].
const (
	// CodeJobDead: the job will have no result, because its last attempt failed.
	CodeJobDead wire.ErrorCode = "JOB_DEAD"
	// CodeTimeout: the time limit of the caller is over.
	CodeTimeout wire.ErrorCode = "TIMEOUT"
	// CodeNoResponse: no response came from the service, or one that is not of the service.
	CodeNoResponse wire.ErrorCode = "NO_RESPONSE"
)

// Error is a call that was refused or had no response.
type Error struct {
	// Code for programs.
	Code wire.ErrorCode
	// Status is that of the HTTP response; 0 without one.
	Status int
	// Message for people, as the service sent it.
	Message string
	// JobStatus is the status of the job now; empty unless Status is 409.
	JobStatus wire.JobStatus
	// RequestID finds the call in the log of the service; empty without a response.
	RequestID string
	// Details has one entry for each invalid field; empty unless Status is 400.
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

// isTemporary reports whether the call may succeed when it is sent again.
func (e *Error) isTemporary() bool {
	if e.Status == http.StatusRequestEntityTooLarge { // The limit of a proxy, whose page has no code.
		return false
	}
	return e.Code == CodeNoResponse || e.Status >= 500 ||
		e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout
}

// isWithoutEffect reports whether the call may succeed later, and the service says that it has done nothing.
func (e *Error) isWithoutEffect() bool {
	return e.Status == http.StatusTooManyRequests ||
		e.Code == wire.ErrorCodeOverloaded || e.Code == wire.ErrorCodeStorageFull
}

// isOfKey reports whether the API key is wrong, so that an operator must act.
func (e *Error) isOfKey() bool {
	return e.Code == wire.ErrorCodeUnauthenticated || e.Code == wire.ErrorCodeForbidden ||
		(e.Code != CodeNoResponse && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden))
}

// abortReason returns why a handler must stop after this refusal; nil if it need not.
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

// errorOf returns the refusal in an entry of settle.
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

// ErrorLine returns the stored error of a job on one line, with its causes: "net.OpError: dial tcp … (cause: …)". It takes
// any JSON, because any client may have stored it.
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
