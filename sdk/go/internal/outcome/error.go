package outcome

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Limits of an error. The service accepts 64 KB of JSON, but lists and dashboards show many errors.
const (
	maxErrorBytes = 32_768
	// Maximum length of a message and half that of a stack, in characters. Halved until the error fits.
	maxCharacters = 8_192
	minCharacters = 64
	maxName       = 200
	maxErrors     = 10
	maxLevels     = 5
	// Maximum number of wrapped errors to search for a NonRetryable, RetryAfter or Released. It ends the search in a cycle.
	maxWrapped = 1_000
)

const (
	unreadable = "The error cannot be read"
	nilPointer = "The error is a nil pointer"
	// plainName is the name of an error whose type says nothing.
	plainName = "Error"
)

// Error is the stored error of an attempt.
type Error struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	// Stack has the frames of a panic, innermost first.
	Stack  string   `json:"stack,omitempty"`
	Causes []*Error `json:"causes,omitempty"`
}

// json returns the error as JSON of at most 32 KB.
func (e *Error) json() json.RawMessage {
	for limit := maxCharacters; ; limit /= 2 {
		body, _ := marshal(e.cut(limit)) // Strings can always be encoded.
		if len(body) <= maxErrorBytes || limit <= minCharacters {
			return body
		}
	}
}

func (e *Error) cut(limit int) *Error {
	short := &Error{Name: cut(e.Name, maxName), Message: cut(e.Message, limit), Stack: cut(e.Stack, 2*limit)}
	for _, cause := range e.Causes {
		short.Causes = append(short.Causes, cause.cut(limit))
	}
	return short
}

// cut shortens a text to a number of characters and makes it valid UTF-8.
func cut(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	count, end := 0, 0
	for i := range text {
		if count == limit-2 {
			end = i
		}
		if count == limit {
			return text[:end] + " …"
		}
		count++
	}
	return text
}

// errorIn decodes an error that this package has encoded.
func errorIn(stored json.RawMessage) *Error {
	e := &Error{}
	_ = json.Unmarshal(stored, e)
	return e
}

// Trace returns the error of an outcome with its stack and causes, for people.
func Trace(stored json.RawMessage) string { return errorIn(stored).trace() }

func (e *Error) trace() string {
	lines := []string{strings.TrimSuffix(e.Name+": "+e.Message, ": ")}
	if e.Stack != "" {
		lines = append(lines, e.Stack)
	}
	for _, cause := range e.Causes {
		lines = append(lines, "cause: "+cause.trace())
	}
	return strings.Join(lines, "\n")
}

// describe returns an error and what it wraps, without NonRetryable and RetryAfter.
func describe(err error) *Error {
	err = withoutControl(err)
	d := &describer{seen: map[error]bool{}}
	d.isNew(err)
	return d.describe(err, textOf(err), 1)
}

// describer lists each error once.
type describer struct {
	seen  map[error]bool
	count int
}

func (d *describer) isNew(err error) bool {
	if !reflect.ValueOf(err).Comparable() { // The limits end a cycle of such errors.
		return true
	}
	isNew := !d.seen[err]
	d.seen[err] = true
	return isNew
}

func (d *describer) describe(err error, text string, level int) *Error {
	d.count++
	described := &Error{Name: nameOf(err), Message: text}
	if panicked, ok := err.(*Panic); ok {
		described.Stack = panicked.stack
	}
	if level < maxLevels {
		described.Causes = d.causesOf(err, text, level+1)
	}
	return described
}

// causesOf returns the errors that an error wraps. An error that adds neither a text nor a type is replaced by what it
// wraps, and so is the value of a panic, which already describes the panic.
func (d *describer) causesOf(err error, outer string, level int) (causes []*Error) {
	wrapped, isGroup := unwrap(err)
	_, isPanic := err.(*Panic)
	for _, each := range wrapped {
		each = withoutControl(each)
		if each == nil || d.count >= maxErrors || !d.isNew(each) {
			continue
		}
		text := textOf(each)
		if !isPanic && (isGroup || nameOf(each) != plainName || !strings.Contains(outer, text)) {
			causes = append(causes, d.describe(each, text, level))
		} else {
			causes = append(causes, d.causesOf(each, outer, level)...)
		}
	}
	return causes
}

// nameOf returns the type of an error. For a panic, it is the type of the value if that is an error with a meaningful type.
func nameOf(err error) string {
	if panicked, ok := err.(*Panic); ok {
		if name := nameOf(withoutControl(panicked.Unwrap())); name != plainName && name != "<nil>" {
			return name
		}
		return "panic"
	}
	switch name := strings.TrimLeft(fmt.Sprintf("%T", err), "*"); name {
	case "errors.errorString", "errors.joinError", "fmt.wrapError", "fmt.wrapErrors":
		return plainName
	default:
		return name
	}
}

// textOf calls a user's method, which may panic, for example for a nil pointer.
func textOf(err error) (text string) {
	defer func() {
		if recover() == nil {
			return
		}
		text = unreadable
		if value := reflect.ValueOf(err); value.Kind() == reflect.Pointer && value.IsNil() {
			text = nilPointer // A nil pointer in a non-nil error.
		}
	}()
	return err.Error()
}

// unwrap returns what an error wraps, and whether it is a group. It calls a user's method.
func unwrap(err error) (wrapped []error, isGroup bool) {
	defer func() { _ = recover() }() // After a panic, it wraps nothing.
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return []error{err.Unwrap()}, false
	case interface{ Unwrap() []error }:
		return err.Unwrap(), true
	}
	return nil, false
}

// wrappedIn returns an error and everything it wraps, outermost first.
func wrappedIn(err error) []error {
	all := []error{err}
	for i := 0; i < len(all) && i < maxWrapped; i++ {
		wrapped, _ := unwrap(all[i])
		for _, each := range wrapped {
			if each != nil {
				all = append(all, each)
			}
		}
	}
	return all
}

// withoutControl returns the error inside NonRetryable and RetryAfter.
func withoutControl(err error) error {
	for {
		switch outer := err.(type) {
		case *NonRetryable:
			err = outer.Err
		case *RetryAfter:
			err = outer.Err
		default:
			return err
		}
	}
}
