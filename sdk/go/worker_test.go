package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

type rawJob = Job[json.RawMessage]

func TestEachCallCarriesTheDeliveryTokenAndTheWorkerID(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{WorkerID: "w1"}, func(_ context.Context, j *rawJob) (any, error) {
		return map[string]int{"n": j.Attempt}, nil
	})
	f.put("a", func(j *wire.ClaimedJob) { j.Attempt = 2 })
	done := f.await("a", "complete")
	expect(t, "result", string(done.Result), `{"n":2}`)
	expect(t, "token", *done.DeliveryToken, "token of a")
	expect(t, "token of the ack", *f.await("a", "ack").DeliveryToken, "token of a")
	w.drained(t)
	first := f.callsTo("/poll")[0]
	expect(t, "key", first.header.Get("x-api-key"), testKey)
	expect(t, "poll", first.body, `{"count":10,"types":["ok"],"waitSeconds":20,"workerId":"w1"}`)
}

func TestAPanicFailsTheJobAndTheWorkerContinues(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{Concurrency: 1}, func(_ context.Context, j *rawJob) (any, error) {
		switch j.ID {
		case "panics":
			panic("index out of range")
		case "exits":
			runtime.Goexit()
		}
		return nil, nil
	})
	for _, id := range []string{"panics", "exits", "b"} {
		f.put(id)
	}
	f.await("b", "complete")
	expect(t, "error", ErrorLine(f.await("panics", "fail").Error), "panic: index out of range")
	expect(t, "error", ErrorLine(f.await("exits", "fail").Error), "Error: the handler ended its goroutine without a result")
	expect(t, "warned", w.warned(WarningFailed), true)
	w.drained(t)
}

func TestAPayloadThatDoesNotMatchMakesTheJobDead(t *testing.T) {
	f := newFakeService(t)
	worker := NewWorker(f.client, WorkerOptions{IgnoreSignals: true})
	On(worker, "ok", func(context.Context, *Job[struct{ Image string }]) (any, error) {
		t.Error("the handler was called")
		return nil, nil
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	f.put("a", func(j *wire.ClaimedJob) { j.Payload = json.RawMessage(`{"Image":7}`) })
	failed := f.await("a", "fail")
	expect(t, "retryable", *failed.Retryable, false)
	expect(t, "is named", strings.Contains(string(failed.Error), "the payload is invalid"), true)
	stop()
	expect(t, "error", <-ended, nil)
}

func TestAResultThatIsNotJSONMakesTheJobDead(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{}, func(context.Context, *rawJob) (any, error) { return []any{1, make(chan int)}, nil })
	f.put("a")
	failed := f.await("a", "fail")
	expect(t, "error", string(failed.Error),
		`{"name":"InvalidResult","message":"The result is not JSON: result[1] has the type chan int"}`)
	expect(t, "retryable", *failed.Retryable, false)
	expect(t, "warned", w.warned(WarningFailed), true)
}

func TestAWorkerWithAutoAckSendsNoAcks(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{AutoAck: true}, nil)
	f.put("a")
	f.await("a", "complete")
	w.drained(t)
	expect(t, "acks", len(f.of("a", "ack")), 0)
	expect(t, "autoAck", strings.Contains(f.callsTo("/poll")[0].body, `"autoAck":true`), true)
}

func TestAJobWithAnUnknownNameIsReleased(t *testing.T) {
	f := newFakeService(t)
	w := f.work(WorkerOptions{}, nil)
	f.put("a", func(j *wire.ClaimedJob) { j.Name = "other" })
	f.await("a", "release")
	expect(t, "warned", w.warned(WarningUnknownName), true)
	w.drained(t)
	expect(t, "others", len(f.of("a", "ack", "fail", "complete")), 0)
}

func TestRunReturnsAnErrorWhenTheKeyIsRefused(t *testing.T) {
	for _, suffix := range []string{"/poll", "/settle"} {
		f := newFakeService(t)
		f.intercept = func(w http.ResponseWriter, path, _ string) bool {
			return strings.HasSuffix(path, suffix) && refuseCall(w, 401, wire.ErrorCodeUnauthenticated)
		}
		w := f.work(WorkerOptions{}, nil)
		f.put("a")
		var refusal *Error
		if err := w.end(t); !errors.As(err, &refusal) || refusal.Code != wire.ErrorCodeUnauthenticated {
			t.Fatalf("%s: got %v", suffix, err)
		}
	}
}

func TestASettleCallWithAnIncompleteResponseIsRetried(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, path, _ string) bool {
		if strings.HasSuffix(path, "/settle") && times.Add(1) == 1 {
			respond(w, 200, wire.SettleResults{Results: []wire.Settled{}})
			return true
		}
		return false
	}
	f.work(WorkerOptions{}, nil)
	f.put("a")
	f.await("a", "complete")
}

func TestOneInvalidResultOfManyFailsOnlyItsJob(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, path, body string) bool {
		isResult := strings.Contains(body, `"bad"`)
		return isResult && !strings.HasSuffix(path, "/logs") && refuseCall(w, 413, wire.ErrorCodeTooLarge)
	}
	w := f.work(WorkerOptions{Concurrency: 20}, func(_ context.Context, j *rawJob) (any, error) {
		if j.ID == "x" {
			return "bad", nil
		}
		return "good", nil
	})
	f.put("x")
	for i := range 10 {
		f.put(fmt.Sprint(i))
	}
	for i := range 10 {
		f.await(fmt.Sprint(i), "complete")
	}
	failed := f.await("x", "fail")
	expect(t, "error", string(failed.Error), `{"name":"InvalidResult","message":"The result has 5 bytes of JSON, which `+
		`the service refuses: text of TOO_LARGE. Store it elsewhere and return its URL."}`)
	expect(t, "retryable", *failed.Retryable, false)
	w.drained(t)
	expect(t, "warned", w.warned(WarningFailed), true)
}

func TestASignalThatAlsoCancelsTheContextDrains(t *testing.T) {
	f := newFakeService(t)
	started, proceed := make(chan struct{}), make(chan struct{})
	worker := NewWorker(f.client, WorkerOptions{Drain: time.Hour})
	On(worker, "ok", func(context.Context, *rawJob) (any, error) {
		close(started)
		<-proceed
		return nil, nil
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	f.put("a")
	<-started
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Fatal("the worker did not wait for its handler")
	case <-time.After(100 * time.Millisecond):
	}
	close(proceed)
	expect(t, "error", <-ended, nil)
	expect(t, "completed", len(f.of("a", "complete")), 1)
	expect(t, "released", len(f.of("a", "release")), 0)
}

func TestASecondSignalReleasesTheJobs(t *testing.T) {
	f := newFakeService(t)
	started := make(chan struct{}, 1)
	w := f.work(WorkerOptions{Drain: time.Hour}, func(context.Context, *rawJob) (any, error) {
		started <- struct{}{}
		select {}
	})
	f.put("a")
	<-started
	for range 2 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(20 * time.Millisecond) // The system merges signals that are pending at the same time.
	}
	expect(t, "error", w.end(t), nil)
	expect(t, "reason", *f.await("a", "release").Reason, "worker is shutting down")
}

func TestAWorkerLeavesNoGoroutines(t *testing.T) {
	f := newFakeService(t)
	before := runtime.NumGoroutine()
	w := f.work(WorkerOptions{HealthAddress: "127.0.0.1:0"}, func(_ context.Context, j *rawJob) (any, error) {
		j.Log.Info("on")
		return nil, errors.Join(j.Progress(1, "on"), j.Save(1), j.Event(1))
	})
	for i := range 20 {
		f.put(fmt.Sprint(i))
	}
	for i := range 20 {
		f.await(fmt.Sprint(i), "complete")
	}
	w.drained(t)
	f.client.http.CloseIdleConnections()
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
}

func TestRunRefusesAWorkerWithoutHandlersAndASecondRun(t *testing.T) {
	f := newFakeService(t)
	if err := NewWorker(f.client, WorkerOptions{}).Run(context.Background()); err == nil {
		t.Fatal("a worker without handlers runs")
	}
	defer func() {
		if recover() == nil {
			t.Fatal("a name has two handlers")
		}
	}()
	worker := NewWorker(f.client, WorkerOptions{})
	On(worker, "ok", func(context.Context, *rawJob) (any, error) { return nil, nil })
	On(worker, "ok", func(context.Context, *rawJob) (any, error) { return nil, nil })
}

func TestOneInvalidOutcomeDoesNotHoldUpTheReleaseOfTheOthers(t *testing.T) {
	f := newFakeService(t)
	var isStopping atomic.Bool
	f.intercept = func(w http.ResponseWriter, path, body string) bool {
		switch {
		case strings.HasSuffix(path, "/poll"):
			return false
		case strings.Contains(body, `"bad"`) && !isStopping.Load():
			return refuseCall(w, 503, wire.ErrorCodeUnavailable)
		default:
			return strings.Contains(body, `"bad"`) && refuseCall(w, 400, wire.ErrorCodeInvalidRequest)
		}
	}
	w := f.work(WorkerOptions{Drain: time.Hour}, func(_ context.Context, j *rawJob) (any, error) {
		if j.ID == "x" {
			// While a poll waits, the outcome is sent in a separate call.
			eventually(t, "the next poll waits", func() bool { return len(f.callsTo("/poll")) > 1 })
			return "bad", nil
		}
		select {}
	})
	f.put("x")
	eventually(t, "its outcome is on the way", func() bool {
		calls := f.callsTo("/settle")
		return len(calls) > 0 && strings.Contains(calls[len(calls)-1].body, `"bad"`)
	})
	f.put("a")
	f.await("a", "ack")
	isStopping.Store(true)
	for range 2 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(20 * time.Millisecond)
	}
	expect(t, "error", w.end(t), nil)
	f.await("a", "release")
	expect(t, "error", string(f.await("x", "fail").Error),
		`{"name":"InvalidResult","message":"The service refuses the result: text of INVALID_REQUEST"}`)
}

func TestARateLimitedWorkerHonorsRetryAfterAndLosesNoOutcome(t *testing.T) {
	f := newFakeService(t)
	var mu sync.Mutex
	times := map[string][]time.Time{}
	sent := func(kind string) []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return times[kind]
	}
	f.intercept = func(w http.ResponseWriter, path, body string) bool {
		kind := path[strings.LastIndex(path, "/")+1:]
		var settle wire.Settle
		if json.Unmarshal([]byte(body), &settle) == nil && kind == "settle" && len(settle.Outcomes) > 0 {
			kind = settle.Outcomes[0].Action
		}
		mu.Lock()
		times[kind] = append(times[kind], time.Now())
		isFirst := len(times[kind]) == 1
		mu.Unlock()
		if isFirst {
			w.Header().Set("retry-after", "0.4")
			return refuseCall(w, 429, wire.ErrorCodeRateLimited)
		}
		return false
	}
	// A heartbeat is due after 0.1 s, and Retry-After is longer than half of that.
	f.put("a", func(job *wire.ClaimedJob) { job.TimeoutSeconds = 0.3 })
	f.work(WorkerOptions{}, func(ctx context.Context, _ *Job[json.RawMessage]) (any, error) {
		eventually(t, "two heartbeats", func() bool { return len(sent("keepalive")) > 1 })
		return nil, ctx.Err()
	})
	f.await("a", "complete")
	for _, kind := range []string{"poll", "ack", "keepalive"} {
		expect(t, kind, len(sent(kind)) > 1 && sent(kind)[1].Sub(sent(kind)[0]) >= 400*time.Millisecond, true)
	}
}
