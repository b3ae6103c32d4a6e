package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // Panics for a nil pointer.

type panicking struct{}

func (panicking) Error() string                { panic("Error panics") }
func (panicking) MarshalJSON() ([]byte, error) { panic("MarshalJSON panics") }

// end is how a handler of the test below ends: it panics unless the value is nil, and returns the others.
type end struct{ panics, result, err any }

func randomEnd(random *rand.Rand) end {
	texts := []string{"", "disk full", "\xff", strings.Repeat("\x00", 100_000), strings.Repeat("😀", 50_000)}
	values := []any{
		nil, 1, math.NaN(), panicking{}, make(chan int), func() {}, map[string]any{"a": []any{math.Inf(1)}},
		texts[random.IntN(len(texts))], strings.Repeat("large", 200), &struct{ A any }{panicking{}},
	}
	cycle := map[string]any{}
	cycle["cycle"] = cycle
	values = append(values, cycle, []any{cycle})
	pick := func(of []any) any { return of[random.IntN(len(of))] }
	err := pick([]any{
		(*nilError)(nil), panicking{}, errors.New(texts[random.IntN(len(texts))]), errors.Join(panicking{}, (*nilError)(nil)),
		Release(-1, texts[random.IntN(len(texts))]), errors.ErrUnsupported, context.Canceled,
	}).(error)
	if random.IntN(3) == 0 {
		err = []error{NonRetryable(err), RetryAfter(err, -1), NonRetryable(nil), fmt.Errorf("wrapped: %w", RetryAfter(err, 1))}[random.IntN(4)]
	}
	switch random.IntN(3) {
	case 0:
		return end{panics: pick(append(values, err))}
	case 1:
		return end{result: pick(values)}
	default:
		return end{result: pick(values), err: err}
	}
}

func TestEveryEndOfAHandlerHasAnOutcomeAndTheWorkerLives(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	f := newFakeService(t)
	// Like the service, it refuses a whole call with what is too large or invalid. It refuses more than that.
	f.intercept = func(w http.ResponseWriter, path, body string) bool {
		if strings.HasSuffix(path, "/jobs/poll") && !strings.Contains(body, `"settle"`) {
			return false
		}
		if strings.Contains(body, "largelarge") {
			return refuseCall(w, 413, wire.ErrorCodeTooLarge)
		}
		return (strings.Contains(body, "disk full") || strings.Contains(body, "\u0000")) && refuseCall(w, 400, wire.ErrorCodeInvalidRequest)
	}
	const count = 200
	ends := map[string]end{}
	for i := range count {
		ends[fmt.Sprint(i)] = randomEnd(random)
	}
	w := f.work(WorkerOptions{Concurrency: 50}, func(_ context.Context, j *rawJob) (any, error) {
		each := ends[j.ID]
		if each.panics != nil {
			panic(each.panics)
		}
		err, _ := each.err.(error)
		return each.result, err
	})
	for id := range ends {
		f.put(id)
	}
	for id, each := range ends {
		deadline := time.Now().Add(10 * time.Second)
		for len(f.of(id, "complete", "fail", "release")) == 0 {
			if time.Now().After(deadline) {
				t.Fatalf("seed %d: job %s has no outcome: %.200s", seed, id, fmt.Sprintf("%T %T %T", each.panics, each.result, each.err))
			}
			time.Sleep(time.Millisecond)
		}
	}
	w.drained(t)
	for _, each := range w.warnings {
		expect(t, each.Message, each.Kind, WarningFailed)
	}
}

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

func TestAReplacementThatIsRefusedTooIsReported(t *testing.T) {
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

func TestNilIsNoError(t *testing.T) {
	f := newFakeService(t)
	f.work(WorkerOptions{}, func(_ context.Context, j *rawJob) (any, error) {
		return 1, errors.Join(NonRetryable(nil), RetryAfter(nil, time.Second))
	})
	f.put("a")
	expect(t, "result", string(f.await("a", "complete").Result), "1")
}

func TestTheErrorOfACallIsACause(t *testing.T) {
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

func TestTheLineOfAnError(t *testing.T) {
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

func TestWhatIsNoJSONIsNamedByItsPath(t *testing.T) {
	f := newFakeService(t)
	bad := map[string]any{"items": []any{1, math.NaN()}}
	_, err := f.client.Create(context.Background(), "ok", bad, nil)
	expect(t, "payload", err, "yardmaster: the payload is not JSON: payload.items[1] is NaN")
	_, err = f.client.Create(context.Background(), "ok", panicking{}, nil)
	expect(t, "payload", err, "yardmaster: the payload is not JSON: payload cannot be encoded: panic: MarshalJSON panics")
	_, err = f.client.Create(context.Background(), "ok", nil, &CreateOptions{Retry: &Retry{Factor: math.NaN()}})
	expect(t, "option", err, "yardmaster: the request is not JSON: request.retry.factor is NaN")
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

type exiting struct{}

func (exiting) Error() string { runtime.Goexit(); return "" }
