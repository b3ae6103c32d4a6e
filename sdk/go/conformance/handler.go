package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// step has one field set, which says what the handler does.
type step struct {
	Return       json.RawMessage `json:"return"`
	Throw        *string         `json:"throw"`
	NonRetryable *string         `json:"nonRetryable"`
	RetryAfter   *struct {
		Seconds float64 `json:"seconds"`
		Message string  `json:"message"`
	} `json:"retryAfter"`
	Release *struct {
		DelaySeconds float64 `json:"delaySeconds"`
		Reason       string  `json:"reason"`
	} `json:"release"`
	SleepMs    int             `json:"sleepMs"`
	BlockMs    int             `json:"blockMs"`
	AwaitAbort bool            `json:"awaitAbort"`
	Progress   *wire.Progress  `json:"progress"`
	Save       json.RawMessage `json:"save"`
	Event      json.RawMessage `json:"event"`
	Ephemeral  json.RawMessage `json:"ephemeral"`
	Log        *struct {
		Level    string         `json:"level"`
		Message  string         `json:"message"`
		Metadata map[string]any `json:"metadata"`
	} `json:"log"`
	Logs int    `json:"logs"`
	Odd  string `json:"odd"`
}

// attempts has the steps for each run of a handler; the last list repeats.
type attempts struct {
	mu    sync.Mutex
	steps [][]step
}

func (a *attempts) UnmarshalJSON(text []byte) error {
	var several struct {
		Attempts [][]step `json:"attempts"`
	}
	if json.Unmarshal(text, &several) == nil {
		a.steps = several.Attempts
		return nil
	}
	a.steps = make([][]step, 1)
	return json.Unmarshal(text, &a.steps[0])
}

func (a *attempts) next() []step {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := a.steps[0]
	if len(a.steps) > 1 {
		a.steps = a.steps[1:]
	}
	return first
}

type job = yardmaster.Job[json.RawMessage]

var reasons = map[error]string{
	yardmaster.ErrKilled: "Killed", yardmaster.ErrDeliveryLost: "DeliveryLost",
	yardmaster.ErrTimedOut: "TimedOut", yardmaster.ErrDraining: "Draining",
}

func handlerOf(runs *attempts) yardmaster.Handler[json.RawMessage, any] {
	return func(ctx context.Context, j *job) (any, error) {
		printEvent("handler", object{
			"jobId": j.ID, "name": j.Name, "attempt": j.Attempt, "payload": j.Payload, "checkpoint": j.Checkpoint,
		})
		// A handler that waits for ctx may return before the function that AfterFunc calls.
		printAborted := sync.OnceFunc(func() {
			printEvent("aborted", object{"jobId": j.ID, "reason": reasons[context.Cause(ctx)]})
		})
		stop := context.AfterFunc(ctx, printAborted)
		defer func() {
			if !stop() || ctx.Err() != nil {
				printAborted()
			}
			printEvent("handlerEnded", object{"jobId": j.ID})
		}()
		for _, each := range runs.next() {
			if result, ends, err := each.do(ctx, j); ends || err != nil {
				return result, err
			}
		}
		return nil, nil
	}
}

// do runs a step. ends reports whether it ends the handler.
func (s step) do(ctx context.Context, j *job) (result any, ends bool, err error) {
	switch {
	case s.Return != nil:
		return s.Return, true, nil
	case s.Throw != nil:
		return nil, true, errors.New(*s.Throw)
	case s.NonRetryable != nil:
		return nil, true, yardmaster.NonRetryable(errors.New(*s.NonRetryable))
	case s.RetryAfter != nil:
		return nil, true, yardmaster.RetryAfter(errors.New(s.RetryAfter.Message), seconds(s.RetryAfter.Seconds))
	case s.Release != nil:
		return nil, true, yardmaster.Release(seconds(s.Release.DelaySeconds), s.Release.Reason)
	case s.Odd != "":
		return odd(j, s.Odd)
	case s.AwaitAbort:
		<-ctx.Done()
	case s.Progress != nil:
		var stages []yardmaster.Stage
		for name, stage := range s.Progress.SubProgress {
			each := yardmaster.Stage{Name: name, Percent: stage.Percent}
			if stage.Message != nil {
				each.Message = *stage.Message
			}
			stages = append(stages, each)
		}
		return nil, false, j.Progress(s.Progress.Percent, s.Progress.Message, stages...)
	case s.Save != nil:
		return nil, false, j.Save(s.Save)
	case s.Event != nil:
		return nil, false, j.Event(s.Event)
	case s.Ephemeral != nil:
		return nil, false, j.EphemeralEvent(s.Ephemeral)
	case s.Log != nil:
		var level slog.Level
		if err := level.UnmarshalText([]byte(strings.ToUpper(s.Log.Level))); err != nil {
			return nil, true, err
		}
		var fields []any
		for name, value := range s.Log.Metadata {
			fields = append(fields, name, value)
		}
		j.Log.Log(ctx, level, s.Log.Message, fields...)
	default:
		for i := range s.Logs {
			j.Log.Info(fmt.Sprintf("line %d", i+1))
		}
		time.Sleep(time.Duration(s.SleepMs+s.BlockMs) * time.Millisecond) // Like a call that ignores the context.
	}
	return nil, false, nil
}
