// Command asynqworker is an Asynq server, which only works on jobs.
package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"yardmaster.dev/bench/turns"
)

func main() {
	redis, err := asynq.ParseRedisURI(os.Getenv("REDIS_URL"))
	turns.Check(err)
	concurrency, err := strconv.Atoi(os.Getenv("CONCURRENCY"))
	turns.Check(err)
	server := asynq.NewServer(redis, asynq.Config{
		Concurrency: concurrency,
		LogLevel:    asynq.ErrorLevel,
		// By default, an idle server polls once a second, so jobs that arrive one at a time would be claimed in groups.
		TaskCheckInterval: 10 * time.Millisecond,
	})
	turns.Check(server.Run(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })))
}
