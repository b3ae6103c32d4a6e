package yardmaster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

func TestMissingOptionsAreNamed(t *testing.T) {
	for _, each := range []struct {
		options ClientOptions
		name    string
	}{
		{ClientOptions{Space: "demo"}, "YARDMASTER_API_KEY"},
		{ClientOptions{APIKey: "k"}, "YARDMASTER_SPACE"},
		{ClientOptions{APIKey: "k", Space: "demo", URL: "localhost:8080"}, "localhost:8080"},
	} {
		t.Setenv("YARDMASTER_API_KEY", "")
		t.Setenv("YARDMASTER_SPACE", "")
		_, err := NewClient(each.options)
		if err == nil || !strings.Contains(err.Error(), each.name) {
			t.Fatalf("got %v, want %s", err, each.name)
		}
	}
	t.Setenv("YARDMASTER_API_KEY", "k")
	t.Setenv("YARDMASTER_SPACE", "of the environment")
	client, err := NewClient(ClientOptions{Space: "mine"})
	expect(t, "error", err, nil)
	expect(t, "an explicit option wins", client.Space(), "mine")
}

func TestACreateIsSentAgainWithItsKey(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		switch times.Add(1) {
		case 1:
			return refuseCall(w, 503, wire.ErrorCodeStorageFull)
		case 2:
			w.WriteHeader(502)
			_, _ = w.Write([]byte("<html>Bad Gateway</html>"))
			return true
		case 3:
			panic(http.ErrAbortHandler) // The connection closes.
		}
		return false
	}
	job, err := f.client.Create(context.Background(), "ok", map[string]int{"n": 1}, &CreateOptions{
		Delay: 5 * time.Minute, MaxRetries: Ptr(0), Retry: &Retry{Delays: []time.Duration{time.Second, time.Minute}},
	})
	expect(t, "error", err, nil)
	expect(t, "job", job.ID, "created")
	calls := f.callsTo("/jobs")
	expect(t, "calls", len(calls) >= 4, true)
	for _, each := range calls {
		expect(t, "key", each.header.Get("idempotency-key"), calls[0].header.Get("idempotency-key"))
		expect(t, "body", each.body,
			`{"name":"ok","payload":{"n":1},"maxRetries":0,"delaySeconds":300,"retry":{"delaySeconds":[1,60]}}`)
	}
}

func TestAnErrorHasTheFieldsOfTheRefusal(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		w.Header().Set("x-request-id", "r7")
		status := wire.JobStatusCompleted
		respond(w, 409, wire.ErrorBody{
			Error: "Job has ended", Code: wire.ErrorCodeJobEnded, JobStatus: &status,
			Details: []wire.FaultDetail{{Path: "p", Message: "m"}},
		})
		return true
	}
	err := f.client.Kill(context.Background(), "a", "no reason")
	var refusal *Error
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	expect(t, "text", refusal.Error(), "yardmaster: Job has ended (JOB_ENDED)")
	expect(t, "fields", []any{refusal.Status, refusal.JobStatus, refusal.RequestID, refusal.Details[0].Path},
		[]any{409, "completed", "r7", "p"})
	expect(t, "calls", len(f.callsTo("/kill")), 1)
}

func TestACallIsSentAgainOnlyWithinTheWindow(t *testing.T) {
	f := newFakeService(t)
	f.client.retryWindow = 50 * time.Millisecond
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		w.Header().Set("retry-after", "30")
		return refuseCall(w, 503, wire.ErrorCodeOverloaded)
	}
	_, err := f.client.Get(context.Background(), "a")
	expect(t, "code", asError(err).Code, wire.ErrorCodeOverloaded)
	expect(t, "calls", len(f.callsTo("/a")), 1)
}

func TestResultWaitsForTheEnd(t *testing.T) {
	for _, each := range []struct {
		status wire.JobStatus
		code   wire.ErrorCode
	}{{"completed", ""}, {"dead", CodeJobDead}, {"killed", wire.ErrorCodeJobKilled}, {"pending", CodeTimeout}} {
		f := newFakeService(t)
		var times atomic.Int32
		f.intercept = func(w http.ResponseWriter, _, _ string) bool {
			job := wire.JobWithEvents{ID: "a", Status: "running"}
			if times.Add(1) > 1 {
				job.Status, job.Result, job.Error = each.status, json.RawMessage(`7`), json.RawMessage(`"disk full"`)
			}
			respond(w, 200, job)
			return true
		}
		limit := time.Minute
		if each.code == CodeTimeout {
			limit = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		var result int
		err := f.client.Handle("a").Result(ctx, &result)
		if each.code == "" {
			expect(t, "error", err, nil)
			expect(t, "result", result, 7)
			continue
		}
		expect(t, string(each.status), asError(err).Code, each.code)
		if each.code == CodeJobDead {
			expect(t, "text", err.Error(), "yardmaster: the job is dead: disk full (JOB_DEAD)")
		}
		expect(t, "is a deadline", errors.Is(err, context.DeadlineExceeded), each.code == CodeTimeout)
	}
}

func TestRetryAfterIsNotCutShort(t *testing.T) {
	var wait backoff
	for range 20 {
		pause := wait.next(&Error{retryAfter: 7 * time.Second})
		expect(t, "pause", pause >= 7*time.Second && pause < 8*time.Second, true)
	}
	wait = backoff{}
	for _, ceiling := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		pause := wait.next(errors.New("lost"))
		ceiling *= time.Millisecond
		expect(t, "pause", pause >= ceiling/2 && pause < ceiling, true)
	}
	at := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	expect(t, "a date", retryAfterOf(at) > 50*time.Second, true)
	for _, text := range []string{"", "soon", "-1", "NaN"} {
		expect(t, text, retryAfterOf(text), time.Duration(0))
	}
}

func TestTheDefaultTransportUsesHTTP1AlsoIfTheServerOffersHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond(w, 200, wire.JobWithEvents{ID: r.Proto})
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	transport := defaultTransport().(*http.Transport)
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{}
	}
	transport.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	client, err := NewClient(ClientOptions{URL: server.URL, APIKey: "k", Space: "demo", Transport: transport})
	expect(t, "error", err, nil)
	job, err := client.Get(context.Background(), "a")
	expect(t, "error", err, nil)
	expect(t, "protocol", job.ID, "HTTP/1.1")
}

func TestHealthIsBadWhenNoPollIsAnswered(t *testing.T) {
	var h health
	now := time.Now()
	status := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, nil)
		return w.Code
	}
	expect(t, "before the first poll", status(), 200)
	h.pollBegins(now.Add(-2 * healthPatience))
	h.pollBegins(now)
	expect(t, "without a response", status(), 503)
	h.pollAnswered()
	expect(t, "after a response", status(), 200)
}
