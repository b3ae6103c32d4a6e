// Command faktory is a client of a Faktory server that adds jobs and works on them. FAKTORY_URL is the address of the server.
package main

import (
	"context"

	faktory "github.com/contribsys/faktory/client"
	worker "github.com/contribsys/faktory_worker_go"
	"yardmaster.dev/bench/turns"
)

func main() {
	var clients []*faktory.Client
	turns.Serve(
		func(load turns.Load, progress *turns.Progress) error {
			for range load.Clients {
				client, err := faktory.Open()
				if err != nil {
					return err
				}
				clients = append(clients, client)
			}
			manager := worker.NewManager()
			manager.Concurrency = load.Clients
			manager.ProcessStrictPriorityQueues("default")
			manager.Register("name-0", func(context.Context, ...interface{}) error {
				progress.Done()
				return nil
			})
			go manager.Run()
			return nil
		},
		func(client int, payload map[string]string) error {
			return clients[client].Push(faktory.NewJob("name-0", payload))
		},
	)
}
