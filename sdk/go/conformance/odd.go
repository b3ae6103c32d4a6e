package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
)

// fault is like many error types: its Error method panics for a nil pointer.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

type panics struct{}

func (panics) Error() string                { panic("Error panics") }
func (panics) MarshalJSON() ([]byte, error) { panic("MarshalJSON panics") }

type node struct{ Self *node }

var long = strings.Repeat("é\n", 100_000)

// odd makes a handler's mistake. It returns what the handler returns, and whether that ends it.
func odd(j *job, what string) (result any, ends bool, err error) {
	switch what {
	case "resultNaN":
		return map[string]any{"n": math.NaN()}, true, nil
	case "resultCycle":
		cycle := &node{}
		cycle.Self = cycle
		return cycle, true, nil
	case "resultLarge":
		return strings.Repeat("x", 300_000), true, nil
	case "resultHuge":
		return strings.Repeat("x", 17_000_000), true, nil
	case "resultDeep":
		var deep any = 1
		for range 100 {
			deep = []any{deep}
		}
		return deep, true, nil
	case "resultRaises":
		return panics{}, true, nil
	case "errorLong":
		return nil, true, errors.New(long)
	case "errorCause":
		return nil, true, fmt.Errorf("outer: %w", errors.New("connection refused"))
	case "errorGroup":
		return nil, true, errors.Join(errors.New("one"), errors.New("two"))
	case "errorOdd":
		return nil, true, panics{}
	case "errorEmpty":
		var none *fault
		return nil, true, none
	case "releaseLong":
		return nil, true, yardmaster.Release(0, long)
	case "saveNaN":
		return nil, false, j.Save(map[string]any{"n": math.NaN()})
	case "eventNaN":
		return nil, false, j.Event(map[string]any{"n": math.NaN()})
	default:
		return nil, true, yardmaster.NonRetryable(errors.New("unknown mistake: " + what))
	}
}
