package yardmaster

import (
	"context"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// abort cancels the context of the handler. Unless the worker drains, nothing is sent about the job from now on.
// An attempt whose outcome is on its way is not aborted, because the service reports that outcome too.
func (a *attempt) abort(reason error) {
	a.mu.Lock()
	if a.owed != nil || a.isGone || (a.reason != nil && reason == ErrDraining) {
		a.mu.Unlock()
		return
	}
	a.reason = reason
	if reason != ErrDraining {
		a.isGone = true
		close(a.gone)
	}
	a.mu.Unlock()
	a.cancel(reason)
	if reason == ErrDeliveryLost || reason == ErrTimedOut {
		a.s.warn(WarningLost, "a handler is aborted: "+reason.Error(), a.job.ID)
	}
}

// close ends the attempt with the worker. It returns the outcomes that are not stored; nil for a job to be released.
// isOwed is false when nothing must be sent.
func (a *attempt) close() (owed []wire.Outcome, isOwed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isGone {
		return nil, false
	}
	a.isGone = true
	close(a.gone)
	a.cancel(ErrDraining)
	if a.owed == nil && a.ended != nil {
		return a.outcomes(*a.ended), true
	}
	return a.owed, true
}

// over returns why the handler can report nothing more; nil while it can.
func (a *attempt) over() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.isGone:
		return context.Cause(a.ctx)
	case a.hasEnded:
		return errHandlerEnded
	default:
		return nil
	}
}

// needsHeartbeat returns when the next heartbeat is due; false for an attempt that gets none.
func (a *attempt) needsHeartbeat() (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	interval := min(max(durationOf(a.job.TimeoutSeconds)/3, minHeartbeatInterval), maxHeartbeatInterval)
	return a.beatAt.Add(interval), a.isRunning && !a.isGone
}
