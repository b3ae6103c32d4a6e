package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

func TestARefusedErrorAndARefusedReleaseAreReplaced(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, body string) bool {
		isRefused := strings.Contains(body, "disk full") || strings.Contains(body, "not yet")
		return isRefused && refuseCall(w, 400, wire.ErrorCodeInvalidRequest)
	}
	w := f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		if j.ID == "release" {
			return nil, Release(time.Minute, "not yet")
		}
		return nil, RetryAfter(errors.New("disk full"), time.Second)
	})
	f.put("release")
	f.put("fail")
	failed := f.await("fail", "fail")
	expect(t, "error", string(failed.Error),
		`{"name":"Error","message":"The service refused the error of this attempt: text of INVALID_REQUEST"}`)
	expect(t, "delay", *failed.RetryAfterSeconds, 1)
	released := f.await("release", "release")
	expect(t, "reason and delay", released.Reason == nil && released.DelaySeconds == nil, true)
	w.drained(t)
	expect(t, "outcomes", len(f.of("fail", "fail"))+len(f.of("release", "release")), 2)
	expect(t, "warnings", len(w.warnings), 0)
}

func TestAResultWithTooManyLevelsForACallMakesTheJobDead(t *testing.T) {
	f := newFakeService(t)
	f.work(WorkerOptions{}, func(context.Context, *rawJob) (result any, err error) {
		for range 11_000 {
			result = []any{result}
		}
		return result, nil
	})
	f.put("a")
	failed := f.await("a", "fail")
	expect(t, "retryable", *failed.Retryable, false)
	expect(t, "error", strings.Contains(ErrorLine(failed.Error), "InvalidResult: The service refuses the result: the request is not JSON"), true)
}

func TestARefusedReplacementIsReported(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, path, _ string) bool {
		return !strings.HasSuffix(path, "/poll") && !strings.HasSuffix(path, "/settle") && refuseCall(w, 400, wire.ErrorCodeInvalidRequest)
	}
	sent := make(chan error, 1)
	o := newOutbox(context.Background(), newSession(context.Background(), NewWorker(f.client, WorkerOptions{})))
	go func() { sent <- o.deliverAlone(releaseOf(wire.ClaimedJob{ID: "a"}, "reason")) }()
	expect(t, "code", asError(<-sent).Code, wire.ErrorCodeInvalidRequest)
	expect(t, "calls", len(f.callsTo("/release")), 2)
}

func TestNonRetryableAndRetryAfterReturnNilForANilError(t *testing.T) {
	f := newFakeService(t)
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		return 1, errors.Join(NonRetryable(nil), RetryAfter(nil, time.Second))
	})
	f.put("a")
	expect(t, "result", string(f.await("a", "complete").Result), "1")
}

func TestTheErrorOfACallIsStoredAsACause(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{}, func(context.Context, *rawJob) (any, error) {
		_, err := http.Get("http://127.0.0.1:1")
		return nil, fmt.Errorf("download: %w", err)
	})
	f.put("a", func(j *wire.ClaimedJob) { j.Attempt = 2 })
	text := ErrorLine(f.await("a", "fail").Error)
	for _, part := range []string{"Error: download: ", "(cause: url.Error: ", "(cause: net.OpError: ", "(cause: syscall.Errno: connection refused"} {
		expect(t, text, strings.Contains(text, part), true)
	}
	w.drained(t)
	message := w.warnings[0].Message
	expect(t, message, strings.HasPrefix(message, "attempt 2 of ok failed: Error: download: "), true)
	expect(t, message, strings.Contains(message, "\ncause: syscall.Errno: connection refused"), true)
}

func TestOnlyUnexpectedFailuresAreWarnings(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{Concurrency: 1}, func(_ context.Context, j *rawJob) (any, error) {
		return nil, map[string]error{
			"a": NonRetryable(errors.New("gone")), "b": RetryAfter(errors.New("busy"), 0), "c": Release(time.Minute), "d": errors.New("x"),
		}[j.ID]
	})
	for _, id := range []string{"a", "b", "c", "d"} {
		f.put(id)
	}
	f.await("d", "fail")
	w.drained(t)
	expect(t, "warnings", w.warnings, []Warning{{WarningFailed, "attempt 1 of ok failed: Error: x", []string{"d"}}})
}

func TestErrorLineShowsAnErrorAndItsCausesOnOneLine(t *testing.T) {
	for stored, want := range map[string]string{
		`"disk\n full"`:                    "disk full",
		`{"name":"E","message":"a\r\n b"}`: "E: a b",
		`{"message":"a"}`:                  "a",
		`{"name":"E","message":""}`:        "E",
		`{"name":7,"message":"a","causes":[{"name":"F","message":"b","causes":["c"]},{"message":"d"}]}`: "a (cause: F: b (cause: c))",
		`{"code":"<7>"}`: `{"code":"<7>"}`,
		`null`:           "null",
		`[1]`:            "[1]",
		``:               "",
	} {
		expect(t, stored, ErrorLine(json.RawMessage(stored)), want)
	}
}

func TestAValueThatIsNotJSONIsNamedByItsPath(t *testing.T) {
	f := newFakeService(t)
	bad := map[string]any{"items": []any{1, math.NaN()}}
	_, err := f.client.Create(context.Background(), "ok", bad, nil)
	expect(t, "payload", err, "yardmaster: the payload is not JSON: payload.items[1] is NaN")
	_, err = f.client.Create(context.Background(), "ok", panicking{}, nil)
	expect(t, "payload", err, "yardmaster: the payload is not JSON: payload cannot be encoded: panic: MarshalJSON panics")
	_, err = f.client.Create(context.Background(), "ok", nil, &CreateOptions{Retry: &Retry{Factor: math.NaN()}})
	expect(t, "option", err, "yardmaster: the request is not JSON: request.retry.factor is NaN (INVALID_REQUEST)")
	job := &rawJob{}
	expect(t, "checkpoint", job.Save(bad), "yardmaster: the checkpoint is not JSON: checkpoint.items[1] is NaN")
	expect(t, "event", job.Event(bad), "yardmaster: the event is not JSON: event.items[1] is NaN")
	expect(t, "ephemeral event", job.EphemeralEvent(bad), "yardmaster: the event is not JSON: event.items[1] is NaN")
}

func TestARoundingErrorOfAPercentageIsCorrected(t *testing.T) {
	for value, want := range map[float64]float64{100.00000000000001: 100, -1e-9: 0, 50: 50} {
		got, isPercent := percentOf(value)
		expect(t, "percent", []any{got, isPercent}, []any{want, true})
	}
	for _, value := range []float64{100.1, -0.1, math.NaN(), math.Inf(1)} {
		_, isPercent := percentOf(value)
		expect(t, fmt.Sprint(value), isPercent, false)
	}
}

func TestAHandlerThatExitsWhileItsErrorIsReadFails(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{}, func(context.Context, *rawJob) (any, error) { return nil, exiting{} })
	f.put("a")
	expect(t, "error", ErrorLine(f.await("a", "fail").Error), "yardmaster.exiting: The error cannot be read")
	w.drained(t)
}
