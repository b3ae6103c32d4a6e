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

// Bodies over about 20 MB would be retried forever, because the service closes the connection in the middle of them.
const maxBytes = 16_000_000

// tooLargeError is the error for a value that is too large to send.
type tooLargeError struct {
	root string
	size int
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("The %s has %s bytes of JSON, which is too large to send. Store it elsewhere and use its URL.",
		e.root, grouped(e.size))
}

// IsTooLarge reports whether an error of Stored is about the size of the value.
func IsTooLarge(err error) bool {
	_, ok := err.(*tooLargeError)
	return ok
}

// JSON encodes a value. The error names the part that can't be encoded, such as "result.items[2].price is NaN", where
// root is the name of the value.
func JSON(value any, root string) (json.RawMessage, error) {
	body, err := marshal(value)
	if err != nil {
		return nil, errors.New(faultOf(reflect.ValueOf(value), root, err, map[pointer]bool{}, 0))
	}
	// Go writes this for invalid UTF-8, but a valid U+FFFD unescaped.
	if bytes.Contains(body, []byte(`\ufffd`)) {
		if path := invalidTextIn(reflect.ValueOf(value), root, 0); path != "" {
			return nil, errors.New(path + " is not valid UTF-8")
		}
	}
	return body, nil
}

// invalidTextIn returns the path of the first string that isn't UTF-8, or of the map that has it as a key; "" without one.
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

// Stored encodes a value as JSON that can be sent as part of a call.
func Stored(value any, root string) (json.RawMessage, error) {
	body, err := JSON(value, root)
	if err == nil && len(body) > maxBytes {
		return nil, &tooLargeError{root, len(body)}
	}
	return body, err
}

// marshal encodes a value as the service does, without \u003c for "<". Methods of the value may panic.
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

// pointer identifies a pointer on the path from the root. The type tells a struct from its first field, which has the same
// address.
type pointer struct {
	kind    reflect.Type
	address uintptr
}

// The service accepts 64 levels. Each level makes the search for a fault slower.
const maxDepth = 64

// faultOf returns the path of the first part that can't be encoded, and why. It encodes part after part until one fails:
// slow, but only done after encoding the whole has failed.
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
		if !part.CanInterface() { // JSON omits unexported fields.
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

// forEachPart calls a function with each part of a value and the path step to it, until it returns false.
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
