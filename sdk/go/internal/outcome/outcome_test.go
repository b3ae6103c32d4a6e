package outcome

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// fault is like most error types: Error panics for a nil pointer.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

type panics struct{}

func (panics) Error() string { panic("Error panics") }
func (panics) Unwrap() error { panic("Unwrap panics") }

// group isn't comparable, and may contain itself.
type group struct{ members []error }

func (g group) Error() string   { return "group" }
func (g group) Unwrap() []error { return g.members }

type result struct{ at *time.Time }

func (r result) MarshalJSON() ([]byte, error) { return r.at.MarshalJSON() } // Panics for a nil pointer.

func cyclicMap() map[string]any {
	m := map[string]any{}
	m["self"] = m
	return m
}

func jsonOf(t *testing.T, err error) string {
	t.Helper()
	return string(describe(err).json())
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func TestAStoredErrorHasItsTypeMessageAndCauses(t *testing.T) {
	typed := &fault{"connection refused"}
	for _, each := range []struct {
		err  error
		want string
	}{
		{errors.New("disk full"), `{"name":"Error","message":"disk full"}`},
		{fmt.Errorf("a: %w", fmt.Errorf("b: %w", io.EOF)), `{"name":"Error","message":"a: b: EOF"}`},
		{fmt.Errorf("a: %w", fmt.Errorf("b: %w", typed)), `{"name":"Error","message":"a: b: connection refused",` +
			`"causes":[{"name":"outcome.fault","message":"connection refused"}]}`},
		{errors.Join(io.EOF, typed), `{"name":"Error","message":"EOF\nconnection refused","causes":[` +
			`{"name":"Error","message":"EOF"},{"name":"outcome.fault","message":"connection refused"}]}`},
		{&NonRetryable{&RetryAfter{Err: typed}}, `{"name":"outcome.fault","message":"connection refused"}`},
		{errors.Join(&NonRetryable{io.EOF}, io.EOF), `{"name":"Error","message":"EOF\nEOF","causes":[{"name":"Error","message":"EOF"}]}`},
		{(*fault)(nil), `{"name":"outcome.fault","message":"The error is a nil pointer"}`},
		{panics{}, `{"name":"outcome.panics","message":"The error cannot be read"}`},
		{&Panic{value: "a < b"}, `{"name":"panic","message":"a < b"}`},
		{&Panic{value: typed, stack: "    at main"}, `{"name":"outcome.fault","message":"connection refused","stack":"    at main"}`},
		{&Panic{value: cyclicMap()}, `{"name":"panic","message":"map[string]interface {}"}`},
		{&Panic{value: []int{1}}, `{"name":"panic","message":"[1]"}`},
		{errors.New("\xff"), `{"name":"Error","message":"` + "\uFFFD" + `"}`},
	} {
		expect(t, fmt.Sprintf("%T", each.err), jsonOf(t, each.err), each.want)
	}
}

func TestAnErrorThatWrapsItselfIsListedOnce(t *testing.T) {
	cycle := &wrapper{text: "cycle"}
	cycle.inner = fmt.Errorf("inner: %w", cycle)
	expect(t, "cycle", jsonOf(t, cycle),
		`{"name":"outcome.wrapper","message":"cycle","causes":[{"name":"Error","message":"inner: cycle"}]}`)
	members := make([]error, 3)
	for i := range members {
		members[i] = group{members}
	}
	expect(t, "errors", strings.Count(jsonOf(t, group{members}), `"name"`), maxErrors)
	if o := Of(nil, cycle); o.Action != Fail {
		t.Fatal(o)
	}
}

type wrapper struct {
	text  string
	inner error
}

func (w *wrapper) Error() string { return w.text }
func (w *wrapper) Unwrap() error { return w.inner }

func TestCausesAreLimitedToTenErrorsOnFiveLevels(t *testing.T) {
	var chain error = &fault{"0"}
	var many []error
	for i := range 20 {
		chain = &wrapper{text: fmt.Sprint("level ", i), inner: chain}
		many = append(many, fmt.Errorf("member %d", i))
	}
	expect(t, "levels", strings.Count(jsonOf(t, chain), `"name"`), maxLevels)
	expect(t, "errors", strings.Count(jsonOf(t, errors.Join(many...)), `"name"`), maxErrors)
}

func TestALargeErrorIsCutUntilItFits(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 100_000), strings.Repeat("\u0001", 100_000), strings.Repeat("😀", 50_000)} {
		members := []error{errors.New(text)}
		for range 12 {
			members = append(members, &fault{text})
		}
		body := describe(&Panic{value: errors.Join(members...), stack: text}).json()
		expect(t, "fits", len(body) <= maxErrorBytes, true)
		expect(t, "is valid", utf8.Valid(body), true)
		stored := errorIn(body)
		expect(t, "causes", len(stored.Causes) > 5, true)
		for _, each := range append(stored.Causes, stored) {
			expect(t, "end", strings.HasSuffix(each.Message, " …"), true)
		}
		expect(t, "stack is longer", len(stored.Stack) > len(stored.Message), true)
	}
	alone := errorIn(describe(errors.New(strings.Repeat("a", 100_000))).json())
	expect(t, "characters", utf8.RuneCountInString(alone.Message), maxCharacters)
}

func TestAValueThatIsNotJSONIsNamedByItsPath(t *testing.T) {
	type item struct {
		Price float64 `json:"price"`
	}
	type order struct {
		Items  []item `json:"items"`
		hidden chan int
		Any    any
	}
	type node struct{ Next *node }
	ring := &node{&node{}}
	ring.Next.Next = ring
	deep := any(math.NaN())
	for range 2_000 {
		deep = []any{deep}
	}
	for _, each := range []struct {
		value any
		want  string
	}{
		{order{Items: []item{{1}, {2}, {math.NaN()}}, hidden: make(chan int)}, "result.items[2].price is NaN"},
		{map[string]any{"a b": []any{1, "caf\xe9"}}, `result["a b"][1] is not valid UTF-8`},
		{map[string]any{"caf\xe9": 1}, "result is not valid UTF-8"},
		{&order{Any: map[string]any{"a b": math.Inf(-1)}}, `result.Any["a b"] is -Inf`},
		{make(chan int), "result has the type chan int"},
		{map[string]any{"f": func() {}}, "result.f has the type func()"},
		{ring, "result.Next.Next contains itself"},
		{deep, "result" + strings.Repeat("[0]", 33) + " contains a value that is NaN"},
		{cyclicMap(), "result.self contains itself"},
		{[]any{json.RawMessage(`{`)}, "result[0] cannot be encoded: unexpected end of JSON input"},
		{[]any{json.RawMessage(`{}`), result{}}, "result[1] cannot be encoded: panic: runtime error: invalid memory address or nil pointer dereference"},
	} {
		_, err := JSON(each.value, "result")
		if err == nil {
			t.Fatalf("%v is JSON", each.want)
		}
		expect(t, "fault", err, each.want)
		failed := Of(each.value, nil)
		expect(t, "retryable", *failed.Retryable, false)
		expect(t, "unexpected", IsUnexpected(failed), true)
		expect(t, "error", *errorIn(failed.Error), Error{Name: "InvalidResult", Message: "The result is not JSON: " + each.want})
	}
	body, err := JSON(map[string]any{"text": "a<b", "raw": json.RawMessage(` [ 1 ] `)}, "result")
	expect(t, "body", fmt.Sprint(string(body), err), `{"raw":[1],"text":"a<b"}<nil>`)
}

func TestARefusedOutcomeIsReplacedByOneThatTheServiceAccepts(t *testing.T) {
	token := "token"
	complete := wire.Outcome{JobID: "a", DeliveryToken: &token, Action: Complete, Result: make([]byte, 300_012)}
	failed, _ := InsteadOf(complete, 413, "result must be at most 262144 bytes of JSON")
	expect(t, "job", failed.JobID+*failed.DeliveryToken, "atoken")
	expect(t, "too large", errorIn(failed.Error).Message, "The result has 300,012 bytes of JSON, which the service refuses: "+
		"result must be at most 262144 bytes of JSON. Store it elsewhere and return its URL.")
	expect(t, "is retryable", *failed.Retryable, false)

	again, _ := InsteadOf(Of(nil, &RetryAfter{&fault{"x"}, time.Second}), 400, "error is invalid")
	expect(t, "error", *errorIn(again.Error),
		Error{Name: "outcome.fault", Message: "The service refused the error of this attempt: error is invalid"})
	expect(t, "delay", *again.RetryAfterSeconds, 1)

	released, _ := InsteadOf(OfRelease(time.Minute, "not yet"), 400, "delaySeconds is invalid")
	expect(t, "release", reflect.DeepEqual(released, wire.Outcome{Action: Release}), true)
	if _, ok := InsteadOf(wire.Outcome{Action: Progress}, 400, ""); ok {
		t.Fatal("a progress report is replaced")
	}
}

func TestAReasonIsCutToValidUTF8(t *testing.T) {
	reason := *OfRelease(0, strings.Repeat("é\xff", 2_000)).Reason
	expect(t, "characters", utf8.RuneCountInString(reason), maxReason)
	expect(t, "is valid", utf8.ValidString(reason), true)
}

func TestAResultThatCannotBeSentIsNotRetryable(t *testing.T) {
	failed := Of(strings.Repeat("x", maxBytes), nil)
	const want = "The result has 16,000,002 bytes of JSON, which is too large to send. Store it elsewhere and use its URL."
	if failed.Retryable == nil || errorIn(failed.Error).Message != want {
		t.Errorf("%s", failed.Error)
	}
}
