package yardmaster

import (
	"context"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// abort cancels the context of the handler. Unless the worker is draining, nothing more is sent about the job. An attempt
// whose outcome is being sent is left alone, because the reason may be an effect of that very outcome.
func (a *attempt) abort(reason error) {
	a.mu.Lock()
	if a.unsettled != nil || a.isGone || (a.reason != nil && reason == ErrDraining) {
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
		a.s.warn(WarningLost, "a handler was aborted: "+reason.Error(), a.job.ID)
	}
}

// close ends the attempt because the worker is shutting down. It returns the unstored outcomes; nil for a job to be
// released.
// mustSend is false if nothing may be sent.
func (a *attempt) close() (unsettled []wire.Outcome, mustSend bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isGone {
		return nil, false
	}
	a.isGone = true
	close(a.gone)
	a.cancel(ErrDraining)
	if a.unsettled == nil && a.ended != nil {
		return a.outcomes(*a.ended), true
	}
	return a.unsettled, true
}

// over returns why the handler can't report any more; nil while it can.
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
