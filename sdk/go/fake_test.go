package yardmaster

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const testKey = "secret-key"

// call is a call that the fake service received.
type call struct {
	method string
	path   string
	query  string
	header http.Header
	body   string
}

// fakeService serves the jobs that a test puts in, and accepts every outcome unless the test overrides it.
type fakeService struct {
	t      *testing.T
	url    string
	client *Client

	mu       sync.Mutex
	queue    []wire.ClaimedJob
	added    chan struct{}
	calls    []call
	outcomes []wire.Outcome
	logs     []string
	streams  []chan string
	created  int
	// closedPolls counts polls whose client has disconnected.
	closedPolls int
	// refuseStream may respond to the opening of a stream.
	refuseStream func(w http.ResponseWriter, r *http.Request) bool
	// intercept may respond to a call; it returns false to let the service respond.
	intercept func(w http.ResponseWriter, path, body string) bool
	// refuse may return the error code with which to refuse an outcome.
	refuse func(o wire.Outcome) (wire.ErrorCode, wire.JobStatus)
}

func newFakeService(t *testing.T) *fakeService {
	t.Helper()
	f := &fakeService{t: t, added: make(chan struct{}, 100)}
	server := httptest.NewServer(f)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f.url = server.URL
	client, err := NewClient(ClientOptions{URL: server.URL, APIKey: testKey, Space: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	f.client = client
	return f
}

func (f *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var reader io.Reader = r.Body
	if r.Header.Get("content-encoding") == "gzip" {
		reader, _ = gzip.NewReader(r.Body)
	}
	body, _ := io.ReadAll(reader)
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	f.mu.Lock()
	f.calls = append(f.calls, call{r.Method, path, r.URL.RawQuery, r.Header.Clone(), string(body)})
	intercept := f.intercept
	f.mu.Unlock()
	if strings.HasPrefix(path, "/realtime/") {
		if f.refuseStream == nil || !f.refuseStream(w, r) {
			f.stream(w, r)
		}
		return
	}
	if intercept != nil && intercept(w, path, string(body)) {
		return
	}
	w.Header().Set("x-request-id", "r1")
	switch {
	case strings.HasSuffix(path, "/jobs/poll"):
		f.poll(w, r, body)
	case strings.HasSuffix(path, "/jobs/settle"):
		var settle wire.Settle
		_ = json.Unmarshal(body, &settle)
		respond(w, 200, wire.SettleResults{Results: f.settle(settle.Outcomes)})
	case strings.HasSuffix(path, "/logs"):
		f.mu.Lock()
		f.logs = append(f.logs, strings.Split(strings.TrimSpace(string(body)), "\n")...)
		f.mu.Unlock()
		respond(w, 200, wire.AppendedLogs{Success: true})
	case strings.HasSuffix(path, "/jobs"):
		f.mu.Lock()
		f.created++
		f.mu.Unlock()
		respond(w, 201, wire.KnownJob{ID: "created", Name: "ok", Status: "pending"})
	default:
		f.one(w, r, path, body)
	}
}

// one settles the outcome of a call about one job.
func (f *fakeService) one(w http.ResponseWriter, r *http.Request, path string, body []byte) {
	parts := strings.Split(path, "/")
	var o wire.Outcome
	_ = json.Unmarshal(body, &o)
	token := r.Header.Get("x-delivery-token")
	o.JobID, o.Action, o.DeliveryToken = parts[2], parts[len(parts)-1], &token
	entry := f.settle([]wire.Outcome{o})[0]
	if !entry.Success {
		respond(w, 409, entry)
		return
	}
	respond(w, 200, map[string]bool{"success": true})
}

func (f *fakeService) poll(w http.ResponseWriter, r *http.Request, body []byte) {
	var poll wire.Poll
	_ = json.Unmarshal(body, &poll)
	polled := wire.PolledJobs{Jobs: []wire.ClaimedJob{}}
	if len(poll.Settle) > 0 {
		polled.Settled = f.settle(poll.Settle)
	}
	for {
		f.mu.Lock()
		count := min(*poll.Count, len(f.queue))
		polled.Jobs = append(polled.Jobs, f.queue[:count]...)
		f.queue = f.queue[count:]
		f.mu.Unlock()
		if len(polled.Jobs) > 0 || poll.WaitSeconds == nil {
			respond(w, 200, polled)
			return
		}
		select {
		case <-f.added:
		case <-r.Context().Done():
			f.mu.Lock()
			f.closedPolls++
			f.mu.Unlock()
			return
		}
	}
}

func (f *fakeService) settle(outcomes []wire.Outcome) []wire.Settled {
	f.mu.Lock()
	defer f.mu.Unlock()
	var results []wire.Settled
	for _, o := range outcomes {
		f.outcomes = append(f.outcomes, o)
		entry := wire.Settled{JobID: o.JobID, Success: true}
		if f.refuse != nil {
			if code, status := f.refuse(o); code != "" {
				entry = wire.Settled{JobID: o.JobID, Code: &code, JobStatus: &status, Error: Ptr("refused")}
			}
		}
		results = append(results, entry)
	}
	return results
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuseCall(w http.ResponseWriter, status int, code wire.ErrorCode) bool {
	respond(w, status, wire.ErrorBody{Error: "text of " + string(code), Code: code})
	return true
}

// put makes a job claimable.
func (f *fakeService) put(id string, change ...func(*wire.ClaimedJob)) {
	job := wire.ClaimedJob{
		ID: id, Name: "ok", Payload: json.RawMessage("null"), Checkpoint: json.RawMessage("null"),
		TimeoutSeconds: 300, MaxRetries: 3, Attempt: 1, DeliveryToken: "token of " + id, CreatedAt: "2026-01-31T09:30:00.000Z",
	}
	for _, each := range change {
		each(&job)
	}
	f.mu.Lock()
	f.queue = append(f.queue, job)
	f.mu.Unlock()
	f.added <- struct{}{}
}

// of returns the outcomes of a job with these actions, as "action" or "action body".
func (f *fakeService) of(id string, actions ...string) []wire.Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []wire.Outcome
	for _, o := range f.outcomes {
		for _, action := range actions {
			if o.JobID == id && o.Action == action {
				found = append(found, o)
			}
		}
	}
	return found
}

// await waits for an outcome of a job.
func (f *fakeService) await(id, action string) wire.Outcome {
	f.t.Helper()
	eventually(f.t, action+" of "+id, func() bool { return len(f.of(id, action)) > 0 })
	return f.of(id, action)[0]
}

func (f *fakeService) callsTo(suffix string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []call
	for _, each := range f.calls {
		if strings.HasSuffix(each.path, suffix) {
			found = append(found, each)
		}
	}
	return found
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// running is a worker of a test.
type running struct {
	stop  context.CancelFunc
	ended chan error

	mu       sync.Mutex
	warnings []Warning
}

// work runs a worker until the test ends. With an empty handler, each job of the name "ok" completes with null.
func (f *fakeService) work(options WorkerOptions, handler Handler[json.RawMessage, any]) *running {
	f.t.Helper()
	r := &running{ended: make(chan error, 1)}
	options.OnWarning = func(warning Warning) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.warnings = append(r.warnings, warning)
	}
	worker := NewWorker(f.client, options)
	if handler == nil {
		handler = func(context.Context, *Job[json.RawMessage]) (any, error) { return nil, nil }
	}
	On(worker, "ok", handler)
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- worker.Run(ctx) }()
	f.t.Cleanup(stop)
	return r
}

// drained stops the worker and waits until it has ended.
func (r *running) drained(t *testing.T) {
	t.Helper()
	r.stop()
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
}

func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the worker did not end")
		return nil
	}
}

func (r *running) warned(kind WarningKind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, each := range r.warnings {
		if each.Kind == kind {
			return true
		}
	}
	return false
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
