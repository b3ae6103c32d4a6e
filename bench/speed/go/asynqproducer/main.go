// Command asynqproducer adds Asynq jobs for another process.
package main

import (
	"encoding/json"
	"os"

	"github.com/hibiken/asynq"
	"yardmaster.dev/bench/turns"
)

func main() {
	redis, err := asynq.ParseRedisURI(os.Getenv("REDIS_URL"))
	turns.Check(err)
	client := asynq.NewClient(redis)
	var added *turns.Progress
	turns.Serve(
		func(_ turns.Load, progress *turns.Progress) error {
			added = progress
			return nil
		},
		func(_ int, payload map[string]string) error {
			text, err := json.Marshal(payload)
			if err == nil {
				_, err = client.Enqueue(asynq.NewTask("bench", text))
			}
			added.Done()
			return err
		},
	)
}
