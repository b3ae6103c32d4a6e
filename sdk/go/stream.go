package yardmaster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
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
	// Longer queries are refused with the headers; then the stream shows all names.
	maxNamesBytes = 6_000
	// A longer line ends the connection.
	maxStreamLine = 1 << 20
	// After this many failures in a row there is a warning.
	streamFailuresBeforeWarning = 5
)

// streamMessage is an event of a job of the space.
type streamMessage struct {
	Type  wire.JobEventType `json:"type"`
	JobID string            `json:"jobId"`
	Data  struct {
		AttemptNumber int `json:"attemptNumber"`
	} `json:"data"`
}

// followStream aborts handlers as soon as the service reports that their attempts are over. Without the stream, the
// next heartbeat finds out.
func (s *session) followStream(ctx context.Context) {
	for failures := 1; ; failures++ {
		openedAt, err := s.readStream(ctx, streamSilence)
		if ctx.Err() != nil {
			return
		}
		if !openedAt.IsZero() && time.Since(openedAt) > lastingConnection {
			failures = 1
		}
		isRefused := isFinal(err)
		if isRefused || failures == streamFailuresBeforeWarning {
			s.warn(WarningStream, fmt.Sprintf("there is no stream of kills, so a kill is noticed with the next heartbeat, up to "+
				"%.0f s later: %v", maxHeartbeatInterval.Seconds(), err))
		}
		ceiling := min(firstReconnect<<min(failures-1, 10), maxReconnect)
		if isRefused || !sleep(ctx, rand.N(ceiling)) {
			return
		}
	}
}

// isFinal reports whether another try is useless, for example because the key lacks the scope jobs:read.
func isFinal(err error) bool {
	refusal := asError(err)
	return refusal.Status >= 400 && refusal.Status < 500 && !refusal.isTemporary()
}

func (s *session) streamPath() string {
	query := url.Values{}
	for _, each := range wire.JobLostEvents {
		query.Add("type", string(each))
	}
	if names := (url.Values{"name": s.names()}).Encode(); len(names) < maxNamesBytes {
		query["name"] = s.names()
	}
	return "/realtime" + s.client.spacePath("?"+query.Encode())
}

// readStream reads server-sent events until the connection ends, or is silent for too long. It returns when the first
// message came; zero if none did.
func (s *session) readStream(ctx context.Context, silence time.Duration) (openedAt time.Time, err error) {
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing came for %s", silence)) })
	defer watchdog.Stop()
	defer func() {
		if cause := context.Cause(reading); cause != nil {
			err = cause
		}
	}()
	header := map[string]string{"accept": "text/event-stream"}
	response, err := s.client.open(reading, request{method: http.MethodGet, path: s.streamPath(), header: header})
	if err != nil {
		return openedAt, noResponse(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	if kind := response.Header.Get("content-type"); !strings.HasPrefix(kind, "text/event-stream") {
		return openedAt, fmt.Errorf("the response has status %d and the type %q", response.StatusCode, kind)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxStreamLine)
	for lines.Scan() {
		watchdog.Reset(silence) // Comments count.
		data, isData := strings.CutPrefix(lines.Text(), "data:")
		var message streamMessage
		if !isData || json.Unmarshal([]byte(data), &message) != nil {
			continue // Data of another type is possible, but not in the events that matter here.
		}
		if message.Type == "init" {
			openedAt = time.Now()
		}
		s.onMessage(message)
	}
	if err = lines.Err(); err == nil {
		err = errors.New("the connection was closed")
	}
	return openedAt, err
}

func (s *session) onMessage(message streamMessage) {
	if message.Type == "init" {
		wake(s.beatNow) // A heartbeat finds out about what happened while there was no stream.
		return
	}
	for _, a := range s.allAttempts() {
		if a.job.ID == message.JobID {
			a.onMessage(message)
		}
	}
}
