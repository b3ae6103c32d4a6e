package yardmastertest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/yardmastertest"
)

type Resize struct {
	Image string `json:"image"`
}

type Resized struct {
	Bytes int `json:"bytes"`
}

func resize(ctx context.Context, job *yardmaster.Job[Resize]) (Resized, error) {
	if job.Payload.Image == "" {
		return Resized{}, yardmaster.NonRetryable(errors.New("no image"))
	}
	job.Log.Info("resizing", "image", job.Payload.Image)
	if err := job.Progress(50, "Resizing"); err != nil {
		return Resized{}, err
	}
	return Resized{Bytes: 7}, job.Save(map[string]int{"page": 1})
}

func ExampleRun() {
	run := yardmastertest.Run(context.Background(), resize, Resize{Image: "cat.png"}, yardmastertest.Options{})
	fmt.Println(run.Status, run.Result.Bytes)
	fmt.Println(run.Progress[0].Message, string(run.Checkpoints[0]))
	fmt.Println(run.Logs[0].Level, run.Logs[0].Message, string(run.Logs[0].Metadata))

	run = yardmastertest.Run(context.Background(), resize, Resize{}, yardmastertest.Options{})
	fmt.Println(run.Status, run.Err)
	// Output:
	// completed 7
	// Resizing {"page":1}
	// info resizing {"image":"cat.png"}
	// dead no image
}

func ExampleRun_abort() {
	wait := func(ctx context.Context, job *yardmaster.Job[any]) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	ctx, abort := context.WithCancelCause(context.Background())
	time.AfterFunc(time.Millisecond, func() { abort(yardmaster.ErrDraining) })
	run := yardmastertest.Run(ctx, wait, any(nil), yardmastertest.Options{})
	fmt.Println(run.Status)
	// Output: released
}
