package yardmaster

import (
	"context"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// begin acks the jobs of a poll in one call. Each handler starts once the ack of its job succeeds.
func (s *session) begin(jobs []wire.ClaimedJob) {
	var acks []*report
	for _, job := range jobs {
		if s.handlers[job.Name] == nil {
			s.warn(WarningUnknownName, "a job has no handler and is released: "+job.Name, job.ID)
			s.outbox.add(releaseOf(job, "this worker has no handler for the name"))
			continue
		}
		a := s.newAttempt(job)
		switch {
		case s.isDraining(): // The response arrived before its connection was closed.
			a.settle(outcome.OfRelease(0, stopReason))
		case s.options.AutoAck:
			a.start()
		default:
			acks = append(acks, a.ack())
		}
	}
	s.outbox.sendNow(acks)
}

func (s *session) newAttempt(job wire.ClaimedJob) *attempt {
	a := &attempt{s: s, job: job, gone: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancelCause(s.values)
	a.log = newJobLog(s, job.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts[a] = struct{}{}
	s.slots--
	return a
}

func releaseOf(job wire.ClaimedJob, reason string) *report {
	o := outcome.OfRelease(0, reason)
	o.JobID, o.DeliveryToken = job.ID, &job.DeliveryToken
	return &report{Outcome: o, done: func(error) {}}
}

// ack returns the report that starts the attempt. A refused ack means that another worker has taken over the job.
func (a *attempt) ack() *report {
	return &report{
		Outcome: a.outcomes(wire.Outcome{Action: outcome.Ack})[0],
		done: func(err error) {
			if err == nil {
				a.start()
			} else if err != errStopped {
				a.freeSlot()
				a.remove()
			}
		},
	}
}

// start calls the handler, unless the worker is shutting down.
func (a *attempt) start() {
	a.mu.Lock()
	a.isRunning = true
	a.beatAt = time.Now()
	isGone := a.isGone
	a.mu.Unlock()
	switch {
	case isGone:
		a.freeSlot()
		a.remove()
	case a.s.isDraining():
		a.settle(outcome.OfRelease(0, stopReason))
	default:
		wake(a.s.started)
		go a.run()
	}
}
