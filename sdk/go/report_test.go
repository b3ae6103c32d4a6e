package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

func TestSomeProgressReportsAreSentAndTheLastOneBeforeTheOutcome(t *testing.T) {
	f := newFakeService(t)
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		for i := range 1000 {
			if err := j.Progress(float64(i)/10, "on", Stage{Name: "decode", Percent: 1}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	f.put("a")
	f.await("a", "complete")
	all := f.of("a", "progress", "complete")
	expect(t, "few", len(all) <= 5, true)
	last := all[len(all)-2]
	expect(t, "last", *last.Percent, 99.9)
	expect(t, "stage", last.SubProgress["decode"].Percent, 1)
	expect(t, "end", all[len(all)-1].Action, "complete")
}

func TestProgressReturnsAnErrorForInvalidArguments(t *testing.T) {
	call := func(_ context.Context, j *Job[int]) (any, error) {
		for _, err := range []error{
			j.Progress(101, "on"), j.Progress(-1, "on"), j.Progress(1, ""),
			j.Progress(1, "on", Stage{Name: "a", Percent: 200}), j.Progress(1, "on", make([]Stage, 51)...),
			j.Save(make(chan int)), j.Event(make(chan int)),
		} {
			if err == nil {
				t.Error("an invalid argument was accepted")
			}
		}
		return nil, nil
	}
	if _, err := Call(context.Background(), call, Job[int]{}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestACheckpointIsRetriedUntilItIsStored(t *testing.T) {
	f := newFakeService(t)
	var saves atomic.Int32
	f.refuse = func(o wire.Outcome) (wire.ErrorCode, wire.JobStatus) {
		if o.Action == "checkpoint" && saves.Add(1) < 3 || o.Action == "event" {
			return wire.ErrorCodeStorageFull, ""
		}
		return "", ""
	}
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		return nil, errors.Join(j.Save(map[string]int{"page": 7}), j.Event(1))
	})
	f.put("a")
	f.await("a", "complete")
	expect(t, "saves", len(f.of("a", "checkpoint")), 3)
	expect(t, "events", len(f.of("a", "event")), 1)
}

func TestSaveReturnsAnErrorForACheckpointThatIsTooLarge(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, body string) bool {
		return strings.Contains(body, "large") && refuseCall(w, 413, wire.ErrorCodeTooLarge)
	}
	refused := make(chan error, 1)
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		refused <- j.Save("large")
		return nil, nil
	})
	f.put("a")
	var refusal *Error
	if err := <-refused; !errors.As(err, &refusal) || refusal.Code != wire.ErrorCodeTooLarge {
		t.Fatalf("got %v", err)
	}
	f.await("a", "complete")
}

func TestAHandlerReadsTheCheckpointOfAnEarlierAttempt(t *testing.T) {
	f := newFakeService(t)
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		var state struct{ Page int }
		has, err := j.LoadCheckpoint(&state)
		return []any{has, state.Page}, err
	})
	f.put("new")
	f.put("old", func(j *wire.ClaimedJob) { j.Checkpoint = json.RawMessage(`{"page":7}`) })
	expect(t, "new", string(f.await("new", "complete").Result), "[false,0]")
	expect(t, "old", string(f.await("old", "complete").Result), "[true,7]")
}

func TestReportsAfterTheHandlerHasReturnedAreRefused(t *testing.T) {
	f := newFakeService(t)
	jobs := make(chan *rawJob, 1)
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		jobs <- j
		return nil, nil
	})
	f.put("a")
	f.await("a", "complete")
	j := <-jobs
	expect(t, "progress", j.Progress(1, "on"), errHandlerEnded)
	expect(t, "save", j.Save(1), errHandlerEnded)
	expect(t, "event", j.Event(1), errHandlerEnded)
	expect(t, "ephemeral event", j.EphemeralEvent(1), errHandlerEnded)
}

func TestAnEphemeralEventIsSentOnceEvenWithoutAResponse(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, body string) bool {
		switch body {
		case `"a"`:
			panic(http.ErrAbortHandler) // It closes the connection.
		case `"b"`:
			return refuseCall(w, 503, wire.ErrorCodeOverloaded)
		}
		return false
	}
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		return nil, errors.Join(j.EphemeralEvent("a"), j.EphemeralEvent("b"), j.EphemeralEvent("c"))
	})
	f.put("j")
	f.await("j", "complete")
	var sent []string
	for _, each := range f.callsTo("/jobs/j/event") {
		sent = append(sent, each.query+" "+each.header.Get("x-delivery-token")+" "+each.body)
	}
	expect(t, "calls", sent, []string{
		`ephemeral=true token of j "a"`, `ephemeral=true token of j "b"`, `ephemeral=true token of j "c"`,
	})
}

func TestAnEphemeralEventAbortsTheHandlerIfTheJobWasKilled(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, path, body string) bool {
		if !strings.HasSuffix(path, "/event") {
			return false
		}
		if body == "1" {
			return refuseCall(w, 413, wire.ErrorCodeTooLarge)
		}
		return refuseCall(w, 409, wire.ErrorCodeJobKilled)
	}
	returned := make(chan error, 3)
	f.work(WorkerOptions{}, func(ctx context.Context, j *rawJob) (any, error) {
		returned <- j.EphemeralEvent(1)
		returned <- j.EphemeralEvent(2)
		returned <- context.Cause(ctx)
		return nil, nil
	})
	f.put("j")
	expect(t, "code", asError(<-returned).Code, wire.ErrorCodeTooLarge)
	expect(t, "error", <-returned, error(ErrKilled))
	expect(t, "cause", <-returned, error(ErrKilled))
}

func TestLogEntriesHaveFieldsGroupsAndLevels(t *testing.T) {
	f := newFakeService(t)
	f.work(WorkerOptions{}, func(ctx context.Context, j *rawJob) (any, error) {
		j.Log.With("a", 1).WithGroup("g").Warn("first", "level", "x", "err", errors.New("gone"), "bad", func() {})
		program := slog.New(NewLogHandler(slog.NewTextHandler(writer(func(string) {}), nil)))
		program.With("b", 2).DebugContext(ctx, "second")
		program.Info("not of a job")
		return nil, nil
	})
	f.put("a")
	f.await("a", "complete")
	expect(t, "entries", len(f.logs), 2)
	var first, second wire.LogEntryFields
	_ = json.Unmarshal([]byte(f.logs[0]), &first)
	_ = json.Unmarshal([]byte(f.logs[1]), &second)
	expect(t, "level", *first.Level, "warn")
	var metadata map[string]any
	_ = json.Unmarshal(first.Metadata, &metadata)
	expect(t, "field", metadata["a"], 1)
	group := metadata["g"].(map[string]any)
	expect(t, "group", fmt.Sprint(group["level"], group["err"]), "xgone")
	expect(t, "second", string(*second.Level)+" "+second.Message+" "+string(second.Metadata), `debug second {"b":2}`)
	if _, err := time.Parse(time.RFC3339, *first.Timestamp); err != nil {
		t.Fatal(err)
	}
}

type writer func(string)

func (w writer) Write(text []byte) (int, error) { w(string(text)); return len(text), nil }

func TestALogThatCannotBeSentKeepsTheNewestEntriesAndSaysHowManyAreMissing(t *testing.T) {
	f := newFakeService(t)
	var isAvailable atomic.Bool
	f.intercept = func(w http.ResponseWriter, path, _ string) bool {
		return strings.HasSuffix(path, "/logs") && !isAvailable.Load() && refuseCall(w, 503, wire.ErrorCodeUnavailable)
	}
	w := f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		for i := range logBuffer + logBatch {
			j.Log.Info(fmt.Sprint(i))
		}
		isAvailable.Store(true)
		return nil, nil
	})
	f.put("a")
	f.await("a", "complete")
	eventually(t, "a warning", func() bool { return w.warned(WarningLogs) })
	text := strings.Join(f.logs, "\n")
	expect(t, "newest", strings.Contains(text, fmt.Sprintf(`"message":"%d"`, logBuffer+logBatch-1)), true)
	expect(t, "notice", strings.Contains(text, "log entries were dropped"), true)
	expect(t, "batches", len(f.callsTo("/logs")) >= logBuffer/logBatch, true)
}

func TestALongLogEntryIsCut(t *testing.T) {
	line := lineOf(LogEntry{Level: "info", Message: strings.Repeat("\u0001", 20_000), Metadata: json.RawMessage(`{"a":1}`)})
	expect(t, "fits", len(line) <= logEntryBytes, true)
	var entry wire.LogEntryFields
	expect(t, "is JSON", json.Unmarshal(line, &entry), nil)
	expect(t, "metadata", string(entry.Metadata), `{"cut":true}`)
}
