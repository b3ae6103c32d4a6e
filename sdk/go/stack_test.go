package yardmaster_test

import (
	"context"
	"regexp"
	"testing"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
)

func indexOf(list []int) int { return list[len(list)] }

func TestTheStackOfAPanicHasOnlyFramesOfTheHandler(t *testing.T) {
	handler := func(context.Context, *yardmaster.Job[any]) (any, error) { return indexOf(nil), nil }
	failed := outcome.Of(outcome.Isolated(func() (any, error) {
		return yardmaster.Call(context.Background(), handler, yardmaster.Job[any]{}, nil)
	}))
	// The handler's frames are those of this file.
	trace := regexp.MustCompile(`^runtime\.boundsError: .*\n    at \S+indexOf \(\S+/stack_test\.go:\d+\)\n(    at \S+ \(\S+/stack_test\.go:\d+\)\n?)+$`)
	if text := outcome.Trace(failed.Error); !trace.MatchString(text) {
		t.Fatal(text)
	}
}
