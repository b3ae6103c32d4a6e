package yardmaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// WorkerOptions says how a worker works. Fields at their zero value get their default.
type WorkerOptions struct {
	// Concurrency is the number of jobs at once. Default: 10.
	Concurrency int
	// Drain is how long handlers may continue after the worker was asked to stop. Default: 25 s.
	Drain time.Duration
	// AutoAck starts jobs with the poll that claims them. It saves a call for each job; but a job whose response is
	// lost waits for its timeout, and has used an attempt. Default: each job is acked before its handler starts.
	AutoAck bool
	// WorkerID is shown on the jobs of the worker. Default: the name of the host and the process id.
	WorkerID string
	// HealthAddress, such as ":9090", serves /healthz: 503 when no poll was answered for 60 s. Default: none.
	HealthAddress string
	// IgnoreSignals leaves SIGTERM and SIGINT to the program, which then cancels the context of Run.
	IgnoreSignals bool
	// OnWarning is called when something needs attention but does not end the worker. Default: Logger gets it.
	OnWarning func(Warning)
	// Logger gets warnings. Default: [slog.Default].
	Logger *slog.Logger
}

// WarningKind says what a [Warning] is about.
type WarningKind string

// Kinds of warnings.
const (
	// WarningLost: jobs were lost, for example because they timed out; what their handlers do is ignored.
	WarningLost WarningKind = "lost"
	// WarningFailed: an attempt has failed in another way than by [NonRetryable] or [RetryAfter]. The message has the error
	// with its causes and, after a panic, the stack.
	WarningFailed WarningKind = "failed"
	// WarningLogs: entries of the log of a job were dropped.
	WarningLogs WarningKind = "logs"
	// WarningUnknownName: a job was claimed whose name is not registered; it is released.
	WarningUnknownName WarningKind = "unknownName"
	// WarningUnavailable: calls have failed several times in a row, and are sent again.
	WarningUnavailable WarningKind = "unavailable"
	// WarningStream: there is no stream of kills, so a kill aborts a handler only at its next heartbeat.
	WarningStream WarningKind = "stream"
	// WarningReport: the service refused a report about a job, and the worker cannot correct it.
	WarningReport WarningKind = "report"
)

// Warning is something that needs attention but does not end the worker.
type Warning struct {
	Kind    WarningKind
	Message string
	// JobIDs of the jobs that it is about; may be empty.
	JobIDs []string
}

// Worker claims jobs and calls their handlers.
type Worker struct {
	client    *Client
	options   WorkerOptions
	handlers  map[string]untypedHandler
	isRunning atomic.Bool
}

// NewWorker returns a worker. Register handlers with [On], then call [Worker.Run].
func NewWorker(client *Client, options WorkerOptions) *Worker {
	if options.Concurrency <= 0 {
		options.Concurrency = 10
	}
	if options.Drain <= 0 {
		options.Drain = 25 * time.Second
	}
	if options.WorkerID == "" {
		host, _ := os.Hostname() // Without a name, the process id alone is shown.
		options.WorkerID = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	return &Worker{client: client, options: options, handlers: map[string]untypedHandler{}}
}

// On registers the handler of a name. Like [net/http.Handle], it panics when the name is empty or registered already.
// Call it before Run.
func On[P, R any](w *Worker, name string, handler Handler[P, R]) {
	if name == "" || w.handlers[name] != nil {
		panic(fmt.Sprintf("yardmaster: the name %q is empty or has a handler already", name))
	}
	w.handlers[name] = untyped(handler)
}

// Run works until the context is canceled, or until SIGTERM or SIGINT; then it drains, and returns nil.
//
//	first signal    no more polls, heartbeats continue
//	after Drain     handlers are aborted with [ErrDraining], and have 5 s
//	then            the remaining jobs are released
//	second signal   all jobs are released at once
//
// It returns an error only when an operator must act: the API key is refused, or the service refuses the polls.
func (w *Worker) Run(ctx context.Context) error {
	if len(w.handlers) == 0 {
		return errors.New("yardmaster: no handler is registered; call yardmaster.On before Run")
	}
	if len(w.handlers) > 100 {
		return errors.New("yardmaster: a worker can have handlers for at most 100 names")
	}
	if !w.isRunning.CompareAndSwap(false, true) {
		return errors.New("yardmaster: the worker is running already")
	}
	defer w.isRunning.Store(false)

	signals := make(chan os.Signal, 2)
	if !w.options.IgnoreSignals {
		signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
		defer signal.Stop(signals)
	}
	s := newSession(ctx, w)
	if err := s.start(); err != nil {
		return err
	}
	return s.runUntil(ctx.Done(), signals)
}

func (w *Worker) names() []string {
	names := make([]string, 0, len(w.handlers))
	for name := range w.handlers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (w *Worker) warn(kind WarningKind, message string, jobIDs ...string) {
	if w.options.OnWarning != nil {
		w.options.OnWarning(Warning{Kind: kind, Message: message, JobIDs: jobIDs})
		return
	}
	w.options.Logger.Warn("yardmaster: "+message, "kind", string(kind), "jobIds", jobIDs)
}
