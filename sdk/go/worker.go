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

// WorkerOptions configures a worker. The zero value of a field selects its default.
type WorkerOptions struct {
	// Concurrency is the maximum number of jobs to run at once. Default: 10.
	Concurrency int
	// Drain is how long handlers may continue after the worker is told to stop. Default: 25 s.
	Drain time.Duration
	// AutoAck starts jobs with the poll that claims them. This saves a call per job, but if the response is lost, its jobs
	// must first time out, which uses up an attempt. Default: each job is acked before its handler starts.
	AutoAck bool
	// WorkerID is shown on the jobs of the worker. Default: host name and process ID.
	WorkerID string
	// HealthAddress, such as ":9090", serves /healthz: 503 if no poll was answered for 60 s. Default: none.
	HealthAddress string
	// IgnoreSignals leaves SIGTERM and SIGINT to the program, which then cancels the context of Run.
	IgnoreSignals bool
	// OnWarning is called when something needs attention but doesn't stop the worker. Default: write to Logger.
	OnWarning func(Warning)
	// Logger receives warnings. Default: [slog.Default].
	Logger *slog.Logger
}

// WarningKind is the kind of a [Warning].
type WarningKind string

// Kinds of warnings.
const (
	// WarningLost: a job was lost, for example by a timeout, so what its handler does is ignored.
	WarningLost WarningKind = "lost"
	// WarningFailed: an attempt failed with an error other than [NonRetryable] and [RetryAfter]. The message has the error
	// with its causes and, after a panic, the stack.
	WarningFailed WarningKind = "failed"
	// WarningLogs: log entries of a job were dropped.
	WarningLogs WarningKind = "logs"
	// WarningUnknownName: a job has no handler and was released.
	WarningUnknownName WarningKind = "unknownName"
	// WarningUnavailable: calls have failed several times in a row and are being retried.
	WarningUnavailable WarningKind = "unavailable"
	// WarningStream: the kill stream can't be opened, so a kill isn't noticed until the next heartbeat.
	WarningStream WarningKind = "stream"
	// WarningReport: the service refused a report about a job, and the worker can't fix it.
	WarningReport WarningKind = "report"
)

// Warning is something that needs attention but doesn't stop the worker.
type Warning struct {
	Kind    WarningKind
	Message string
	// JobIDs are the IDs of the jobs concerned; may be empty.
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
		host, _ := os.Hostname() // Without a name, only the process ID is shown.
		options.WorkerID = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	return &Worker{client: client, options: options, handlers: map[string]untypedHandler{}}
}

// On registers the handler for a name. Like [net/http.Handle], it panics if the name is empty or already registered.
// Call it before Run.
func On[P, R any](w *Worker, name string, handler Handler[P, R]) {
	if name == "" || w.handlers[name] != nil {
		panic(fmt.Sprintf("yardmaster: the name %q is empty or already has a handler", name))
	}
	w.handlers[name] = untyped(handler)
}

// Run runs the worker until the context is canceled or SIGTERM or SIGINT arrives, then drains it and returns nil.
//
//	first signal    no more polls, heartbeats continue
//	after Drain     handlers are aborted with [ErrDraining] and get 5 s
//	then            the remaining jobs are released without using up an attempt
//	second signal   all jobs are released immediately
//
// It returns an error only if someone has to act: the service refuses the API key or the polls.
func (w *Worker) Run(ctx context.Context) error {
	if len(w.handlers) == 0 {
		return errors.New("yardmaster: no handler is registered; call yardmaster.On before Run")
	}
	if len(w.handlers) > 100 {
		return errors.New("yardmaster: a worker can have handlers for at most 100 names")
	}
	if !w.isRunning.CompareAndSwap(false, true) {
		return errors.New("yardmaster: the worker is already running")
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
