// Archive a folder as tar.gz and print its SHA-256: archive <folder> <archive.tar.gz>
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run creates a job and runs it until it ends.
func run(arguments []string) error {
	if len(arguments) != 2 {
		return errors.New("usage: go -C examples/archive run . <folder> <archive.tar.gz>")
	}
	key := os.Getenv("YARDMASTER_API_KEY")
	if key == "" {
		// The working directory is examples/archive; npm start keeps its key in the root of the repository.
		kept, err := os.ReadFile("../../.data/admin-key")
		if err != nil {
			return fmt.Errorf("no API key: start the service with npm start, or set YARDMASTER_API_KEY (%w)", err)
		}
		key = strings.TrimSpace(string(kept))
	}
	space := cmp.Or(os.Getenv("YARDMASTER_SPACE"), "archive")
	// A short retry window, so that a run without a service fails quickly.
	client, err := yardmaster.NewClient(yardmaster.ClientOptions{APIKey: key, Space: space, RetryWindow: 10 * time.Second})
	if err != nil {
		return err
	}
	worker := yardmaster.NewWorker(client, yardmaster.WorkerOptions{Drain: 2 * time.Second})
	yardmaster.On(worker, "archive", archive)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	job, err := client.Create(ctx, "archive", Paths{Folder: arguments[0], Archive: arguments[1]}, &yardmaster.CreateOptions{
		// Running the same command again picks up the job of a stopped run.
		Unique:  &wire.UniqueRequest{Key: fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(arguments, "\x00"))))},
		Timeout: 10 * time.Second, // Without heartbeats, the job of a killed run is retried after this time.
		Retry:   &yardmaster.Retry{Delay: 2 * time.Second},
	})
	var refusal *yardmaster.Error
	if errors.As(err, &refusal) && refusal.Code == yardmaster.CodeNoResponse {
		return fmt.Errorf("%w; start the service with npm start, or set YARDMASTER_URL", err)
	}
	if err != nil {
		return err
	}
	var made Archive
	ended := make(chan error, 1)
	go func() {
		ended <- job.Result(ctx, &made)
		cancel() // The worker drains, and Run returns.
	}()
	if err := worker.Run(ctx); err != nil {
		return err
	}
	cancel() // After Ctrl-C, the job may not have ended.
	if err := <-ended; errors.Is(err, context.Canceled) {
		return errors.New("stopped; the same command continues with the job")
	} else if err != nil {
		return err
	}
	fmt.Printf("%s  %s\n", made.SHA256, made.Path)
	return nil
}
