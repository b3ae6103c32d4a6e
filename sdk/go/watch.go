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
	// A connection of this length counts as a success.
	lastingConnection = 5 * time.Second
	// The service sends a comment every 15 s.
	streamSilence = 45 * time.Second
)

// Types of the messages of a stream that are not events of the history of a job.
const (
	StreamInit         wire.JobEventType = "init"
	StreamLogsAppended wire.JobEventType = "logs_appended"
	StreamCounts       wire.JobEventType = "counts"
)

// StreamMessage is a message of a stream. Fields that it does not have are at their zero value.
type StreamMessage struct {
	// Type is [StreamInit] in the first message of each connection. Ignore types that you do not know: later releases of the
	// service may add some.
	Type wire.JobEventType `json:"type"`
	// JobID and JobName of the job; empty in the messages of a space that are about no job.
	JobID   string `json:"jobId"`
	JobName string `json:"jobName"`
	// SpaceID of the space; empty in the stream of a job.
	SpaceID string `json:"spaceId"`
	// Status of the job after the event; empty if the API key may only see progress.
	Status wire.JobStatus `json:"status"`
	// Data of the event, such as the result of a completed job.
	Data json.RawMessage `json:"data"`
	// Progress is the latest report before an init; nil unless the API key may only see progress.
	Progress *wire.Progress `json:"progress"`
	// Counts is the number of jobs of the space with each status; nil unless [WatchOptions] asks for it.
	Counts map[wire.JobStatus]int `json:"counts"`
	// Timestamp of the event. For an init it is the moment that the message describes.
	Timestamp wire.Timestamp `json:"timestamp"`
	// Seq is the number of the event in the history of the job; nil on a connection that began at the present.
	Seq *int `json:"seq"`
	// Missed says of an init that events before it are lost.
	Missed bool `json:"missed"`
}

// WatchOptions says what a stream shows. The fields are optional.
type WatchOptions struct {
	// Since is the number of the event of a job after which its stream begins; 0 for its whole history. See [Ptr]. Default:
	// the present.
	Since *int
	// Names of jobs: only of one of these. For the stream of a space.
	Names []string
	// Types of messages: only one of these, and [StreamInit]. For the stream of a space.
	Types []wire.JobEventType
	// Tags of jobs: only with all of these. For the stream of a space.
	Tags []string
	// Counts adds messages of the type [StreamCounts], at most one a second. For the stream of a space.
	Counts bool
	// OnDisconnect is called before each reconnect, with the reason.
	OnDisconnect func(error)
}

// Watch returns an iterator over the events of the space as they happen. It reconnects for as long as it can, and ends only
// with the loop or with an error: that of the context, or an [*Error] when the service refuses the stream. Use it like
// [Client.List].
//
// Events are lost while there is no connection. So list the jobs again after each message of the type [StreamInit].
func (c *Client) Watch(ctx context.Context, options WatchOptions) func(yield func(StreamMessage, error) bool) {
	return c.watch(ctx, watch{path: "/realtime" + c.spacePath(""), options: options})
}

// Watch returns an iterator over the events of the job as they happen, each once. It ends after the event with which the job
// ends. Until then it reconnects and resumes, unless there is an error: that of the context, or an [*Error] when the service
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
		run := w // Another loop over the iterator starts over.
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
	// lastID is that of the last message that had one, after which the next connection resumes; empty for the present.
	lastID string
	// initAt is the timestamp of the init of this connection. Older events follow it if the connection isResumed.
	initAt    wire.Timestamp
	isResumed bool
	openedAt  time.Time // Zero until the init of this connection.
}

// untilOver reads connection after connection. It returns nil when the job has ended, and when the loop of the caller has.
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

// read reads one connection. It returns why the connection ended; nil when the watch is over.
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
		return nil // No message follows.
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
			return broken(err) // The event that is not complete comes again.
		}
		line = strings.TrimRight(line, "\r\n")
		if name, value, _ := strings.Cut(line, ":"); name != "" {
			event[name] = strings.TrimPrefix(value, " ") // The service writes each field in one line.
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

// next passes a message on. It returns false when the watch is over.
func (w *watch) next(message StreamMessage, id string, yield func(StreamMessage, error) bool) bool {
	if message.Type == StreamInit {
		w.openedAt, w.initAt = time.Now(), message.Timestamp
	}
	if id != "" {
		w.lastID = id
	}
	return yield(message, nil) && !w.ends(message)
}

// ends reports whether a job has ended with a message. A job may have been requeued after a message that is older than the
// init, but not after its completion.
func (w *watch) ends(message StreamMessage) bool {
	status := wire.JobStatus(message.Type) // The event of an end has the name of the status.
	if message.Type == StreamInit {
		status = message.Status
	}
	isOld := w.isResumed && message.Timestamp <= w.initAt
	switch status {
	case wire.JobStatusDead, wire.JobStatusKilled:
		return w.isOfJob && !isOld
	case wire.JobStatusCompleted:
		return w.isOfJob && !(isOld && message.Type == StreamInit) // The result may follow the init.
	default:
		return false
	}
}

// lost returns why a connection ended that is to be opened again.
func lost(format string, values ...any) error {
	return &Error{Code: CodeNoResponse, Message: fmt.Sprintf(format, values...)}
}

// messageIn reads a message. A field whose type this release does not know is left out.
func messageIn(data string) (message StreamMessage, isMessage bool) {
	err := json.Unmarshal([]byte(data), &message)
	var ofType *json.UnmarshalTypeError
	return message, (err == nil || errors.As(err, &ofType)) && message.Type != ""
}

// watched is a body that calls its watchdog when a read takes too long. What the caller does between two reads may take longer.
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
