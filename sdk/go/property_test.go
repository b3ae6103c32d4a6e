package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
func (panicking) Unwrap() error                { panic("Unwrap panics") }
func (panicking) MarshalJSON() ([]byte, error) { panic("MarshalJSON panics") }

type exiting struct{}

func (exiting) Error() string                { runtime.Goexit(); return "" }
func (exiting) MarshalJSON() ([]byte, error) { runtime.Goexit(); return nil, nil }

// rubbish encodes itself as invalid JSON, or fails with an error that panics.
type rubbish string

func (r rubbish) MarshalJSON() ([]byte, error) {
	if r == "" {
		return nil, panicking{}
	}
	return []byte(r), nil
}

// group may contain itself, and isn't comparable.
type group []error

func (group) Error() string     { return "group" }
func (g group) Unwrap() []error { return g }

type node struct {
	Next *node
	Any  any
}

// generator creates values that handlers can return.
type generator struct{ *rand.Rand }

func pick[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

func (g generator) text() string {
	return pick(g, "", "disk full", "a\r\nb\xff", strings.Repeat("\x00", 100_000), strings.Repeat("😀\xff", 50_000))
}

func (g generator) delay() time.Duration {
	return pick(g, math.MinInt64, -1, 0, 1, time.Hour, math.MaxInt64)
}

func (g generator) err(depth int) error {
	cycle := make(group, 2)
	cycle[0], cycle[1] = cycle, errors.New(g.text())
	if depth == 0 {
		return pick[error](g, (*nilError)(nil), &nilError{g.text()}, panicking{}, exiting{}, cycle, group{nil}, io.EOF,
			context.Canceled, errors.New(g.text()), Release(g.delay(), g.text()), Release(g.delay()))
	}
	inner := g.err(depth - 1)
	switch g.IntN(7) {
	case 0:
		return fmt.Errorf("%s: %w", g.text(), wrappable(inner))
	case 1:
		return errors.Join(inner, nil, g.err(depth-1))
	case 2:
		return NonRetryable(inner)
	case 3:
		return RetryAfter(inner, g.delay())
	case 4:
		return group{inner, g.err(depth - 1)}
	case 5:
		return pick[error](g, NonRetryable(nil), RetryAfter(nil, g.delay()), errors.Join(nil))
	default:
		return inner
	}
}

// wrappable replaces an error at which fmt.Errorf itself would end the goroutine.
func wrappable(err error) error {
	if err == error(exiting{}) {
		return io.EOF
	}
	return err
}

func (g generator) value(depth int) any {
	ring := &node{Any: 1}
	ring.Next = &node{Next: ring}
	cyclic := map[string]any{}
	cyclic["self"] = []any{cyclic}
	deep := pick[any](g, 1, math.NaN())
	for range pick(g, 50, 100, 9_999, 11_000) {
		deep = []any{deep}
	}
	if depth == 0 {
		return pick[any](g, nil, 7, math.NaN(), math.Inf(-1), make(chan int), func() {}, ring, cyclic, deep, panicking{}, exiting{},
			rubbish("{"), rubbish(""), rubbish("\xff"), rubbish(`"\ud800"`), json.Number("x"), json.RawMessage("{"), (*node)(nil),
			g.text(), strings.Repeat("x", 300_000), map[float64]int{1: 1}, complex(1, 1))
	}
	inner := g.value(depth - 1)
	return pick[any](g, inner, &inner, []any{1, inner}, map[string]any{g.text(): inner}, &node{Any: inner}, [1]any{inner})
}

// end is what a handler returns, with the seed of its generator.
func (g generator) end() (any, error) {
	switch g.IntN(4) {
	case 0:
		panic(pick[any](g, g.value(1), g.err(2), (*strings.Builder)(nil)))
	case 1:
		return g.value(2), nil
	case 2:
		runtime.Goexit()
	}
	return g.value(0), g.err(4)
}

// refusalOf returns the status with which the service refuses the outcome of an attempt; 0 if it accepts it.
func refusalOfEnd(o wire.Outcome) int {
	var value any
	_ = json.Unmarshal(o.Result, &value)
	isDelay := func(seconds *float64, most float64) bool { return seconds == nil || *seconds >= 0 && *seconds <= most }
	switch {
	case len(o.Result) > 262_144 || len(o.Error) > 65_536 || o.Reason != nil && len(*o.Reason) > 65_000:
		return http.StatusRequestEntityTooLarge
	case depthOf(value) > 64 || strings.Contains(string(o.Result), `\ud800`) || o.Action == "fail" && len(o.Error) == 0 ||
		!isDelay(o.RetryAfterSeconds, 604_800) || !isDelay(o.DelaySeconds, 31_622_400):
		return http.StatusBadRequest
	default:
		return 0
	}
}

func depthOf(value any) int {
	depth := 0
	for list, isList := value.([]any); isList && len(list) > 0; list, isList = list[len(list)-1].([]any) {
		depth++
	}
	return depth
}

func TestWhateverAHandlerReturnsItsJobGetsAnOutcomeAndTheWorkerContinues(t *testing.T) {
	const count = 300
	seed := rand.Uint64()
	f := newFakeService(t)
	// Like the service, it refuses a whole call with an outcome that is too large or invalid.
	f.intercept = func(w http.ResponseWriter, path, body string) bool {
		var sent struct {
			Settle, Outcomes []wire.Outcome
			wire.Outcome
		}
		if err := json.Unmarshal([]byte(body), &sent); body != "" && err != nil {
			if !strings.Contains(err.Error(), "max depth") {
				t.Errorf("seed %d: %s gets no JSON: %.200s", seed, path, body)
			}
			return refuseCall(w, 400, wire.ErrorCodeInvalidRequest)
		}
		sent.Action = path[strings.LastIndex(path, "/")+1:]
		for _, o := range append(append(sent.Settle, sent.Outcomes...), sent.Outcome) {
			if status := refusalOfEnd(o); status != 0 {
				if o.Action != "complete" {
					t.Errorf("seed %d: the service refuses the %s of %s%s", seed, o.Action, path, o.JobID)
				}
				return refuseCall(w, status, wire.ErrorCodeInvalidRequest)
			}
		}
		return false
	}
	w := f.work(WorkerOptions{Concurrency: 10}, func(_ context.Context, j *rawJob) (any, error) {
		var number uint64
		if _, err := fmt.Sscanf(j.ID, "job %d", &number); err != nil {
			return "next", nil
		}
		return generator{rand.New(rand.NewPCG(seed, number))}.end()
	})
	for i := range count {
		f.put(fmt.Sprint("job ", i))
		f.put(fmt.Sprint("next ", i))
	}
	for i := range count {
		eventually(t, fmt.Sprintf("an outcome of job %d, with seed %d", i, seed), func() bool {
			return len(f.of(fmt.Sprint("job ", i), "complete", "fail", "release")) == 1
		})
		f.await(fmt.Sprint("next ", i), "complete")
	}
	w.drained(t)
	for _, each := range w.warnings {
		expect(t, each.Message, each.Kind, WarningFailed)
	}
}
