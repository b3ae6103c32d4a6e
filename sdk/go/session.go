package yardmaster

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	// Handlers have this long after they were aborted because the worker stops.
	drainGrace = 5 * time.Second
	// The last call of a worker is sent again for this long.
	lastCallWindow = 5 * time.Second
	stopReason     = "worker stops"
)

// session is one run of a worker. Its goroutines are the poller, the heartbeats, the stream, and one for each attempt
// and for each call with outcomes.
type session struct {
	*Worker
	// values of the context of Run, without its cancellation: handlers go on while the worker drains.
	values context.Context
	// background ends heartbeats, stream and calls, when the jobs have ended.
	background     context.Context
	stopBackground context.CancelFunc
	goroutines     sync.WaitGroup
	outbox         *outbox
	health         health

	// freed wakes the poller, changed the drain; started and beatNow wake the heartbeats.
	freed, changed, started, beatNow chan struct{}
	// failed gets the error that ends the worker.
	failed chan error

	mu       sync.Mutex
	attempts map[*attempt]struct{} // From the claim until the handler has ended and the outcome is stored.
	slots    int                   // Free ones.
	draining bool
}

func newSession(ctx context.Context, w *Worker) *session {
	s := &session{
		Worker: w, values: context.WithoutCancel(ctx),
		freed: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		started: make(chan struct{}, 1), beatNow: make(chan struct{}, 1),
		failed:   make(chan error, 1),
		attempts: map[*attempt]struct{}{}, slots: w.options.Concurrency,
	}
	s.background, s.stopBackground = context.WithCancel(s.values)
	s.outbox = newOutbox(s)
	return s
}

func wake(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default: // It will wake anyway.
	}
}

// fail ends the worker with an error.
func (s *session) fail(err error) {
	select {
	case s.failed <- err:
	default: // It ends already.
	}
}

func (s *session) start() error {
	if err := s.serveHealth(); err != nil {
		s.stopBackground()
		return err
	}
	s.inBackground(s.sendHeartbeats)
	s.inBackground(s.followStream)
	return nil
}

func (s *session) inBackground(run func(context.Context)) {
	s.goroutines.Add(1)
	go func() {
		defer s.goroutines.Done()
		run(s.background)
	}()
}

// runUntil polls until the worker must stop, and then drains it.
func (s *session) runUntil(stop <-chan struct{}, signals <-chan os.Signal) error {
	polling, stopPolling := context.WithCancel(s.background)
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		s.poll(polling)
	}()
	var err error
	select {
	case <-stop:
	case <-signals:
	case err = <-s.failed:
	}
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	stopPolling() // It closes the connection of a waiting poll, so that the service releases what it would claim.
	<-polled
	if err == nil {
		err = s.drain(signals)
	} else {
		s.abortAll(ErrDraining)
		_ = s.waitUntilIdle(drainGrace, signals)
	}
	s.settleRest()
	s.stopBackground()
	s.goroutines.Wait()
	return err
}

// drain waits for the handlers; then aborts them and waits for a moment. It ends at once at a signal.
func (s *session) drain(signals <-chan os.Signal) error {
	isOver, err := s.waitFor(s.options.Drain, signals)
	if isOver || err != nil {
		return err
	}
	s.abortAll(ErrDraining)
	_, err = s.waitFor(drainGrace, signals)
	return err
}

func (s *session) waitUntilIdle(limit time.Duration, signals <-chan os.Signal) bool {
	isOver, _ := s.waitFor(limit, signals)
	return isOver
}

// waitFor returns true when no job is left, or at a signal; false when the limit is over.
func (s *session) waitFor(limit time.Duration, signals <-chan os.Signal) (bool, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for !s.isIdle() {
		select {
		case <-s.changed:
		case <-signals:
			return true, nil
		case err := <-s.failed:
			return true, err
		case <-timer.C:
			return false, nil
		}
	}
	return true, nil
}

func (s *session) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attempts) == 0 && s.outbox.isEmpty()
}

func (s *session) abortAll(reason error) {
	for _, a := range s.allAttempts() {
		a.abort(reason)
	}
}

func (s *session) allAttempts() []*attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*attempt, 0, len(s.attempts))
	for a := range s.attempts {
		all = append(all, a)
	}
	return all
}

// settleRest sends the outcomes that are not stored yet, and releases all other jobs. Whatever their handlers still
// report is ignored.
func (s *session) settleRest() {
	s.outbox.stop()
	var rest []wire.Outcome
	for _, a := range s.allAttempts() {
		if last, isOwed := a.close(); isOwed {
			if last == nil {
				release := outcome.OfRelease(0, stopReason)
				last = a.outcomes(release)
			}
			rest = append(rest, last...)
		}
	}
	ctx, cancel := context.WithTimeout(s.background, lastCallWindow)
	defer cancel()
	var wait backoff
	for len(rest) > 0 {
		part := rest[:min(len(rest), maxSettle)]
		_, err := s.client.settle(ctx, part)
		if err == nil {
			rest = rest[len(part):]
		} else if !asError(err).isTemporary() || !sleep(ctx, wait.next(err)) {
			s.warn(WarningLost, "jobs could not be released: "+err.Error(), idsOf(rest)...)
			return
		}
	}
}
