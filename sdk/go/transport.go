package yardmaster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Time for the response of a call, in addition to its wait.
const responseTimeout = 10 * time.Second

// request is one call, which can be retried.
type request struct {
	method string
	path   string // Below /api/v1, escaped.
	header map[string]string
	body   []byte // JSON, unless header has another content-type; nil for none.
	wait   time.Duration
	// nextCursor receives the header x-next-cursor of the response; nil to ignore it.
	nextCursor *string
	// once means that a retry would take effect a second time. Such a call is retried only if it certainly had no effect.
	once bool
}

func (r request) mayRepeat(err error) bool {
	if r.once {
		return asError(err).isWithoutEffect()
	}
	return asError(err).isTemporary()
}

// jsonBody encodes the body of a call. An error looks like a refusal by the service, so that the call isn't retried. It
// happens for a result of more than 10,000 levels, which package json writes but doesn't accept as part of a call.
func jsonBody(value any) ([]byte, error) {
	body, err := outcome.JSON(value, "request")
	if err != nil {
		return nil, &Error{
			Code: wire.ErrorCodeInvalidRequest, Status: http.StatusBadRequest,
			Message: "the request is not JSON: " + err.Error(), cause: err,
		}
	}
	return body, nil
}

// partBody encodes a user's value. The error names the value and the part that isn't JSON.
func partBody(value any, name string) ([]byte, error) {
	body, err := outcome.Stored(value, name)
	switch {
	case outcome.IsTooLarge(err):
		return nil, fmt.Errorf("yardmaster: %w", err)
	case err != nil:
		return nil, fmt.Errorf("yardmaster: the %s is not JSON: %w", name, err)
	}
	return body, nil
}

// send makes a call once and decodes its response into a value.
func (c *Client) send(ctx context.Context, r request, into any) error {
	limited, cancel := context.WithTimeout(ctx, r.wait+responseTimeout)
	defer cancel()
	response, err := c.open(limited, r)
	if err != nil {
		return noResponse(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return noResponse(ctx, err)
	}
	if r.nextCursor != nil {
		*r.nextCursor = response.Header.Get("x-next-cursor")
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &Error{
			Code: CodeNoResponse, Status: response.StatusCode,
			Message: "the response is not the JSON of the service; check the URL", cause: err,
		}
	}
	return nil
}

// open makes a call and returns its response, whose body the caller closes. A refusal is an [*Error].
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.url+"/api/v1"+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	c.authorize(req.Header)
	req.Header.Set("user-agent", userAgent)
	if r.body != nil {
		req.Header.Set("content-type", "application/json")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	response, err := c.http.Do(req)
	if err != nil || response.StatusCode < 300 {
		return response, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return nil, refusalOf(response, text)
}

// noResponse returns the error of a call without a response, or its refusal. It omits the URL of the call, which doesn't
// help.
func noResponse(ctx context.Context, err error) error {
	if refusal, isRefused := err.(*Error); isRefused {
		return refusal
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	return &Error{Code: CodeNoResponse, Message: "no response: " + err.Error(), cause: err}
}

// refusalOf decodes an error of the service. Any other body comes from a proxy, so the call is retried.
func refusalOf(response *http.Response, text []byte) error {
	refusal := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("x-request-id"),
		retryAfter: retryAfterOf(response.Header.Get("retry-after")),
	}
	var body wireError
	if err := json.Unmarshal(text, &body); err != nil || body.Code == "" {
		refusal.Code = CodeNoResponse
		refusal.Message = fmt.Sprintf("status %d without an error of the service; check the URL", response.StatusCode)
		return refusal
	}
	refusal.Code, refusal.Message, refusal.Details = body.Code, body.Error, body.Details
	if body.JobStatus != nil {
		refusal.JobStatus = *body.JobStatus
	}
	if body.JobID != nil {
		refusal.JobID = *body.JobID
	}
	return refusal
}

// retryAfterOf parses a number of seconds or a date.
func retryAfterOf(text string) time.Duration {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 3600) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), time.Hour)
	}
	return 0
}

// call retries a request until a response says what it did, or until the retry window has passed.
func (c *Client) call(ctx context.Context, r request, into any) error {
	var wait backoff
	began := time.Now()
	for {
		err := c.send(ctx, r, into)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return stopped(ctx, err)
		}
		pause := wait.next(err)
		if !r.mayRepeat(err) || time.Since(began)+pause > c.retryWindow {
			return err
		}
		if !sleep(ctx, pause) {
			return stopped(ctx, err)
		}
	}
}

// stopped returns the error of a call whose context is done. A deadline is the caller's time limit.
func stopped(ctx context.Context, last error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	message := "the time limit has passed"
	if refusal := asError(last); refusal.Code != CodeNoResponse || refusal.Status != 0 {
		message += "; the last response was: " + refusal.Message
	}
	return &Error{Code: CodeTimeout, Message: message, cause: ctx.Err()}
}
