package outcome

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The service closes the connection in the middle of a body above some 20 MB, so the call would be sent again forever.
const maxBytes = 16_000_000

// tooLargeError is the error of a value that cannot be sent.
type tooLargeError struct {
	root string
	size int
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("The %s has %s bytes of JSON, which is too large to send. Store it elsewhere and use its URL.",
		e.root, grouped(e.size))
}

// IsTooLarge reports whether the error of Stored is about the size of the value.
func IsTooLarge(err error) bool {
	_, ok := err.(*tooLargeError)
	return ok
}

// JSON returns a value as JSON. The error says which part of the value is none, as in "result.items[2].price is NaN".
// The root is the name of the value there.
func JSON(value any, root string) (json.RawMessage, error) {
	body, err := marshal(value)
	if err != nil {
		return nil, errors.New(faultOf(reflect.ValueOf(value), root, err, map[pointer]bool{}, 0))
	}
	// Go writes this for what is not UTF-8, and a valid U+FFFD as it is.
	if bytes.Contains(body, []byte(`\ufffd`)) {
		if path := invalidTextIn(reflect.ValueOf(value), root, 0); path != "" {
			return nil, errors.New(path + " is not valid UTF-8")
		}
	}
	return body, nil
}

// invalidTextIn returns the path of the first text that is not UTF-8, or of the map that has it as a key; "" without one.
func invalidTextIn(value reflect.Value, path string, depth int) string {
	texts := []reflect.Value{value}
	if value.Kind() == reflect.Map {
		texts = value.MapKeys()
	}
	for _, text := range texts {
		if text.Kind() == reflect.String && !utf8.ValidString(text.String()) {
			return path
		}
	}
	found := ""
	forEachPart(value, func(step string, part reflect.Value) bool {
		if depth < maxDepth && part.CanInterface() {
			found = invalidTextIn(part, path+step, depth+1)
		}
		return found == ""
	})
	return found
}

// Stored returns a value as JSON that can be sent as part of a call.
func Stored(value any, root string) (json.RawMessage, error) {
	body, err := JSON(value, root)
	if err == nil && len(body) > maxBytes {
		return nil, &tooLargeError{root, len(body)}
	}
	return body, err
}

// marshal encodes a value as the service does, without \u003c for "<". The value may have methods that panic.
func marshal(value any) (body json.RawMessage, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = &Panic{value: panicked}
		}
	}()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// pointer is one on the path from the root. A pointer to a struct and one to its first field have the same address.
type pointer struct {
	kind    reflect.Type
	address uintptr
}

// The service takes 64 levels. Each further one would make the search for a fault slower than the one above it.
const maxDepth = 64

// faultOf returns the path of the first part that cannot be encoded, and why. It encodes parts until one fails, which is
// slow, but happens only after the whole has failed.
func faultOf(value reflect.Value, path string, err error, above map[pointer]bool, depth int) string {
	if depth > maxDepth {
		return path + " contains a value that " + reasonOf(err)
	}
	found := ""
	if at, ok := pointerOf(value); ok {
		if above[at] {
			return path + " contains itself"
		}
		above[at] = true
		defer delete(above, at)
	}
	forEachPart(value, func(step string, part reflect.Value) bool {
		if !part.CanInterface() { // JSON leaves private fields out.
			return true
		}
		if _, fault := marshal(part.Interface()); fault != nil {
			found = faultOf(part, path+step, fault, above, depth+1)
		}
		return found == ""
	})
	if found == "" {
		found = path + " " + reasonOf(err)
	}
	return found
}

func pointerOf(value reflect.Value) (pointer, bool) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return pointer{value.Type(), value.Pointer()}, !value.IsNil()
	default:
		return pointer{}, false
	}
}

func reasonOf(err error) string {
	switch err := err.(type) {
	case *json.UnsupportedValueError:
		return "is " + err.Str
	case *json.UnsupportedTypeError:
		return "has the type " + err.Type.String()
	case *json.MarshalerError:
		return "cannot be encoded: " + textOf(err.Err)
	case *Panic:
		return "cannot be encoded: panic: " + textOf(err)
	default:
		return "cannot be encoded: " + textOf(err)
	}
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	identifier    = regexp.MustCompile(`^\w+$`)
)

// forEachPart calls a function with the parts of a value and the steps to them, until it returns false.
func forEachPart(value reflect.Value, visit func(step string, part reflect.Value) bool) {
	if !value.IsValid() || value.Type().Implements(marshaler) || value.Type().Implements(textMarshaler) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			visit("", value.Elem())
		}
	case reflect.Map:
		for each := value.MapRange(); each.Next(); {
			if !visit(stepTo(fmt.Sprint(each.Key())), each.Value()) {
				return
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			if !visit(fmt.Sprintf("[%d]", i), value.Index(i)) {
				return
			}
		}
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			step := ""
			if name != "" {
				step = stepTo(name)
			} else if !field.Anonymous {
				step = stepTo(field.Name)
			}
			if field.Tag.Get("json") != "-" && !visit(step, value.Field(i)) {
				return
			}
		}
	}
}

func stepTo(name string) string {
	if identifier.MatchString(name) {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}
