package yardmaster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	healthPatience = time.Minute
	headerTimeout  = 10 * time.Second
)

// health records since when a poll is unanswered. A worker without a free slot doesn't poll and is healthy.
type health struct{ waitingSince atomic.Int64 } // Nanoseconds; 0 when no poll is under way.

func (h *health) pollBegins(now time.Time) { h.waitingSince.CompareAndSwap(0, now.UnixNano()) }
func (h *health) pollAnswered()            { h.waitingSince.Store(0) }

func (h *health) isHealthy(now time.Time) bool {
	since := h.waitingSince.Load()
	return since == 0 || now.Sub(time.Unix(0, since)) < healthPatience
}

func (h *health) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if h.isHealthy(time.Now()) {
		_, _ = fmt.Fprintln(w, "ok") // The client may have disconnected.
		return
	}
	http.Error(w, "no poll was answered for 60 s", http.StatusServiceUnavailable)
}

// serveHealth serves /healthz until the worker has stopped.
func (s *session) serveHealth() error {
	if s.options.HealthAddress == "" {
		return nil
	}
	listener, err := net.Listen("tcp", s.options.HealthAddress)
	if err != nil {
		return fmt.Errorf("yardmaster: HealthAddress: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/healthz", &s.health)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	s.inBackground(func(ctx context.Context) {
		context.AfterFunc(ctx, func() { _ = server.Close() })
		_ = server.Serve(listener) // It ends with http.ErrServerClosed.
	})
	return nil
}
