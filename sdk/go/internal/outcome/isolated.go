package outcome

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// Panic is the error of a function that panicked.
type Panic struct {
	value any
	// stack has the frames of the handler, innermost first.
	stack string
}

// Error returns the text of the value. A composite value is shown as JSON, which is finite even if it contains itself.
func (e *Panic) Error() string {
	switch value := e.value.(type) {
	case error:
		return textOf(value)
	case fmt.Stringer:
		return fmt.Sprint(value)
	}
	if kind := reflect.ValueOf(e.value).Kind(); kind <= reflect.Complex128 || kind == reflect.String {
		return fmt.Sprint(e.value)
	}
	if body, err := marshal(e.value); err == nil {
		return string(body)
	}
	return fmt.Sprintf("%T", e.value)
}

// Unwrap returns the value if it is an error.
func (e *Panic) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// Isolated calls a function in a new goroutine, so that neither a panic nor [runtime.Goexit] ends the worker.
func Isolated[R any](call func() (R, error)) (result R, err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		returned := false
		defer func() {
			if value := recover(); value != nil {
				err = &Panic{value: value, stack: stackOfPanic()}
			} else if !returned {
				err = errors.New("the handler ended its goroutine without a result")
			}
		}()
		result, err = call()
		returned = true
	}()
	<-ended
	return result, err
}

const (
	maxFrames = 100
	module    = "github.com/yardmaster/yardmaster/sdk/go"
)

// stackOfPanic returns the stack of the goroutine without the frames of this module and of the runtime.
func stackOfPanic() string {
	counters := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters)])
	var lines []string
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if !isInner(frame.Function) {
			lines = append(lines, fmt.Sprintf("    at %s (%s:%d)", frame.Function, frame.File, frame.Line))
		}
	}
	return strings.Join(lines, "\n")
}

func isInner(function string) bool {
	for _, prefix := range []string{"runtime.", "runtime/", module + ".", module + "/internal/"} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return function == ""
}
