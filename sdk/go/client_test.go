package yardmaster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

func TestMissingOptionsAreNamedInTheError(t *testing.T) {
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

func TestACreateIsRetriedWithTheSameIdempotencyKey(t *testing.T) {
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
			`{"name":"ok","payload":{"n":1},"maxRetries":0,"retry":{"delaySeconds":[1,60]},"delaySeconds":300}`)
	}
}

func TestAnErrorHasTheFieldsOfTheRefusal(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		w.Header().Set("x-request-id", "r7")
		respond(w, 409, wire.ErrorBody{
			Error: "not unique", Code: wire.ErrorCodeJobNotUnique, JobStatus: Ptr(wire.JobStatusRunning), JobID: Ptr("b"),
			Details: []wire.FaultDetail{{Path: "p", Message: "m"}},
		})
		return true
	}
	_, err := f.client.Create(context.Background(), "ok", nil, nil)
	var refusal *Error
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	expect(t, "text", refusal.Error(), "yardmaster: not unique (JOB_NOT_UNIQUE)")
	expect(t, "fields",
		[]any{refusal.Status, refusal.JobStatus, refusal.JobID, refusal.RequestID, refusal.Details[0].Path},
		[]any{409, "running", "b", "r7", "p"})
	expect(t, "calls", len(f.callsTo("/jobs")), 1)
}

func TestACallIsRetriedOnlyWithinTheRetryWindow(t *testing.T) {
	f := newFakeService(t)
	f.client.retryWindow = 50 * time.Millisecond
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		w.Header().Set("retry-after", "30")
		return refuseCall(w, 503, wire.ErrorCodeOverloaded)
	}
	_, err := f.client.Get(context.Background(), "a", nil)
	expect(t, "code", asError(err).Code, wire.ErrorCodeOverloaded)
	expect(t, "calls", len(f.callsTo("/a")), 1)
}

func TestResultWaitsUntilTheJobEnds(t *testing.T) {
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
			expect(t, "text", err.Error(), "yardmaster: The job is dead: disk full (JOB_DEAD)")
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

func TestTheDefaultTransportUsesHTTP1EvenIfTheServerOffersHTTP2(t *testing.T) {
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
	job, err := client.Get(context.Background(), "a", nil)
	expect(t, "error", err, nil)
	expect(t, "protocol", job.ID, "HTTP/1.1")
}

func TestPrintingAClientDoesNotShowTheKey(t *testing.T) {
	client, err := NewClient(ClientOptions{URL: "http://127.0.0.1:9", APIKey: "the-key", Space: "demo"})
	expect(t, "error", err, nil)
	worker := NewWorker(client, WorkerOptions{})
	for _, value := range []any{client, *client, client.Handle("j"), worker} {
		encoded, _ := json.Marshal(value)
		for _, text := range []string{fmt.Sprintf("%v %+v %#v %s %q", value, value, value, value, value), string(encoded)} {
			expect(t, text, strings.Contains(text, "the-key"), false)
		}
	}
}

func TestHealthzFailsWhenNoPollIsAnswered(t *testing.T) {
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

func TestListReadsEveryPageWithItsFilter(t *testing.T) {
	f := newFakeService(t)
	pages := []struct{ body, next string }{{`[{"id":"a"},{"id":"b"}]`, "1+"}, {`[]`, "2"}, {`[{"id":"c"}]`, ""}}
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		page := pages[min(int(times.Add(1))-1, len(pages)-1)]
		if page.next != "" {
			w.Header().Set("x-next-cursor", page.next)
		}
		respond(w, 200, json.RawMessage(page.body))
		return true
	}
	var ids []string
	list := f.client.List(context.Background(), ListOptions{
		Statuses: []wire.JobStatus{"dead", "killed"}, Names: []string{"resize"}, Tags: []string{"eu", "vip"}, Query: "full",
		CreatedAfter: time.Date(2026, 8, 1, 9, 30, 0, 0, time.UTC), OldestFirst: true, PageSize: 2,
	})
	list(func(job wire.ListedJob, err error) bool {
		expect(t, "error", err, nil)
		ids = append(ids, job.ID)
		return true
	})
	expect(t, "jobs", ids, []string{"a", "b", "c"})
	query := "createdAfter=2026-08-01T09%3A30%3A00.000Z&limit=2&name=resize&order=asc&q=full&status=dead&status=killed&tag=eu&tag=vip"
	var queries []string
	for _, each := range f.callsTo("/jobs") {
		queries = append(queries, each.query)
	}
	expect(t, "queries", queries, []string{query, query + "&cursor=1%2B", query + "&cursor=2"})
}

func TestSpacesReadsEveryPageAndEndsAfterAnError(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		if times.Add(1) > 1 {
			return refuseCall(w, 403, wire.ErrorCodeForbidden)
		}
		respond(w, 200, wire.SpaceList{Spaces: []wire.Space{{SpaceID: "a"}}, NextCursor: Ptr("a")})
		return true
	}
	var found []string
	f.client.Spaces(context.Background())(func(space wire.Space, err error) bool {
		if err != nil {
			found = append(found, string(asError(err).Code))
		} else {
			found = append(found, space.SpaceID)
		}
		return true
	})
	expect(t, "spaces", found, []string{"a", "FORBIDDEN"})
	expect(t, "query", f.callsTo("/spaces")[1].query, "limit=100&cursor=a")
}

func TestOtherMethodsSendTheRequestsOfTheAPI(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		respond(w, 200, map[string]any{"success": true, "id": "j1", "token": "ymst_x"})
		return true
	}
	ctx := context.Background()
	for _, options := range []*GetOptions{nil, {WithoutEvents: true}, {EventsAfter: 7, EventsLimit: 10}} {
		_, err := f.client.Get(ctx, "j1", options)
		expect(t, "error", err, nil)
	}
	_, statsErr := f.client.Stats(ctx)
	_, createErr := f.client.Create(ctx, "ok", nil, &CreateOptions{Tags: []string{"eu"}})
	request := wire.StreamTokenRequest{Scope: "jobs:read", JobIds: []string{"j1"}, ExpiresInSeconds: Ptr(60)}
	token, tokenErr := f.client.CreateStreamToken(ctx, request)
	err := errors.Join(statsErr, createErr, tokenErr, f.client.Requeue(ctx, "j1", time.Minute), f.client.Delete(ctx, "j1"),
		f.client.Pause(ctx, []string{"resize"}), f.client.Pause(ctx, []string{}), f.client.Resume(ctx, nil))
	expect(t, "error", err, nil)
	expect(t, "token", token.Token, "ymst_x")
	var calls []string
	for _, each := range f.callsTo("") {
		calls = append(calls, strings.TrimSpace(each.method+" "+each.path+" "+each.query+each.body))
	}
	expect(t, "calls", strings.Join(calls, "\n"), strings.Join([]string{
		"GET /jobs/j1", "GET /jobs/j1 events=0", "GET /jobs/j1 eventsAfter=7&eventsLimit=10",
		"GET /spaces/demo/stats", `POST /spaces/demo/jobs {"name":"ok","payload":null,"tags":["eu"]}`,
		`POST /stream-tokens {"scope":"jobs:read","jobIds":["j1"],"expiresInSeconds":60}`,
		`POST /jobs/j1/requeue {"delaySeconds":60}`, "DELETE /jobs/j1",
		`POST /spaces/demo/pause {"names":["resize"]}`, "POST /spaces/demo/resume {}",
	}, "\n"))
}

func TestACopyIsRetriedOnlyIfItHadNoEffect(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		switch times.Add(1) {
		case 1:
			w.Header().Set("retry-after", "0.2")
			return refuseCall(w, 429, wire.ErrorCodeRateLimited)
		case 2:
			respond(w, 201, wire.Job{ID: "j1"})
			return true
		default:
			return refuseCall(w, 503, wire.ErrorCodeUnavailable)
		}
	}
	job, err := f.client.Copy(context.Background(), "j0", map[string]int{"n": 1})
	expect(t, "error", err, nil)
	expect(t, "job", job.ID, "j1")
	_, err = f.client.Copy(context.Background(), "j0", nil)
	expect(t, "code", asError(err).Code, wire.ErrorCodeUnavailable)
	var bodies []string
	for _, each := range f.callsTo("/copy") {
		bodies = append(bodies, each.body)
	}
	expect(t, "bodies", bodies, []string{`{"payload":{"n":1}}`, `{"payload":{"n":1}}`, `{}`})
}

func TestAnOperationIsStartedOnceAndCanBeCanceled(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		operation := wire.Operation{ID: "o1", Status: wire.OperationStatusRunning}
		switch times.Add(1) {
		case 1:
			return refuseCall(w, 503, wire.ErrorCodeUnavailable)
		case 4:
			operation.Status, operation.Changed = wire.OperationStatusDone, 7
		}
		respond(w, 200, operation)
		return true
	}
	ctx := context.Background()
	filter := wire.OperationFilter{Status: []wire.JobStatus{"dead"}, Q: Ptr("full")}
	options := OperationOptions{Limit: 9, DryRun: true, Reason: "fixed", Delay: time.Minute}
	operation, err := f.client.StartOperation(ctx, wire.OperationRequestActionRequeue, filter, &options)
	expect(t, "error", err, nil)
	done, err := operation.Wait(ctx)
	expect(t, "error", err, nil)
	expect(t, "changed", done.Changed, 7)
	expect(t, "error", operation.Cancel(ctx), nil)
	starts, others := f.callsTo("/operations"), f.callsTo("/operations/o1")
	expect(t, "key", starts[0].header.Get("idempotency-key"), starts[1].header.Get("idempotency-key"))
	expect(t, "body", starts[1].body, `{"action":"requeue","limit":9,"dryRun":true,"reason":"fixed","delaySeconds":60,`+
		`"filter":{"status":["dead"],"q":"full"}}`)
	expect(t, "calls", []string{others[0].method, others[1].method, others[2].method}, []string{"GET", "GET", "DELETE"})
}

func TestWaitForAnOperationEndsWithItsContext(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		respond(w, 200, wire.Operation{ID: "o1", Status: wire.OperationStatusRunning})
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := f.client.Operation("o1").Wait(ctx)
	expect(t, "code", asError(err).Code, CodeTimeout)
}
