package yardmaster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	// Longest query that fits the header limit. With a longer one, the stream isn't filtered by name.
	maxNamesBytes = 6_000
	// Number of failures in a row after which the worker warns.
	streamFailuresBeforeWarning = 5
)

// watchKills aborts handlers as soon as the service reports that their attempts are over. Without the stream, the next
// heartbeat finds out.
func (s *session) watchKills(ctx context.Context) {
	failures := 0
	missing := func(err error) {
		s.warn(WarningStream, fmt.Sprintf("can't open the kill stream; a kill isn't noticed until the next heartbeat, up to "+
			"%.0f s later (%v)", maxHeartbeatInterval.Seconds(), err))
	}
	options := WatchOptions{Types: wire.JobLostEvents, OnDisconnect: func(err error) {
		if failures++; failures == streamFailuresBeforeWarning {
			missing(err)
		}
	}}
	if names := s.names(); len(url.Values{"name": names}.Encode()) < maxNamesBytes {
		options.Names = names
	}
	s.client.Watch(ctx, options)(func(message StreamMessage, err error) bool {
		switch {
		case ctx.Err() != nil:
		case err != nil:
			missing(err)
		case message.Type == StreamInit:
			failures = 0
			wake(s.beatNow) // A heartbeat finds out what happened while there was no stream.
		default:
			s.abortBy(message)
		}
		return ctx.Err() == nil
	})
}

// abortBy aborts an attempt if an event proves that its job is lost. An event can be about an earlier attempt, so any other
// one triggers a heartbeat, which finds out.
func (s *session) abortBy(message StreamMessage) {
	var data struct {
		AttemptNumber int `json:"attemptNumber"`
	}
	_ = json.Unmarshal(message.Data, &data)
	for _, a := range s.allAttempts() {
		isRetried := message.Type == wire.JobEventTypeRetried && data.AttemptNumber == a.job.Attempt
		switch {
		case a.job.ID != message.JobID:
		case message.Type == wire.JobEventTypeKilled:
			a.abort(ErrKilled)
		case message.Type == wire.JobEventTypeDead || isRetried:
			a.abort(ErrTimedOut)
		default:
			wake(s.beatNow)
		}
	}
}
