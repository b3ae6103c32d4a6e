package yardmaster

import (
	"context"
	"sync"
)

// session is one run of a worker. Its goroutines are the poller, the heartbeats, the stream, and one for each attempt
// and for each call with outcomes.
type session struct {
	*Worker
	// values is the context of Run without its cancellation, because handlers continue while the worker drains.
	values context.Context
	// background ends heartbeats, stream and calls once all jobs have ended.
	background     context.Context
	stopBackground context.CancelFunc
	goroutines     sync.WaitGroup
	outbox         *outbox
	health         health

	// freed wakes the poller, changed wakes the drain, and started and beatNow wake the heartbeats.
	freed, changed, started, beatNow chan struct{}
	// failed receives the error that ends the worker.
	failed chan error

	mu       sync.Mutex
	attempts map[*attempt]struct{} // From the claim until the handler has returned and the outcome is stored.
	slots    int                   // Number of free slots.
	draining bool
	// signalCount is used only by the goroutine of Run.
	signalCount int
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
	s.outbox = newOutbox(s.background, s)
	return s
}

func wake(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default: // A wake-up is already pending.
	}
}

// fail ends the worker with an error.
func (s *session) fail(err error) {
	select {
	case s.failed <- err:
	default: // It is already ending.
	}
}

func (s *session) start() error {
	if err := s.serveHealth(); err != nil {
		s.stopBackground()
		return err
	}
	s.inBackground(s.sendHeartbeats)
	s.inBackground(s.watchKills)
	return nil
}

func (s *session) inBackground(run func(context.Context)) {
	s.goroutines.Add(1)
	go func() {
		defer s.goroutines.Done()
		run(s.background)
	}()
}

func (s *session) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
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
