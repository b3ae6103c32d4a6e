package yardmaster

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// waiting is a handler that sends its job, waits until it is aborted, and sends the reason.
func waiting(started chan string, reasons chan error) Handler[json.RawMessage, any] {
	return func(ctx context.Context, j *rawJob) (any, error) {
		started <- j.ID
		<-ctx.Done()
		reasons <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

func short(job *wire.ClaimedJob) { job.TimeoutSeconds = 0.15 }

func TestARefusedHeartbeatAbortsWithTheReason(t *testing.T) {
	for _, each := range []struct {
		code   wire.ErrorCode
		status wire.JobStatus
		reason error
	}{
		{wire.ErrorCodeJobKilled, wire.JobStatusKilled, ErrKilled},
		{wire.ErrorCodeDeliveryLost, wire.JobStatusRunning, ErrDeliveryLost},
		{wire.ErrorCodeJobNotFound, "", ErrDeliveryLost},
		{wire.ErrorCodeJobNotRunning, wire.JobStatusPending, ErrTimedOut},
		{wire.ErrorCodeJobNotRunning, wire.JobStatusKilled, ErrKilled},
	} {
		f := newFakeService(t)
		f.refuse = func(o wire.Outcome) (wire.ErrorCode, wire.JobStatus) {
			if o.Action == "keepalive" {
				return each.code, each.status
			}
			return "", ""
		}
		reasons := make(chan error, 1)
		w := f.work(WorkerOptions{Concurrency: 1}, waiting(make(chan string, 2), reasons))
		f.put("a", short)
		expect(t, string(each.code), <-reasons, each.reason)
		f.put("b") // The slot is free again.
		f.await("b", "ack")
		w.stop()
		expect(t, "reports", len(f.of("a", "complete", "fail", "release")), 0)
	}
}

func TestTheStreamAbortsOnlyTheAttemptThatEnded(t *testing.T) {
	f := newFakeService(t)
	started, reasons := make(chan string), make(chan error, 3)
	w := f.work(WorkerOptions{}, waiting(started, reasons))
	f.put("a", func(j *wire.ClaimedJob) { j.Attempt = 2 })
	<-started
	eventually(t, "the stream is open", func() bool { return len(f.callsTo("/realtime/spaces/demo")) == 1 })
	f.publish("a", "retried", map[string]int{"attemptNumber": 1}) // The end of the first attempt, which arrives late.
	f.publish("other", "killed", nil)
	f.await("a", "keepalive")
	expect(t, "aborts", len(reasons), 0)
	f.publish("a", "retried", map[string]int{"attemptNumber": 2})
	expect(t, "reason", <-reasons, ErrTimedOut)

	f.put("b")
	<-started
	f.publish("b", "killed", map[string]string{"reason": "no longer needed"})
	expect(t, "reason", <-reasons, ErrKilled)
	w.drained(t)
	expect(t, "reports", len(f.of("a", "complete", "fail"))+len(f.of("b", "complete", "fail", "release")), 0)
}

func TestTheEchoOfAnOutcomeDoesNotAbort(t *testing.T) {
	f := newFakeService(t)
	var isLost atomic.Bool
	f.intercept = func(w http.ResponseWriter, _, body string) bool {
		if strings.Contains(body, `"fail"`) && isLost.CompareAndSwap(false, true) {
			f.publish("a", "dead", nil)
			time.Sleep(20 * time.Millisecond) // The worker reads the event before the response.
			return refuseCall(w, 503, wire.ErrorCodeUnavailable)
		}
		return false
	}
	w := f.work(WorkerOptions{}, func(context.Context, *rawJob) (any, error) { return nil, context.DeadlineExceeded })
	f.put("a")
	f.await("a", "fail")
	w.drained(t)
	expect(t, "warned", w.warned(WarningLost), false)
}

func TestARefusedStreamIsNotReopened(t *testing.T) {
	f := newFakeService(t)
	f.refuseStream = func(w http.ResponseWriter, _ *http.Request) bool { return refuseCall(w, 403, wire.ErrorCodeForbidden) }
	var warnings []string
	s := newSession(context.Background(), NewWorker(f.client, WorkerOptions{
		OnWarning: func(w Warning) { warnings = append(warnings, w.Message) },
	}))
	defer s.stopBackground()
	s.watchKills(context.Background()) // It ends on its own.
	tries := f.callsTo("/realtime/spaces/demo")
	expect(t, "tries", len(tries), 1)
	expect(t, "accept", tries[0].header.Get("accept"), "text/event-stream")
	expect(t, "key", tries[0].header.Get("x-api-key"), testKey)
	expect(t, "shows the key", strings.Contains(tries[0].query, testKey), false)
	expect(t, "warnings", warnings, []string{"can't open the kill stream; a kill isn't noticed until the next heartbeat, " +
		"up to 60 s later (yardmaster: text of FORBIDDEN (FORBIDDEN))"})
}

func TestAStreamThatCannotBeOpenedIsRetriedAndReportedOnce(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.refuseStream = func(w http.ResponseWriter, _ *http.Request) bool {
		switch times.Add(1) % 3 {
		case 0:
			w.WriteHeader(204)
		case 1:
			respond(w, 200, "a page")
		default:
			return refuseCall(w, 503, wire.ErrorCodeUnavailable)
		}
		return true
	}
	w := f.work(WorkerOptions{}, nil)
	eventually(t, "a warning", func() bool { return w.warned(WarningStream) })
	expect(t, "tries", times.Load(), streamFailuresBeforeWarning)
	w.drained(t)
	expect(t, "warnings", len(w.warnings), 1)
}

func TestAStreamThatEndsIsReopened(t *testing.T) {
	f := newFakeService(t)
	started, reasons := make(chan string), make(chan error, 1)
	f.work(WorkerOptions{}, waiting(started, reasons))
	f.put("a")
	<-started
	eventually(t, "the stream is open", func() bool { return f.streamCount() == 1 })
	f.mu.Lock()
	close(f.streams[0])
	f.mu.Unlock()
	eventually(t, "another stream", func() bool { return f.streamCount() == 2 })
	f.publish("a", "killed", nil)
	expect(t, "reason", <-reasons, ErrKilled)
}

func TestAHandlerCanSaveWhileTheWorkerDrains(t *testing.T) {
	f := newFakeService(t)
	started, saved := make(chan struct{}), make(chan error, 1)
	w := f.work(WorkerOptions{Drain: time.Millisecond}, func(ctx context.Context, j *rawJob) (any, error) {
		close(started)
		<-ctx.Done()
		saved <- j.Save("state")
		return nil, ctx.Err()
	})
	f.put("a")
	<-started
	w.drained(t)
	expect(t, "save", <-saved, nil)
	expect(t, "releases", len(f.of("a", "release")), 1)
	expect(t, "fails", len(f.of("a", "fail")), 0)
}

func TestAResultAfterTheAbortOfADrainIsReported(t *testing.T) {
	f := newFakeService(t)
	started := make(chan struct{})
	w := f.work(WorkerOptions{Drain: time.Millisecond}, func(ctx context.Context, _ *rawJob) (any, error) {
		close(started)
		<-ctx.Done()
		return context.Cause(ctx).Error(), nil
	})
	f.put("a")
	<-started
	w.drained(t)
	expect(t, "result", string(f.await("a", "complete").Result), `"the worker is shutting down"`)
}

func TestAJobAckedDuringADrainIsReleasedWithoutCallingItsHandler(t *testing.T) {
	f := newFakeService(t)
	acking, proceed := make(chan struct{}), make(chan struct{})
	f.intercept = func(_ http.ResponseWriter, _, body string) bool {
		if strings.Contains(body, `"ack"`) {
			close(acking)
			<-proceed
		}
		return false
	}
	w := f.work(WorkerOptions{}, func(context.Context, *rawJob) (any, error) {
		t.Error("the handler was called")
		return nil, nil
	})
	f.put("a")
	<-acking
	eventually(t, "the next poll waits", func() bool { return len(f.callsTo("/poll")) == 2 })
	w.stop()
	eventually(t, "the drain has begun", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.closedPolls == 1
	})
	close(proceed)
	expect(t, "error", w.end(t), nil)
	expect(t, "releases", len(f.of("a", "release")), 1)
}
