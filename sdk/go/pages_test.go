package yardmaster_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var program = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// ofReader has the declarations that partial programs on the pages leave to the reader.
const ofReader = `
type (
	Scene    struct{}
	Rendered struct{ URL string }
	Resize   struct{ Image string }
	Resized  struct{ Bytes int }
	Import   struct{ Pages int }
	Imported struct{ Page int }
	Order    struct{ Order int }
	Receipt  struct{}
)

var bucket interface {
	Upload(ctx context.Context, key string, image []byte) error
}

func render(Scene) []byte { return nil }

func resize(context.Context, io.Reader) (Resized, error) { return Resized{}, nil }

func fetchPage(context.Context, int) error { return nil }

func charge(context.Context, Order) (Receipt, error) { return Receipt{}, nil }

var ErrNotFound, ErrRateLimited = errors.New("not found"), errors.New("rate limited")

var _, _, _, _, _, _, _ = errors.As, fmt.Println, io.EOF, log.Print, http.Get, time.Second, wire.JobStatusDead
`

func TestEveryProgramOfThePagesPassesVet(t *testing.T) {
	sdk, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob("../../docs/*.md")
	folder := t.TempDir()
	count := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range program.FindAllStringSubmatch(string(text), -1) {
			count++
			source := found[1]
			if !strings.HasPrefix(source, "package ") {
				source = partOf(source)
			}
			into := filepath.Join(folder, fmt.Sprintf("p%d", count))
			write(t, filepath.Join(into, strings.TrimSuffix(filepath.Base(page), ".md")+".go"), source)
		}
	}
	if count < 6 {
		t.Fatalf("the pages have only %d programs", count)
	}
	const module = "github.com/yardmaster/yardmaster/sdk/go"
	write(t, filepath.Join(folder, "go.mod"),
		"module pages\ngo 1.23\nrequire "+module+" v0.0.0\nreplace "+module+" => "+sdk+"\n")
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = folder
	if output, err := vet.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// partOf completes a part of a program.
func partOf(source string) string {
	const imports = "package main\n\nimport (\n\t\"context\"\n\t\"errors\"\n\t\"fmt\"\n\t\"io\"\n\t\"log\"\n" +
		"\t\"net/http\"\n\t\"time\"\n" +
		"\tyardmaster \"github.com/yardmaster/yardmaster/sdk/go\"\n" +
		"\t\"github.com/yardmaster/yardmaster/sdk/go/wire\"\n)\n"
	const head = "\nfunc part(ctx context.Context, client *yardmaster.Client, worker *yardmaster.Worker,\n" +
		"\tjob *yardmaster.Handle) error {\n"
	return imports + ofReader + head + source + "return nil\n}\n\nfunc main() { _ = part(nil, nil, nil, nil) }\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
