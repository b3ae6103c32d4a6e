package yardmaster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
)

// LogEntry is one entry of the log of a job.
type LogEntry struct {
	Time time.Time
	// Level is trace, debug, info, warn, error or fatal.
	Level    string
	Message  string
	Metadata map[string]any
}

type reporterKey struct{}

// NewLogHandler returns a [slog.Handler] for the logger of a program: records that a handler of a job logs with its
// context are also written to the log of that job. All records go to the next handler.
func NewLogHandler(next slog.Handler) slog.Handler { return &logHandler{next: next} }

// logHandler writes records to one job, or to that of the context of each record.
type logHandler struct {
	reporter Reporter
	next     slog.Handler
	// attributes of With, each already below its groups; groups that are open.
	attributes []slog.Attr
	groups     []string
}

func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.reporterFor(ctx) != nil || (h.next != nil && h.next.Enabled(ctx, level))
}

func (h *logHandler) reporterFor(ctx context.Context) Reporter {
	if h.reporter != nil {
		return h.reporter
	}
	reporter, _ := ctx.Value(reporterKey{}).(Reporter)
	return reporter
}

func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	if reporter := h.reporterFor(ctx); reporter != nil {
		own := make([]slog.Attr, 0, record.NumAttrs())
		record.Attrs(func(attribute slog.Attr) bool {
			own = append(own, attribute)
			return true
		})
		metadata := map[string]any{}
		addTo(metadata, h.attributes)
		addTo(metadata, h.inGroups(own))
		at := record.Time
		if at.IsZero() {
			at = time.Now()
		}
		reporter.Log(LogEntry{Time: at, Level: levelName(record.Level), Message: record.Message, Metadata: metadata})
	}
	if h.next != nil && h.next.Enabled(ctx, record.Level) {
		return h.next.Handle(ctx, record)
	}
	return nil
}

func (h *logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	changed := *h
	changed.attributes = append(h.attributes[:len(h.attributes):len(h.attributes)], h.inGroups(attributes)...)
	if h.next != nil {
		changed.next = h.next.WithAttrs(attributes)
	}
	return &changed
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	changed := *h
	changed.groups = append(h.groups[:len(h.groups):len(h.groups)], name)
	if h.next != nil {
		changed.next = h.next.WithGroup(name)
	}
	return &changed
}

func (h *logHandler) inGroups(attributes []slog.Attr) []slog.Attr {
	for i := len(h.groups) - 1; i >= 0 && len(attributes) > 0; i-- {
		attributes = []slog.Attr{{Key: h.groups[i], Value: slog.GroupValue(attributes...)}}
	}
	return attributes
}

func levelName(level slog.Level) string {
	switch {
	case level < slog.LevelDebug:
		return "trace"
	case level < slog.LevelInfo:
		return "debug"
	case level < slog.LevelWarn:
		return "info"
	case level < slog.LevelError:
		return "warn"
	case level < slog.LevelError+4:
		return "error"
	default:
		return "fatal"
	}
}

// addTo adds attributes to a JSON object. Groups become objects; a group without a name is part of the object.
func addTo(object map[string]any, attributes []slog.Attr) {
	for _, attribute := range attributes {
		value := attribute.Value.Resolve()
		switch {
		case value.Kind() != slog.KindGroup:
			if attribute.Key != "" {
				object[attribute.Key] = representable(value)
			}
		case attribute.Key == "":
			addTo(object, value.Group())
		default:
			group, isGroup := object[attribute.Key].(map[string]any)
			if !isGroup {
				group = map[string]any{}
			}
			addTo(group, value.Group())
			if len(group) > 0 {
				object[attribute.Key] = group
			}
		}
	}
}

// representable returns a value that JSON has. Whatever a handler logs, the entry is kept.
func representable(value slog.Value) any {
	switch content := value.Any().(type) {
	case error:
		return content.Error()
	case time.Time:
		return timestamp(content)
	case time.Duration:
		return content.String()
	case fmt.Stringer:
		return content.String()
	default:
		if _, err := json.Marshal(content); err != nil {
			return fmt.Sprint(content)
		}
		return content
	}
}
