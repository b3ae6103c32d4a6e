package yardmaster

import (
	"context"
	"net/http"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	maxClaim = 50
	// How long to collect free slots, so that one poll claims jobs for several. Shorter than for outcomes.
	collectSlots = 2 * time.Millisecond
	// Number of failures in a row after which the worker warns.
	failuresBeforeWarning = 3
)

// poll claims jobs while there are free slots, one call at a time.
func (s *session) poll(ctx context.Context) {
	var wait backoff
	for s.waitForSlot(ctx) {
		reports := s.outbox.take()
		s.health.pollBegins(time.Now())
		polled, err := s.pollOnce(ctx, reports)
		if err == nil {
			s.health.pollAnswered()
			wait = backoff{}
			s.outbox.settled(reports, polled.Settled)
			s.begin(polled.Jobs)
			continue
		}
		s.outbox.sendAgain(reports, err)
		refusal := asError(err)
		if ctx.Err() != nil {
			return
		}
		if !refusal.isTemporary() && (len(reports) == 0 || refusal.isOfKey()) {
			s.fail(err)
			return
		}
		pause := wait.next(err)
		if wait.failures == failuresBeforeWarning {
			s.warn(WarningUnavailable, "polls fail and are retried: "+err.Error())
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// waitForSlot waits for a free slot. It returns false if the worker is shutting down.
func (s *session) waitForSlot(ctx context.Context) bool {
	for {
		if ctx.Err() != nil {
			return false
		}
		if free := s.freeSlots(); free > 0 {
			return free == s.options.Concurrency || sleep(ctx, collectSlots)
		}
		select {
		case <-s.freed:
		case <-ctx.Done():
		}
	}
}

func (s *session) freeSlots() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots
}

// pollOnce settles outcomes and claims jobs. A poll with outcomes doesn't wait for a job, so that the outcomes are
// confirmed immediately. The next poll waits.
func (s *session) pollOnce(ctx context.Context, reports []*report) (*wire.PolledJobs, error) {
	count := min(s.freeSlots(), maxClaim)
	poll := wire.Poll{Types: s.names(), Count: &count, WorkerID: &s.options.WorkerID, Settle: outcomesOf(reports)}
	wait := longPoll
	if len(reports) > 0 {
		wait = 0
	} else {
		poll.WaitSeconds = Ptr(wait.Seconds())
	}
	if s.options.AutoAck {
		poll.AutoAck = &s.options.AutoAck
	}
	body, err := jsonBody(poll)
	if err != nil {
		return nil, err
	}
	var polled wire.PolledJobs
	r := request{method: http.MethodPost, path: s.client.spacePath("/jobs/poll"), body: body, wait: wait}
	if err := s.client.send(ctx, r, &polled); err != nil {
		return nil, err
	}
	return &polled, nil
}
