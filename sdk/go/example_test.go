package yardmaster_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
	"github.com/yardmaster/yardmaster/sdk/go/yardmastertest"
)

type Resize struct {
	Image string `json:"image"`
	Pages int    `json:"pages"`
}

type Resized struct {
	Bytes int `json:"bytes"`
}

// A worker runs until SIGTERM or SIGINT.
func ExampleWorker() {
	client, err := yardmaster.NewClient(yardmaster.ClientOptions{Space: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	worker := yardmaster.NewWorker(client, yardmaster.WorkerOptions{Concurrency: 20})
	yardmaster.On(worker, "resize", func(ctx context.Context, job *yardmaster.Job[Resize]) (Resized, error) {
		job.Log.Info("resizing", "image", job.Payload.Image)
		return Resized{Bytes: 7}, job.Progress(100, "Done")
	})
	if err := worker.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// A producer creates a job and waits up to a minute for its result.
func ExampleClient_Create() {
	client, err := yardmaster.NewClient(yardmaster.ClientOptions{Space: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	job, err := client.Create(ctx, "resize", Resize{Image: "cat.png"}, &yardmaster.CreateOptions{
		Unique: &wire.UniqueRequest{Key: "cat.png"},
		Delay:  5 * time.Minute,
		Retry:  &yardmaster.Retry{Delay: 5 * time.Second, Factor: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	var resized Resized
	err = job.Result(ctx, &resized)
	var refusal *yardmaster.Error
	if errors.As(err, &refusal) && refusal.Code == yardmaster.CodeJobDead {
		log.Fatalf("the job failed: %s", refusal.JobError)
	}
}

// A handler continues at the page where the previous attempt stopped.
func ExampleJob_Save() {
	type state struct{ Page int }
	resize := func(ctx context.Context, job *yardmaster.Job[Resize]) (string, error) {
		var at state
		if _, err := job.LoadCheckpoint(&at); err != nil {
			return "", err
		}
		done := 0
		for ; at.Page < job.Payload.Pages; at.Page++ {
			if ctx.Err() != nil { // The job was killed, or the worker is stopping.
				return "", context.Cause(ctx)
			}
			done++
			if err := job.Save(state{Page: at.Page + 1}); err != nil {
				return "", err
			}
		}
		return fmt.Sprint(done, " pages"), nil
	}
	run := yardmastertest.Run(context.Background(), resize, Resize{Pages: 10},
		yardmastertest.Options{Checkpoint: state{Page: 8}, Attempt: 2})
	fmt.Println(run.Result, string(run.Checkpoints[1]))
	// Output: 2 pages {"Page":10}
}

// The error that a handler returns decides what happens to the job.
func ExampleRelease() {
	resize := func(_ context.Context, job *yardmaster.Job[Resize]) (any, error) {
		switch job.Payload.Image {
		case "":
			return nil, yardmaster.NonRetryable(errors.New("no image"))
		case "busy.png":
			return nil, yardmaster.RetryAfter(errors.New("the disk is busy"), 30*time.Second)
		default:
			return nil, yardmaster.Release(10*time.Minute, "not yet")
		}
	}
	for _, image := range []string{"", "busy.png", "cat.png"} {
		run := yardmastertest.Run(context.Background(), resize, Resize{Image: image}, yardmastertest.Options{})
		fmt.Println(run.Status, run.Delay, run.Err)
	}
	// Output:
	// dead 0s no image
	// failed 30s the disk is busy
	// released 10m0s the job is released for 10m0s
}

// A program's logger also writes to the log of a job if it gets the context of the handler.
func ExampleNewLogHandler() {
	withoutTime := func(_ []string, attribute slog.Attr) slog.Attr {
		if attribute.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attribute
	}
	logger := slog.New(yardmaster.NewLogHandler(
		slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})))
	resize := func(ctx context.Context, _ *yardmaster.Job[Resize]) (any, error) {
		logger.WarnContext(ctx, "no profile", "file", "cat.png")
		return nil, nil
	}
	run := yardmastertest.Run(context.Background(), resize, Resize{}, yardmastertest.Options{})
	fmt.Println(run.Logs[0].Level, run.Logs[0].Message, string(run.Logs[0].Metadata))
	// Output:
	// level=WARN msg="no profile" file=cat.png
	// warn no profile {"file":"cat.png"}
}
