// Command sdkworker is a worker with the Go SDK.
package main

import (
	"context"
	"os"
	"strconv"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"yardmaster.dev/bench/turns"
)

type result struct {
	OK bool `json:"ok"`
}

func main() {
	client, err := yardmaster.NewClient(yardmaster.ClientOptions{})
	turns.Check(err)
	concurrency, err := strconv.Atoi(os.Getenv("CONCURRENCY"))
	turns.Check(err)
	worker := yardmaster.NewWorker(client, yardmaster.WorkerOptions{Concurrency: concurrency})
	yardmaster.On(worker, "bench", func(context.Context, *yardmaster.Job[map[string]string]) (result, error) {
		return result{OK: true}, nil
	})
	turns.Check(worker.Run(context.Background()))
}
