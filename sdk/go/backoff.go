package yardmaster

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// backoff chooses the wait before the next try of a call: from 0.1 s, doubling up to 5 s, with up to half of it random.
type backoff struct{ failures int }

// next returns the wait after a failure. It is never shorter than the Retry-After of the service.
func (b *backoff) next(err error) time.Duration {
	ceiling := min(firstBackoff<<min(b.failures, 10), maxBackoff)
	b.failures++
	wait := ceiling/2 + rand.N(ceiling/2)
	if after := asError(err).retryAfter; after > wait {
		wait = after + rand.N(after/10+1)
	}
	return wait
}

// sleep waits, and returns false if the context is done first.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
