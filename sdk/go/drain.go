package yardmaster

import (
	"context"
	"os"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
)

const (
	// How long handlers may continue after being aborted because the worker is shutting down.
	drainGrace = 5 * time.Second
	// How long a worker retries its last call.
	lastCallWindow = 5 * time.Second
	stopReason     = "worker is shutting down"
)

// runUntil polls until the worker must stop, then drains it.
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
		s.signalCount++
	case err = <-s.failed:
	}
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	stopPolling() // Closes a waiting poll, so that the service releases jobs that it would have returned.
	<-polled
	if err == nil {
		err = s.drain(signals)
	} else {
		s.abortAll(ErrDraining)
		_, _ = s.waitFor(drainGrace, signals) // Run returns the first error.
	}
	s.settleRest()
	s.stopBackground()
	s.goroutines.Wait()
	return err
}

// drain waits for the handlers, then aborts them and gives them a moment. A signal cuts it short.
func (s *session) drain(signals <-chan os.Signal) error {
	isOver, err := s.waitFor(s.options.Drain, signals)
	if isOver || err != nil {
		return err
	}
	s.abortAll(ErrDraining)
	_, err = s.waitFor(drainGrace, signals)
	return err
}

// waitFor returns true once no job is left or on the second signal; false if time runs out. A signal may both arrive here
// and cancel the context of Run, so a single one never counts as the second.
func (s *session) waitFor(limit time.Duration, signals <-chan os.Signal) (bool, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for !s.isIdle() {
		select {
		case <-s.changed:
		case <-signals:
			if s.signalCount++; s.signalCount > 1 {
				return true, nil
			}
		case err := <-s.failed:
			return true, err
		case <-timer.C:
			return false, nil
		}
	}
	return true, nil
}

// settleRest sends the unstored outcomes and releases all other jobs. What their handlers still report is ignored.
func (s *session) settleRest() {
	s.outbox.stop()
	ctx, cancel := context.WithTimeout(s.background, lastCallWindow)
	defer cancel()
	last := newOutbox(ctx, s)
	for _, a := range s.allAttempts() {
		unsettled, mustSend := a.close()
		if mustSend && unsettled == nil {
			unsettled = a.outcomes(outcome.OfRelease(0, stopReason))
		}
		for _, each := range unsettled {
			last.add(&report{Outcome: each, done: func(err error) {
				if err != nil {
					s.warn(WarningReport, "a job could not be settled when the worker stopped: "+err.Error(), each.JobID)
				}
			}})
		}
	}
	for !last.isEmpty() { // Each report is done by the time ctx is.
		<-s.changed
	}
}
