// Command asynq adds jobs to Asynq and works on them in one process.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/hibiken/asynq"
	"yardmaster.dev/bench/turns"
)

func main() {
	redis, err := asynq.ParseRedisURI(os.Getenv("REDIS_URL"))
	if err != nil {
		panic(err)
	}
	client := asynq.NewClient(redis)
	turns.Serve(
		func(load turns.Load, progress *turns.Progress) error {
			server := asynq.NewServer(redis, asynq.Config{Concurrency: load.Clients, LogLevel: asynq.ErrorLevel})
			return server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
				progress.Done()
				return nil
			}))
		},
		func(_ int, payload map[string]string) error {
			text, err := json.Marshal(payload)
			if err == nil {
				_, err = client.Enqueue(asynq.NewTask("name-0", text))
			}
			return err
		},
	)
}
