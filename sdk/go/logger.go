package yardmaster

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"
)

// LogEntry is an entry in the log of a job.
type LogEntry struct {
	Time time.Time
	// Level is trace, debug, info, warn, error or fatal.
	Level   string
	Message string
	// Metadata is a JSON object; nil without fields.
	Metadata json.RawMessage
}

type reporterKey struct{}

// NewLogHandler returns a [slog.Handler] for the logger of a program. Records that a job handler logs with its context are
// also written to the log of the job. All records go to the next handler.
func NewLogHandler(next slog.Handler) slog.Handler {
	return &logHandler{next: next, fields: newFieldWriter()}
}

// logHandler writes records to the log of one job, or of the job in the context of each record.
type logHandler struct {
	reporter Reporter
	fields   fieldWriter
	next     slog.Handler // Nil for the logger of one job.
}

func (h *logHandler) reporterFor(ctx context.Context) Reporter {
	if h.reporter != nil {
		return h.reporter
	}
	reporter, _ := ctx.Value(reporterKey{}).(Reporter)
	return reporter
}

func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.reporterFor(ctx) != nil || (h.next != nil && h.next.Enabled(ctx, level))
}

func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	if reporter := h.reporterFor(ctx); reporter != nil {
		at := record.Time
		if at.IsZero() {
			at = time.Now()
		}
		entry := LogEntry{Time: at, Level: levelName(record.Level), Message: record.Message}
		entry.Metadata = h.fields.json(ctx, record)
		reporter.Log(entry)
	}
	if h.next != nil && h.next.Enabled(ctx, record.Level) {
		return h.next.Handle(ctx, record)
	}
	return nil
}

func (h *logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return h.with(func(inner slog.Handler) slog.Handler { return inner.WithAttrs(attributes) })
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return h.with(func(inner slog.Handler) slog.Handler { return inner.WithGroup(name) })
}

func (h *logHandler) with(change func(slog.Handler) slog.Handler) slog.Handler {
	changed := *h
	changed.fields.inner = change(h.fields.inner)
	if h.next != nil {
		changed.next = change(h.next)
	}
	return &changed
}

// fieldWriter writes the fields of records as JSON, like [slog.JSONHandler].
type fieldWriter struct {
	inner  slog.Handler
	shared *sharedBuffer
}

type sharedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func newFieldWriter() fieldWriter {
	shared := &sharedBuffer{}
	// A separate group keeps the fields apart from the time, the level and the message.
	return fieldWriter{inner: slog.NewJSONHandler(shared, nil).WithGroup("fields"), shared: shared}
}

func (w fieldWriter) json(ctx context.Context, record slog.Record) json.RawMessage {
	w.shared.mu.Lock()
	defer w.shared.mu.Unlock()
	w.shared.Reset()
	var line struct {
		Fields json.RawMessage `json:"fields"`
	}
	if w.inner.Handle(ctx, record) != nil || json.Unmarshal(w.shared.Bytes(), &line) != nil {
		return json.RawMessage(`{"unreadable":true}`) // The message is kept.
	}
	return line.Fields
}

func levelName(level slog.Level) string {
	names := []string{"trace", "debug", "info", "warn", "error", "fatal"} // Four levels each; debug starts at -4.
	return names[min(max(int(level+8)>>2, 0), len(names)-1)]
}
