package yardmaster

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Shortest time between two progress reports.
const progressInterval = 200 * time.Millisecond

var errHandlerEnded = errors.New("yardmaster: the handler has returned")

// send sends one report and waits until it is stored. If the refusal shows that the job is lost, it aborts the handler.
func (a *attempt) send(o wire.Outcome) error {
	stored := make(chan error, 1)
	a.s.outbox.add(&report{Outcome: a.outcomes(o)[0], done: func(err error) { stored <- err }})
	select {
	case err := <-stored:
		switch {
		case err == nil:
			return nil
		case err == errStopped:
			return ErrDraining
		}
		return a.abortedBy(err)
	case <-a.gone:
		return a.over()
	}
}

// abortedBy aborts the handler if a refusal shows that the job is lost. It returns the error for the handler.
func (a *attempt) abortedBy(err error) error {
	reason := asError(err).abortReason()
	if reason == nil {
		return err
	}
	a.abort(reason)
	return reason
}

// Save implements [Reporter]. If the storage is full, it retries until the checkpoint is stored.
func (a *attempt) Save(checkpoint json.RawMessage) error {
	var wait backoff
	for {
		if err := a.over(); err != nil {
			return err
		}
		err := a.send(wire.Outcome{Action: outcome.Checkpoint, Data: checkpoint})
		if err == nil || asError(err).Code != wire.ErrorCodeStorageFull {
			return err
		}
		select {
		case <-time.After(wait.next(err)):
		case <-a.gone:
		}
	}
}

// Event implements [Reporter].
func (a *attempt) Event(data json.RawMessage) error {
	if err := a.over(); err != nil {
		return err
	}
	err := a.send(wire.Outcome{Action: outcome.Event, Data: data})
	if err != nil && asError(err).Code == wire.ErrorCodeStorageFull {
		return nil
	}
	return err
}

// EphemeralEvent implements [Reporter]. It bypasses the outbox, which would retry.
func (a *attempt) EphemeralEvent(data json.RawMessage) error {
	if err := a.over(); err != nil {
		return err
	}
	event := a.outcomes(wire.Outcome{Action: outcome.Event, Data: data})[0]
	sent := make(chan error, 1)
	go func() { sent <- a.s.client.report(a.s.background, event, "?ephemeral=true") }()
	select {
	case err := <-sent:
		// It may be lost, and always is after the handler has returned.
		if err == nil || asError(err).isTemporary() || a.over() != nil {
			return nil
		}
		return a.abortedBy(err)
	case <-a.gone:
		return a.over()
	}
}

// Log implements [Reporter].
func (a *attempt) Log(entry LogEntry) { a.log.add(entry) }

// progressSender has the newest unsent report, and a goroutine while there is one.
type progressSender struct {
	mu        sync.Mutex
	newest    *wire.Outcome
	isClosed  bool
	isRunning bool
	// inFlight is closed when the report that is being sent has a response; nil without one.
	inFlight chan struct{}
}

// Progress implements [Reporter].
func (a *attempt) Progress(report wire.Progress) error {
	if err := a.over(); err != nil {
		return err
	}
	o := wire.Outcome{Action: outcome.Progress, Percent: &report.Percent, Message: &report.Message}
	for name, stage := range report.SubProgress {
		if o.SubProgress == nil {
			o.SubProgress = map[string]wire.ProgressOutcomeSubProgressValue{}
		}
		o.SubProgress[name] = wire.ProgressOutcomeSubProgressValue(stage)
	}
	p := &a.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest = &o
	if !p.isRunning && !p.isClosed {
		p.isRunning = true
		go a.sendProgress()
	}
	return nil
}

func (a *attempt) sendProgress() {
	p := &a.progress
	for {
		p.mu.Lock()
		newest := p.newest
		if newest == nil || p.isClosed {
			p.isRunning = false
			p.mu.Unlock()
			return
		}
		p.newest = nil
		answered := make(chan struct{})
		p.inFlight = answered
		p.mu.Unlock()

		err := a.send(*newest)
		close(answered)
		if err != nil && a.over() == nil && asError(err).Code != wire.ErrorCodeStorageFull {
			a.s.warn(WarningReport, "a progress report was refused: "+err.Error(), a.job.ID)
		}
		select {
		case <-time.After(progressInterval):
		case <-a.ctx.Done():
			return // The outcome carries the newest report, even a later one.
		}
	}
}

// lastProgress waits for the report that is being sent, and returns the newest one if it is still unsent.
func (a *attempt) lastProgress() *wire.Outcome {
	p := &a.progress
	p.mu.Lock()
	p.isClosed = true
	last, inFlight := p.newest, p.inFlight
	p.mu.Unlock()
	if inFlight != nil {
		select {
		case <-inFlight:
		case <-a.gone:
		case <-time.After(flushLimit):
		}
	}
	return last
}
