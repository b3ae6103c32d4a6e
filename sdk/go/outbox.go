package yardmaster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	// How long to collect outcomes, so that one call carries several.
	collectTime = 5 * time.Millisecond
	// Maximum outcomes and bytes of a settle call and of a poll. The service accepts 5 MB and 1 MB.
	maxSettle      = 100
	maxTurn        = 50
	maxSettleBytes = 3_000_000
	maxTurnBytes   = 500_000
)

// errStopped is passed to done if the worker stopped before a report was stored.
var errStopped = errors.New("yardmaster: the worker has stopped")

// report is an outcome to send to the service.
type report struct {
	wire.Outcome
	// done is called once: with nil if the outcome is stored, otherwise with the refusal or errStopped.
	done func(error)
}

// outbox sends outcomes until the service has accepted or refused each of them.
//
//	add → queue ─ next poll (turn) ─┬─ accepted or refused → done
//	            └ settle, ≤ 5 ms   ─┘  lost → settle again, with backoff
type outbox struct {
	s *session
	// When ctx is done, unfinished reports get errStopped.
	ctx  context.Context
	stop context.CancelFunc

	mu       sync.Mutex
	queue    []*report
	pending  int // Number of unfinished reports.
	hasTimer bool
}

func newOutbox(ctx context.Context, s *session) *outbox {
	o := &outbox{s: s}
	o.ctx, o.stop = context.WithCancel(ctx)
	return o
}

func (o *outbox) isEmpty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pending == 0
}

// add queues reports, which are sent in order.
func (o *outbox) add(reports ...*report) {
	o.mu.Lock()
	o.queue = append(o.queue, reports...)
	o.pending += len(reports)
	startTimer := !o.hasTimer
	o.hasTimer = true
	o.mu.Unlock()
	if startTimer {
		time.AfterFunc(collectTime, o.flush)
	}
}

// flush sends the queue in settle calls.
func (o *outbox) flush() {
	o.mu.Lock()
	o.hasTimer = false
	var batches [][]*report
	for len(o.queue) > 0 {
		batches = append(batches, o.takeLocked(maxSettle, maxSettleBytes))
	}
	o.mu.Unlock()
	for _, batch := range batches {
		go o.deliver(batch, nil)
	}
}

// take removes reports from the queue for a poll.
func (o *outbox) take() []*report {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.takeLocked(maxTurn, maxTurnBytes)
}

func (o *outbox) takeLocked(count, bytes int) []*report {
	taken := 0
	for size := 0; taken < min(len(o.queue), count); taken++ {
		next := o.queue[taken]
		size += 300 + len(next.Result) + len(next.Data) + len(next.Error)
		if size > bytes && taken > 0 {
			break
		}
	}
	batch := o.queue[:taken:taken]
	o.queue = o.queue[taken:]
	return batch
}

// sendNow sends reports in a separate call.
func (o *outbox) sendNow(reports []*report) {
	if len(reports) == 0 {
		return
	}
	o.mu.Lock()
	o.pending += len(reports)
	o.mu.Unlock()
	go o.deliver(reports, nil)
}

// sendAgain sends the reports of a failed poll.
func (o *outbox) sendAgain(reports []*report, err error) {
	if len(reports) > 0 {
		go o.deliver(reports, err)
	}
}
