// Package turns serves the runs of a benchmark for contestants written in Go.
package turns

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Load describes the jobs of one run.
type Load struct {
	Jobs int `json:"jobs"`
	// Clients is the number of concurrent producers, and of concurrent jobs.
	Clients int `json:"clients"`
	// PayloadBytes is the size of each payload in bytes of JSON.
	PayloadBytes int `json:"payloadBytes"`
}

// Payload returns a payload of this size.
func (load Load) Payload() map[string]string {
	return map[string]string{"text": strings.Repeat("x", max(0, load.PayloadBytes-len(`{"text":""}`)))}
}

// Progress counts the finished jobs of a run.
type Progress struct {
	left atomic.Int64
	done chan struct{}
}

// Done reports that a job is done.
func (progress *Progress) Done() {
	if progress.left.Add(-1) == 0 {
		close(progress.done)
	}
}

// Serve reads a load from each line of stdin, as JSON, and writes the duration of the run in seconds.
//
// prepare gets the load of the first run and starts the workers, which call Done of the Progress. create creates one job.
func Serve(prepare func(Load, *Progress) error, create func(client int, payload map[string]string) error) {
	var progress Progress
	isPrepared := false
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var load Load
		Check(json.Unmarshal(lines.Bytes(), &load))
		progress.left.Store(int64(load.Jobs))
		progress.done = make(chan struct{})
		if !isPrepared {
			Check(prepare(load, &progress))
			isPrepared = true
		}
		began := time.Now()
		Check(createAll(load, create))
		<-progress.done
		fmt.Printf("{\"seconds\":%f}\n", time.Since(began).Seconds())
	}
}

func createAll(load Load, create func(client int, payload map[string]string) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	failed := make(chan error, load.Clients)
	payload := load.Payload()
	for client := range load.Clients {
		group.Add(1)
		go func() {
			defer group.Done()
			for next.Add(1) <= int64(load.Jobs) {
				if err := create(client, payload); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failed)
	return <-failed
}

// Check prints an error, if there is one, and exits.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
