package yardmaster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// watching serves one handler per connection of a stream, and fails the test on another connection.
func watching(t *testing.T, connections ...http.HandlerFunc) *fakeService {
	f := newFakeService(t)
	next := make(chan http.HandlerFunc, len(connections))
	for _, each := range connections {
		next <- each
	}
	f.refuseStream = func(w http.ResponseWriter, r *http.Request) bool {
		select {
		case serve := <-next:
			serve(w, r)
		default:
			t.Error("there is another connection")
			w.WriteHeader(400)
		}
		return true
	}
	return f
}

// sends is a connection that sends events, each of which ends with an empty line, and closes.
func sends(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/event-stream")
		_, _ = io.WriteString(w, "retry: 1000\n\n:\n\n"+strings.Join(events, ":\n\n"))
		_ = http.NewResponseController(w).Flush()
	}
}

// holds is a connection that sends events and stays open. It reports when the client closes it.
func holds(closed chan<- bool, events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sends(events...)(w, r)
		<-r.Context().Done()
		closed <- true
	}
}

func refuses(status int, code wire.ErrorCode) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { refuseCall(w, status, code) }
}

// event returns an event at second at, with an ID unless id is negative.
func event(id int, kind string, at int, fields string) string {
	line := fmt.Sprintf(`data: {"jobId":"a","type":%q,"timestamp":"2026-01-31T09:30:%02d.000Z"%s}`, kind, at, fields)
	if id >= 0 {
		line = fmt.Sprintf("id: %d\n%s", id, line)
	}
	return line + "\n\n"
}

// collect runs a loop over a stream to its end.
func collect(iterator func(func(StreamMessage, error) bool)) (types []string, err error) {
	iterator(func(message StreamMessage, fault error) bool {
		if err = fault; fault == nil {
			types = append(types, string(message.Type))
		}
		return true
	})
	return types, err
}

func TestAWatchResumesAfterABreakAndEndsWithTheJob(t *testing.T) {
	t.Parallel()
	f := watching(t,
		sends(event(3, "init", 0, `,"status":"running"`), event(4, "progress", 1, `,"data":{"percent":5}`),
			event(-1, "logs_appended", 1, ""), strings.TrimSuffix(event(5, "event", 2, ""), "\n")), // Its end is missing.
		sends(event(4, "init", 9, `,"status":"running","seq":4`), event(5, "event", 2, `,"seq":5,"data":[1]`),
			event(6, "completed", 10, `,"status":"completed","seq":6,"data":{"n":7},"counts":"of a later release"`)))
	var why []error
	var all []StreamMessage
	handle := f.client.Handle("a")
	handle.Watch(context.Background(), WatchOptions{OnDisconnect: func(err error) { why = append(why, err) }})(
		func(message StreamMessage, err error) bool {
			expect(t, "error", err, nil)
			all = append(all, message)
			return true
		})
	expect(t, "messages", len(all), 6)
	expect(t, "progress", string(all[1].Data), `{"percent":5}`)
	expect(t, "init of the resumed connection", *all[3].Seq, 4)
	expect(t, "the event that was cut off", string(all[4].Data), "[1]")
	expect(t, "result", string(all[5].Data), `{"n":7}`)
	expect(t, "fields", []any{all[5].JobID, all[5].Status, *all[5].Seq, all[5].Timestamp},
		"[a completed 6 2026-01-31T09:30:10.000Z]")
	expect(t, "reasons", why, []error{lost("the connection was closed")})
	calls := f.callsTo("/realtime/a")
	expect(t, "key", calls[1].header.Get("x-api-key"), testKey)
	expect(t, "ids", []string{calls[0].header.Get("last-event-id"), calls[1].header.Get("last-event-id")}, []string{"", "4"})
}

func TestAWatchYieldsEachEventOnceWhereverItsConnectionsBreak(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	const last = 30
	f := newFakeService(t)
	// It serves the history of a job after the ID that the client names, and breaks after some bytes.
	f.refuseStream = func(w http.ResponseWriter, r *http.Request) bool {
		since, _ := strconv.Atoi(r.Header.Get("last-event-id"))
		history := []string{event(since, "init", 40, `,"status":"completed"`)}
		for id := since + 1; id < last; id++ {
			history = append(history, event(id, []string{"dead", "requeued", "event"}[id%3], id, ""))
		}
		text := strings.Join(append(history, event(last, "completed", last, "")), "")
		sends(text[:min(random.IntN(800), len(text))])(w, r)
		return true
	}
	seen := 0
	w := watch{client: f.client, path: "/realtime/a", isOfJob: true, silence: time.Minute, lastID: "0"}
	for range 1_000 { // Without waiting between connections.
		if w.read(context.Background(), func(message StreamMessage, _ error) bool {
			if message.Type != StreamInit {
				seen++
				expect(t, fmt.Sprint("second of the event, with seed ", seed), message.Timestamp, fmt.Sprintf("2026-01-31T09:30:%02d.000Z", seen))
			}
			return true
		}) == nil {
			break
		}
	}
	expect(t, fmt.Sprint("events, with seed ", seed), seen, last)
}

func TestAWatchEndsWithTheRightMessage(t *testing.T) {
	t.Parallel()
	since := WatchOptions{Since: Ptr(0)}
	for name, each := range map[string]struct {
		options     WatchOptions
		connections []http.HandlerFunc
		want        string
	}{
		"init of a dead job":   {connections: []http.HandlerFunc{sends(event(9, "init", 9, `,"status":"dead"`))}, want: "init"},
		"init of a killed job": {connections: []http.HandlerFunc{sends(event(9, "init", 9, `,"status":"killed"`))}, want: "init"},
		"killed": {connections: []http.HandlerFunc{
			sends(event(1, "init", 9, `,"status":"pending"`), event(2, "killed", 9, ""), event(3, "requeued", 9, "")),
		}, want: "init killed"},
		"completed without the scope jobs:read": {connections: []http.HandlerFunc{
			sends(event(0, "init", 9, ""), event(3, "completed", 2, "")),
		}, want: "init completed"},
		"a death before the init is not the end": {since, []http.HandlerFunc{
			sends(event(0, "init", 9, `,"status":"dead"`), event(1, "dead", 2, ""), event(2, "requeued", 9, ""), event(3, "dead", 10, "")),
		}, "init dead requeued dead"},
		"a completion before the init is the end": {since, []http.HandlerFunc{
			sends(event(0, "init", 9, `,"status":"completed"`), event(1, "acked", 2, ""), event(2, "completed", 3, "")),
		}, "init acked completed"},
		"the event ended": {since, []http.HandlerFunc{
			sends(event(0, "init", 9, ""), "event: ended\ndata: {}\n\n", event(-1, "event", 9, "")),
		}, "init"},
		"204 after a reconnect": {since, []http.HandlerFunc{
			sends(event(0, "init", 9, `,"status":"dead"`), event(1, "dead", 2, "")),
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
		}, "init dead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := watching(t, each.connections...)
			types, err := collect(f.client.Handle("a").Watch(context.Background(), each.options))
			expect(t, "error", err, nil)
			expect(t, "messages", strings.Join(types, " "), each.want)
			expect(t, "connections", len(f.callsTo("/realtime/a")), len(each.connections))
		})
	}
}

func TestARefusedStreamEndsAWatchWithAnError(t *testing.T) {
	for want, serve := range map[string]http.HandlerFunc{
		"FORBIDDEN 403: text of FORBIDDEN":                  refuses(403, wire.ErrorCodeForbidden),
		"JOB_NOT_FOUND 404: text of JOB_NOT_FOUND":          refuses(404, wire.ErrorCodeJobNotFound),
		"UNAUTHENTICATED 401: The stream token has expired": sends("event: expired\ndata: {}\n\n"),
	} {
		f := watching(t, serve)
		types, err := collect(f.client.Handle("a").Watch(context.Background(), WatchOptions{}))
		refusal := asError(err)
		expect(t, "error", fmt.Sprintf("%s %d: %s", refusal.Code, refusal.Status, refusal.Message), want)
		expect(t, "messages", len(types), 0)
	}
}

func TestAWatchReconnectsUntilItsStreamOpens(t *testing.T) {
	t.Parallel()
	var began, opened time.Time
	f := watching(t,
		func(w http.ResponseWriter, r *http.Request) {
			began = time.Now()
			w.Header().Set("retry-after", "0.6") // Longer than the longest wait after a first failure.
			refuses(503, wire.ErrorCodeUnavailable)(w, r)
		},
		func(w http.ResponseWriter, r *http.Request) {
			opened = time.Now()
			respond(w, 200, "a page")
		},
		refuses(429, wire.ErrorCodeTooManyStreams),
		sends("data: no JSON\n\ndata: {}\n\n", event(1, "init", 0, `,"status":"dead"`)))
	var why []string
	types, err := collect(f.client.Handle("a").Watch(context.Background(), WatchOptions{
		OnDisconnect: func(err error) { why = append(why, asError(err).Message) },
	}))
	expect(t, "error", err, nil)
	expect(t, "messages", types, []string{"init"})
	expect(t, "Retry-After", opened.Sub(began) >= 600*time.Millisecond, true)
	expect(t, "reasons", strings.Join(why, ", "), `text of UNAVAILABLE, status 200 with the type "application/json" is not a `+
		`stream of the service; check the URL, text of TOO_MANY_STREAMS`)
}

func TestASilentConnectionIsClosed(t *testing.T) {
	const silence = 50 * time.Millisecond
	closed := make(chan bool, 2)
	f := watching(t, holds(closed, event(-1, "init", 0, "")),
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); closed <- true })
	w := watch{client: f.client, path: "/realtime/spaces/demo", silence: silence}
	for range 2 {
		readAt := time.Now()
		err := w.read(context.Background(), func(StreamMessage, error) bool {
			time.Sleep(2 * silence) // Time spent by the caller doesn't count.
			readAt = time.Now()
			return true
		})
		expect(t, "silence", time.Since(readAt) >= silence, true)
		expect(t, "error", asError(err).Message, "nothing arrived for 50ms")
		<-closed
	}
	expect(t, "was open", w.openedAt.IsZero(), true)
}

func TestLeavingTheLoopOrCancelingTheContextClosesTheConnection(t *testing.T) {
	closed := make(chan bool, 1)
	serve := holds(closed, event(-1, "init", 0, ""), event(-1, "completed", 1, "")) // This doesn't end the stream of a space.
	f := watching(t, serve, serve)
	options := WatchOptions{Names: []string{"a b"}, Types: []wire.JobEventType{"completed"}, Tags: []string{"t"}, Counts: true}
	count := 0
	f.client.Watch(context.Background(), options)(func(StreamMessage, error) bool {
		count++
		return count < 2
	})
	<-closed
	expect(t, "query", f.callsTo("/realtime/spaces/demo")[0].query, "counts=1&name=a+b&tag=t&type=completed")

	ctx, cancel := context.WithCancel(context.Background())
	var last error
	f.client.Watch(ctx, WatchOptions{OnDisconnect: func(err error) { t.Error(err) }})(func(message StreamMessage, err error) bool {
		if message.Type == wire.JobEventTypeCompleted {
			cancel()
		}
		last = err
		return true
	})
	<-closed
	expect(t, "error", errors.Is(last, context.Canceled), true)
}
