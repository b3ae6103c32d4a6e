package yardmaster

import (
	"context"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	minHeartbeatInterval = 50 * time.Millisecond
	maxHeartbeatInterval = time.Minute
	// A heartbeat call without a response is retried after this long, or after its interval if that is longer.
	minHeartbeatTimeout = 2 * time.Second
	// A lost heartbeat is retried within this time, unless the key is rate-limited.
	maxHeartbeatWait = 5 * time.Second
)

// sendHeartbeats sends one call for all running jobs when the first of them is due, even while the worker drains.
func (s *session) sendHeartbeats(ctx context.Context) {
	var wait backoff
	for {
		pause, attempts := s.nextHeartbeat()
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.started:
			timer.Stop()
			continue
		case <-s.beatNow:
			timer.Stop()
			_, attempts = s.nextHeartbeat()
		case <-timer.C:
		}
		err := s.beat(ctx, attempts)
		if err == nil {
			wait = backoff{}
			continue
		}
		if wait.failures == failuresBeforeWarning {
			s.warn(WarningUnavailable, "heartbeats fail and are retried: "+err.Error())
		}
		pause = wait.next(err)
		if asError(err).Code != wire.ErrorCodeRateLimited { // Until its Retry-After, every call is refused.
			pause = min(pause, maxHeartbeatWait, shortestInterval(attempts)/2) // The jobs would time out.
		}
		if !sleep(ctx, pause) {
			return
		}
		wake(s.beatNow) // The attempts are still due.
	}
}

// shortestInterval returns how often the attempts need heartbeats.
func shortestInterval(attempts []*attempt) time.Duration {
	shortest := maxHeartbeatInterval
	for _, a := range attempts {
		shortest = min(shortest, durationOf(a.job.TimeoutSeconds)/3)
	}
	return max(shortest, minHeartbeatInterval)
}

// nextHeartbeat returns how long to wait and the attempts that get heartbeats.
func (s *session) nextHeartbeat() (time.Duration, []*attempt) {
	pause := time.Hour
	var attempts []*attempt
	for _, a := range s.allAttempts() {
		if due, isNeeded := a.needsHeartbeat(); isNeeded {
			attempts = append(attempts, a)
			pause = min(pause, time.Until(due))
		}
	}
	return pause, attempts
}

// beat sends the heartbeats of some attempts and aborts those that are refused.
func (s *session) beat(ctx context.Context, attempts []*attempt) error {
	for len(attempts) > 0 {
		part := attempts[:min(len(attempts), maxSettle)]
		attempts = attempts[len(part):]
		if err := s.beatPart(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) beatPart(ctx context.Context, attempts []*attempt) error {
	outcomes := make([]wire.Outcome, len(attempts))
	limit := responseTimeout
	for i, a := range attempts {
		outcomes[i] = a.outcomes(wire.Outcome{Action: outcome.Keepalive})[0]
		limit = min(limit, max(durationOf(a.job.TimeoutSeconds)/3, minHeartbeatTimeout))
	}
	sentAt := time.Now()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	entries, err := s.client.settle(limited, outcomes)
	if err != nil {
		if refusal := asError(err); refusal.isOfKey() {
			s.fail(err)
		}
		return err
	}
	for i, a := range attempts {
		a.mu.Lock()
		a.beatAt = sentAt
		a.mu.Unlock()
		if entries[i].Success {
			continue
		}
		refusal := errorOf(entries[i])
		if reason := refusal.abortReason(); reason != nil {
			a.abort(reason)
		} else if refusal.isOfKey() {
			s.fail(refusal)
		}
	}
	return nil
}
