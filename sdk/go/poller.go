package yardmaster

import (
	"context"
	"net/http"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	maxClaim = 50
	// Slots are collected for this long, so that one call claims jobs for several. It is less than for outcomes.
	collectSlots = 2 * time.Millisecond
	// After so many failures in a row there is a warning.
	failuresBeforeWarning = 3
)

// poll claims jobs while there is room for them, one call at a time.
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
			s.warn(WarningUnavailable, "polls fail and are sent again: "+err.Error())
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// waitForSlot returns false when the worker stops.
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

// pollOnce settles outcomes and claims jobs. With outcomes it does not wait for a job: they are confirmed at once, and
// the next poll waits.
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
