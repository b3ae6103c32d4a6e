package yardmaster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// attempt is a claimed job in this worker.
//
//	claimed ─ack─> running ─handler returns─> unsettled ─outcome stored─> removed
//	   └─ lost (refused, killed, timed out): nothing more is sent, and it is removed when the handler returns
//
// It occupies a slot until its handler returns, and gets heartbeats until its outcome is stored.
type attempt struct {
	s      *session
	job    wire.ClaimedJob
	ctx    context.Context
	cancel context.CancelCauseFunc
	// gone is closed when nothing more may be sent: the job is lost, or the worker has released it.
	gone     chan struct{}
	log      *jobLog
	progress progressSender

	mu        sync.Mutex
	isRunning bool
	hasEnded  bool  // The handler has returned.
	reason    error // Reason of the abort; nil without one.
	isGone    bool
	ended     *wire.Outcome  // Outcome of the handler, while its log is being sent.
	unsettled []wire.Outcome // Sent, but not known to be stored.
	beatAt    time.Time      // Time of the latest heartbeat, or of the start.
}

// outcomes adds the job and its token to outcomes.
func (a *attempt) outcomes(of ...wire.Outcome) []wire.Outcome {
	for i := range of {
		of[i].JobID, of[i].DeliveryToken = a.job.ID, &a.job.DeliveryToken
	}
	return of
}

func (a *attempt) run() {
	createdAt, _ := time.Parse(time.RFC3339, a.job.CreatedAt)
	info := JobInfo{
		ID: a.job.ID, Name: a.job.Name, Attempt: a.job.Attempt, MaxRetries: a.job.MaxRetries,
		Timeout: durationOf(a.job.TimeoutSeconds), CreatedAt: createdAt,
	}
	if string(a.job.Checkpoint) != "null" {
		info.Checkpoint = a.job.Checkpoint
	}
	a.end(outcome.Of(outcome.Isolated(func() (any, error) {
		return a.s.handlers[a.job.Name](a.ctx, info, a.job.Payload, a)
	})))
}

// end reports how the handler ended, after its logs and its last progress.
func (a *attempt) end(last wire.Outcome) {
	a.mu.Lock()
	if a.reason == ErrDraining && last.Action == outcome.Fail {
		last = outcome.OfRelease(0, stopReason)
	}
	a.hasEnded = true
	a.ended = &last
	isGone := a.isGone
	a.mu.Unlock()
	if isGone {
		go a.log.close(flushLimit)
		a.freeSlot()
		a.remove()
		return
	}
	if outcome.IsUnexpected(last) {
		a.warnFailed(last)
	}
	a.log.close(flushLimit)
	if report := a.lastProgress(); report != nil {
		a.settle(*report, last)
	} else {
		a.settle(last)
	}
	a.cancel(nil)
}

// settle sends the last outcomes of the attempt, and then frees its slot, so that the next poll can carry them.
func (a *attempt) settle(of ...wire.Outcome) {
	of = a.outcomes(of...)
	a.mu.Lock()
	if a.isGone {
		a.mu.Unlock()
		a.freeSlot()
		a.remove()
		return
	}
	a.unsettled = of
	a.mu.Unlock()
	var reports []*report
	for _, each := range of {
		reports = append(reports, &report{Outcome: each, done: func(error) {}})
	}
	last := reports[len(reports)-1]
	action := last.Action
	last.done = func(err error) {
		if err == nil && last.Action != action { // The result was refused.
			a.warnFailed(last.Outcome)
		}
		a.settled(err)
	}
	a.s.outbox.add(reports...)
	a.freeSlot()
}

func (a *attempt) warnFailed(failed wire.Outcome) {
	message := fmt.Sprintf("attempt %d of %s failed: %s", a.job.Attempt, a.job.Name, outcome.Trace(failed.Error))
	a.s.warn(WarningFailed, message, a.job.ID)
}

// settled is called when the last outcome is stored or refused.
func (a *attempt) settled(err error) {
	if err == errStopped {
		return // settleRest sends it again.
	}
	if err != nil {
		kind := WarningReport
		if asError(err).abortReason() != nil {
			kind = WarningLost
		}
		a.s.warn(kind, "the outcome of a job was refused: "+err.Error(), a.job.ID)
	}
	a.remove()
}

func (a *attempt) freeSlot() {
	a.s.mu.Lock()
	a.s.slots++
	a.s.mu.Unlock()
	wake(a.s.freed)
}

func (a *attempt) remove() {
	a.s.mu.Lock()
	delete(a.s.attempts, a)
	a.s.mu.Unlock()
	wake(a.s.changed)
}
