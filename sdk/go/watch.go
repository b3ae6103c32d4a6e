package yardmaster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	firstReconnect = 500 * time.Millisecond
	maxReconnect   = 30 * time.Second
	// A connection that lasts this long resets the backoff.
	lastingConnection = 5 * time.Second
	// A connection that is silent for this long is dead: the service sends a comment every 15 s.
	streamSilence = 45 * time.Second
)

// Types of stream messages that aren't events in a job's history.
const (
	StreamInit         wire.JobEventType = "init"
	StreamLogsAppended wire.JobEventType = "logs_appended"
	StreamCounts       wire.JobEventType = "counts"
)

// StreamMessage is a message of a stream. Missing fields have their zero value.
type StreamMessage struct {
	// Type is [StreamInit] in the first message of each connection. Ignore types that you don't know, because later releases
	// of the service may add some.
	Type wire.JobEventType `json:"type"`
	// JobID and JobName of the job; empty in messages about the space itself.
	JobID   string `json:"jobId"`
	JobName string `json:"jobName"`
	// SpaceID of the space; empty in the stream of a job.
	SpaceID string `json:"spaceId"`
	// Status of the job after the event; empty if the API key may only see progress.
	Status wire.JobStatus `json:"status"`
	// Data of the event, such as the result of a completed job.
	Data json.RawMessage `json:"data"`
	// Progress is the latest progress report, in an init; nil unless the API key may only see progress.
	Progress *wire.Progress `json:"progress"`
	// Counts is the number of jobs of the space with each status; nil unless [WatchOptions] asks for it.
	Counts map[wire.JobStatus]int `json:"counts"`
	// Timestamp of the event. For an init, it is the moment that the message describes.
	Timestamp wire.Timestamp `json:"timestamp"`
	// Seq is the number of the event in the job's history; nil without Since and before the first reconnect.
	Seq *int `json:"seq"`
	// Missed reports, in an init, that earlier events were lost.
	Missed bool `json:"missed"`
}

// WatchOptions selects what a stream shows. All fields are optional.
type WatchOptions struct {
	// Since is the number of the event to start after in the stream of a job; 0 for the whole history. See [Ptr]. Default:
	// start from now.
	Since *int
	// Names: in the stream of a space, only events of jobs with one of these names.
	Names []string
	// Types: in the stream of a space, only messages of these types, and [StreamInit].
	Types []wire.JobEventType
	// Tags: in the stream of a space, only events of jobs with all of these tags.
	Tags []string
	// Counts: in the stream of a space, adds messages of the type [StreamCounts], at most one per second.
	Counts bool
	// OnDisconnect is called with the reason before each reconnect.
	OnDisconnect func(error)
}

// Watch returns an iterator over the events of the space as they happen. It reconnects until you leave the loop or until
// there is an error: the error of the context, or an [*Error] if the service refuses the stream. Use it like [Client.List].
//
// Events that happen during a reconnect are missed. So list the jobs again after each [StreamInit].
func (c *Client) Watch(ctx context.Context, options WatchOptions) func(yield func(StreamMessage, error) bool) {
	return c.watch(ctx, watch{path: "/realtime" + c.spacePath(""), options: options})
}

// Watch returns an iterator over the events of the job as they happen, which ends after the job's last event. It reconnects
// and resumes, so each event arrives once. An error ends it: the error of the context, or an [*Error] if the service
// refuses the stream. Use it like [Client.List].
func (h *Handle) Watch(ctx context.Context, options WatchOptions) func(yield func(StreamMessage, error) bool) {
	return h.client.watch(ctx, watch{path: "/realtime/" + url.PathEscape(h.ID), options: options, isOfJob: true})
}

func (c *Client) watch(ctx context.Context, w watch) func(yield func(StreamMessage, error) bool) {
	w.client, w.silence = c, streamSilence
	if w.options.Since != nil {
		w.lastID = strconv.Itoa(*w.options.Since)
	}
	return func(yield func(StreamMessage, error) bool) {
		run := w // A second loop over the iterator starts over.
		if err := run.untilOver(ctx, yield); err != nil {
			yield(StreamMessage{}, err)
		}
	}
}

// watch is one loop over a stream.
type watch struct {
	client  *Client
	path    string
	options WatchOptions
	isOfJob bool
	silence time.Duration
	// lastID is the ID of the last message with one, after which the next connection resumes; empty to start from now.
	lastID string
	// initAt is the timestamp of this connection's init. If isResumed, older events can follow it.
	initAt    wire.Timestamp
	isResumed bool
	openedAt  time.Time // Zero until the init of this connection.
}

// untilOver reads connection after connection. It returns nil once the job or the caller's loop has ended.
func (w *watch) untilOver(ctx context.Context, yield func(StreamMessage, error) bool) error {
	for failures := 0; ; failures++ {
		err := w.read(ctx, yield)
		if err == nil {
			return nil
		}
		refusal := asError(err)
		if !refusal.isTemporary() {
			return err
		}
		if !w.openedAt.IsZero() && time.Since(w.openedAt) > lastingConnection {
			failures = 0
		}
		if w.options.OnDisconnect != nil && ctx.Err() == nil {
			w.options.OnDisconnect(err)
		}
		ceiling := min(firstReconnect<<min(failures, 10), maxReconnect)
		if !sleep(ctx, max(rand.N(ceiling), refusal.retryAfter)) {
			return stopped(ctx, err)
		}
	}
}

// read reads one connection. It returns why the connection ended; nil if the watch is over.
func (w *watch) read(ctx context.Context, yield func(StreamMessage, error) bool) error {
	w.openedAt, w.isResumed = time.Time{}, w.lastID != ""
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(w.silence, func() { cancel(lost("nothing arrived for %s", w.silence)) })
	defer watchdog.Stop()
	broken := func(err error) error {
		if cause := context.Cause(reading); cause != nil {
			err = cause
		}
		return noResponse(ctx, err)
	}
	response, err := w.client.open(reading, w.request())
	if err != nil {
		return broken(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusNoContent && w.isResumed {
		return nil // No more messages follow.
	}
	if kind := response.Header.Get("content-type"); !strings.HasPrefix(kind, "text/event-stream") {
		return lost("status %d with the type %q is not a stream of the service; check the URL", response.StatusCode, kind)
	}
	lines := bufio.NewReader(&watched{response.Body, watchdog, w.silence})
	for event := map[string]string{}; ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			err = lost("the connection was closed")
		}
		if err != nil {
			return broken(err) // The incomplete event is sent again.
		}
		line = strings.TrimRight(line, "\r\n")
		if name, value, _ := strings.Cut(line, ":"); name != "" {
			event[name] = strings.TrimPrefix(value, " ") // The service writes each field on one line.
			continue
		}
		if line != "" {
			continue // A comment.
		}
		switch event["event"] {
		case "ended":
			return nil
		case "expired":
			return &Error{Code: wire.ErrorCodeUnauthenticated, Status: http.StatusUnauthorized,
				Message: "The stream token has expired"}
		}
		if message, isMessage := messageIn(event["data"]); isMessage && !w.next(message, event["id"], yield) {
			return nil
		}
		clear(event)
	}
}

func (w *watch) request() request {
	query := url.Values{"name": w.options.Names, "tag": w.options.Tags}
	for _, each := range w.options.Types {
		query.Add("type", string(each))
	}
	if w.options.Counts {
		query.Set("counts", "1")
	}
	header := map[string]string{"accept": "text/event-stream"}
	if w.isResumed {
		header["last-event-id"] = w.lastID
	}
	return request{method: http.MethodGet, path: w.path + "?" + query.Encode(), header: header}
}

// next passes a message on. It returns false if the watch is over.
func (w *watch) next(message StreamMessage, id string, yield func(StreamMessage, error) bool) bool {
	if message.Type == StreamInit {
		w.openedAt, w.initAt = time.Now(), message.Timestamp
	}
	if id != "" {
		w.lastID = id
	}
	return yield(message, nil) && !w.ends(message)
}

// ends reports whether a message ends the job. After a message older than the init, the job may have been requeued, unless
// it was completed.
func (w *watch) ends(message StreamMessage) bool {
	status := wire.JobStatus(message.Type) // A terminal event has the name of its status.
	if message.Type == StreamInit {
		status = message.Status
	}
	isOld := w.isResumed && message.Timestamp <= w.initAt
	switch status {
	case wire.JobStatusDead, wire.JobStatusKilled:
		return w.isOfJob && !isOld
	case wire.JobStatusCompleted:
		return w.isOfJob && !(isOld && message.Type == StreamInit) // The event with the result may follow the init.
	default:
		return false
	}
}

// lost returns the reason for reopening a connection.
func lost(format string, values ...any) error {
	return &Error{Code: CodeNoResponse, Message: fmt.Sprintf(format, values...)}
}

// messageIn decodes a message. A field with an unknown type is omitted.
func messageIn(data string) (message StreamMessage, isMessage bool) {
	err := json.Unmarshal([]byte(data), &message)
	var ofType *json.UnmarshalTypeError
	return message, (err == nil || errors.As(err, &ofType)) && message.Type != ""
}

// watched is a body whose watchdog fires if a read takes too long. The time between two reads doesn't count.
type watched struct {
	io.Reader
	watchdog *time.Timer
	silence  time.Duration
}

func (w *watched) Read(into []byte) (int, error) {
	w.watchdog.Reset(w.silence)
	defer w.watchdog.Stop()
	return w.Reader.Read(into)
}
