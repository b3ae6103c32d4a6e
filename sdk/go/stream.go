package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/websocket"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	firstReconnect = 500 * time.Millisecond
	maxReconnect   = 30 * time.Second
	// A connection of this length counts as a success.
	lastingConnection = 5 * time.Second
	// The service pings every 25 s.
	streamSilence = 75 * time.Second
	// Longer queries are refused with the headers; then the stream shows all names.
	maxNamesBytes = 6_000
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
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		err := s.readStream(ctx)
		if ctx.Err() != nil {
			return
		}
		if isFinal(err) {
			s.warn(WarningStream, "no stream of kills; they are noticed at the next heartbeat: "+err.Error())
			return
		}
		if time.Since(began) > lastingConnection {
			failures = 0
		}
		ceiling := min(firstReconnect<<min(failures, 10), maxReconnect)
		if !sleep(ctx, rand.N(ceiling)) {
			return
		}
	}
}

// isFinal reports whether another try is useless, for example because the key lacks the scope jobs:read.
func isFinal(err error) bool {
	var refused *websocket.RefusedError
	if errors.As(err, &refused) {
		return refused.Status >= 400 && refused.Status < 500 && refused.Status != 429 && refused.Status != 408
	}
	var closed *websocket.CloseError
	return errors.As(err, &closed) && closed.Code == websocket.PolicyViolation
}

func (s *session) streamURL() string {
	query := url.Values{}
	for _, each := range wire.JobLostEvents {
		query.Add("type", string(each))
	}
	if names := (url.Values{"name": s.names()}).Encode(); len(names) < maxNamesBytes {
		query["name"] = s.names()
	}
	return s.client.url + "/api/v1/realtime" + s.client.spacePath("?"+query.Encode())
}

func (s *session) readStream(ctx context.Context) error {
	header := http.Header{}
	s.client.authorize(header)
	stream, err := websocket.Dial(ctx, s.client.http, s.streamURL(), header, streamSilence)
	var refused *websocket.RefusedError
	if errors.As(err, &refused) {
		return err
	}
	if err != nil {
		return noResponse(ctx, err)
	}
	defer stream.Close()
	for {
		text, err := stream.Read()
		if err != nil {
			return err
		}
		var message streamMessage
		if json.Unmarshal(text, &message) != nil {
			continue // Data of another type is possible, but not in the events that matter here.
		}
		if message.Type == "init" {
			wake(s.beatNow) // A heartbeat finds out about what happened while there was no stream.
			continue
		}
		for _, a := range s.allAttempts() {
			if a.job.ID == message.JobID {
				a.onMessage(message)
			}
		}
	}
}
