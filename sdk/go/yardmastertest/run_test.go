package yardmastertest_test

import (
	"context"
	"math"
	"strings"
	"testing"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/yardmastertest"
)

func TestAResultThatCannotBeStoredFailsAsInAWorker(t *testing.T) {
	for _, each := range []struct {
		result any
		want   string
	}{
		{map[string]any{"price": math.NaN()}, "InvalidResult: The result is not JSON: result.price is NaN"},
		{strings.Repeat("a", 300_010), "InvalidResult: The result has 300,012 bytes of JSON, which the service refuses: " +
			"result must be at most 262144 bytes of JSON. Store it elsewhere and return its URL."},
	} {
		handler := func(context.Context, *yardmaster.Job[any]) (any, error) { return each.result, nil }
		run := yardmastertest.Run(context.Background(), handler, any(nil), yardmastertest.Options{})
		if run.Status != yardmastertest.Dead || run.Result != nil || run.Err == nil || run.Err.Error() != each.want {
			t.Fatalf("got %s, %v", run.Status, run.Err)
		}
	}
	handler := func(context.Context, *yardmaster.Job[any]) (any, error) { return strings.Repeat("a", 262_142), nil }
	run := yardmastertest.Run(context.Background(), handler, any(nil), yardmastertest.Options{})
	if run.Status != yardmastertest.Completed {
		t.Fatal(run.Err)
	}
}
