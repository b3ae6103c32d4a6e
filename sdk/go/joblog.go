package yardmaster

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	logInterval   = 200 * time.Millisecond
	logBatch      = 500
	logBatchBytes = 900_000 // The service accepts 1 MB on the wire.
	logBuffer     = 10_000
	logEntryBytes = 15_000 // The service accepts 16 KB.
	// Longest time for which logs and progress may delay an outcome.
	flushLimit = 10 * time.Second
)

// jobLog sends the log of a job in batches and in order. While the service is unavailable, it keeps the newest entries.
type jobLog struct {
	s     *session
	jobID string
	hurry chan struct{} // Cuts short the wait for more entries.
	ctx   context.Context

	mu       sync.Mutex
	cancel   context.CancelFunc // Cancels ctx; nil before the first entry.
	lines    [][]byte
	dropped  int
	isClosed bool
	sent     chan struct{} // Closed when all entries are sent; nil without entries.
}

func newJobLog(s *session, jobID string) *jobLog {
	return &jobLog{s: s, jobID: jobID, hurry: make(chan struct{}, 1)}
}

func (l *jobLog) add(entry LogEntry) {
	line := lineOf(entry)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed {
		return
	}
	l.lines = append(l.lines, line)
	if len(l.lines) > logBuffer {
		l.lines = l.lines[1:]
		l.dropped++
	}
	if l.cancel == nil {
		l.ctx, l.cancel = context.WithCancel(l.s.background)
	}
	if l.sent == nil {
		l.sent = make(chan struct{})
		go l.send(l.sent)
	} else if len(l.lines) == logBatch {
		wake(l.hurry)
	}
}

// close sends the rest of the log, and drops entries that can't be sent within the limit.
func (l *jobLog) close(limit time.Duration) {
	l.mu.Lock()
	l.isClosed = true
	sent, cancel := l.sent, l.cancel
	l.mu.Unlock()
	if cancel == nil {
		return // Nothing was logged.
	}
	defer cancel()
	if sent != nil {
		wake(l.hurry)
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-sent:
		case <-timer.C:
		}
	}
}

func (l *jobLog) send(sent chan struct{}) {
	defer close(sent)
	for {
		l.waitForMore()
		batch, count, dropped := l.take()
		if dropped > 0 {
			l.s.warn(WarningLogs, droppedText(dropped), l.jobID)
		}
		if count == 0 {
			return
		}
		if err := l.post(batch); err != nil {
			l.s.warn(WarningLogs, fmt.Sprintf("%d log entries were dropped: %v", count, err), l.jobID)
		}
	}
}

func (l *jobLog) waitForMore() {
	l.mu.Lock()
	isEnough := l.isClosed || len(l.lines) >= logBatch
	l.mu.Unlock()
	if isEnough {
		return
	}
	timer := time.NewTimer(logInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.hurry:
	case <-l.ctx.Done():
	}
}

// take removes a batch, as NDJSON. If there are no entries, the sender ends.
func (l *jobLog) take() (batch []byte, count, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped, l.dropped = l.dropped, 0
	if dropped > 0 {
		batch = append(lineOf(LogEntry{Time: time.Now(), Level: "warn", Message: droppedText(dropped)}), '\n')
	}
	for count < min(len(l.lines), logBatch-1) && len(batch)+len(l.lines[count]) < logBatchBytes {
		batch = append(append(batch, l.lines[count]...), '\n')
		count++
	}
	l.lines = l.lines[count:]
	if count == 0 {
		l.sent = nil
	}
	return batch, count, dropped
}

func droppedText(count int) string {
	return fmt.Sprintf("%d log entries were dropped, because they could not be sent in time", count)
}

// post sends a batch, and retries until the service responds. A batch whose response is lost may be stored twice.
func (l *jobLog) post(batch []byte) error {
	var body bytes.Buffer
	writer := gzip.NewWriter(&body)
	_, _ = writer.Write(batch) // Writing to a buffer can't fail.
	_ = writer.Close()
	header := map[string]string{"content-type": "application/x-ndjson", "content-encoding": "gzip"}
	r := request{method: http.MethodPost, path: jobPath(l.jobID, "/logs"), header: header, body: body.Bytes()}
	var wait backoff
	for {
		var appended wire.AppendedLogs
		err := l.s.client.send(l.ctx, r, &appended)
		if err == nil || l.ctx.Err() != nil || !asError(err).isTemporary() || !sleep(l.ctx, wait.next(err)) {
			return err
		}
	}
}

// lineOf encodes an entry. If it is too long, it is cut, because the service would refuse the whole batch.
func lineOf(entry LogEntry) []byte {
	at, level := timestamp(entry.Time), wire.LogEntryFieldsLevel(entry.Level)
	fields := wire.LogEntryFields{Message: entry.Message, Level: &level, Timestamp: &at}
	if len(entry.Metadata) > 0 {
		fields.Metadata = entry.Metadata
	}
	line, _ := json.Marshal(fields) // The values were decoded from JSON.
	if len(line) <= logEntryBytes {
		return line
	}
	const sixBytesEach = logEntryBytes / 6 // A character can take six bytes of JSON.
	fields.Message = fields.Message[:min(len(fields.Message), sixBytesEach-50)]
	fields.Metadata = json.RawMessage(`{"cut":true}`)
	line, _ = json.Marshal(fields)
	return line
}
