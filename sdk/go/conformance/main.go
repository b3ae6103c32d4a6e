// Command conformance is the program that the conformance scenarios drive: it reads commands as lines of JSON and
// prints what happens. See sdk/conformance/README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

type object = map[string]any

// command is a line of the standard input.
type command struct {
	Do             string              `json:"do"`
	As             string              `json:"as"`
	Worker         workerOptions       `json:"worker"`
	Name           string              `json:"name"`
	Payload        json.RawMessage     `json:"payload"`
	Options        createOptions       `json:"options"`
	Jobs           []newJob            `json:"jobs"`
	IdempotencyKey string              `json:"idempotencyKey"`
	JobID          string              `json:"jobId"`
	Reason         string              `json:"reason"`
	TimeoutSeconds float64             `json:"timeoutSeconds"`
	Since          *int                `json:"since"`
	Names          []string            `json:"names"`
	Types          []wire.JobEventType `json:"types"`
	Tags           []string            `json:"tags"`
	Call           string              `json:"call"`
	ID             string              `json:"id"`
	Schedule       schedule            `json:"schedule"`
	Schedules      []schedule          `json:"schedules"`
	Owner          string              `json:"owner"`
	Prune          bool                `json:"prune"`
	wire.StreamTokenRequest
}

type workerOptions struct {
	Concurrency  int                  `json:"concurrency"`
	DrainSeconds float64              `json:"drainSeconds"`
	AutoAck      bool                 `json:"autoAck"`
	Handlers     map[string]*attempts `json:"handlers"`
}

var printing sync.Mutex

func printEvent(event string, fields object) {
	fields["event"] = event
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(line))
}

func main() {
	client, err := yardmaster.NewClient(yardmaster.ClientOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	p := &producer{client: client}
	stop := func() {}
	var workers sync.WaitGroup
	lines := make(chan command)
	go readCommands(lines)
	ended := make(chan struct{})
	for {
		select {
		case line, isOpen := <-lines:
			switch {
			case !isOpen:
				os.Exit(0)
			case line.Do == "start":
				var ctx context.Context
				ctx, stop = context.WithCancel(context.Background())
				workers.Add(1)
				go func() {
					defer workers.Done()
					runWorker(ctx, client, line.Worker)
				}()
			case line.Do == "stop":
				stop()
			default:
				go p.do(line)
			}
		case <-signals: // The worker also gets it.
			go func() {
				workers.Wait()
				close(ended)
			}()
			signals = nil
		case <-ended:
			os.Exit(0)
		}
	}
}

func readCommands(lines chan<- command) {
	defer close(lines)
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	for input.Scan() {
		var line command
		if err := json.Unmarshal(input.Bytes(), &line); err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		lines <- line
	}
}

func runWorker(ctx context.Context, client *yardmaster.Client, options workerOptions) {
	worker := yardmaster.NewWorker(client, yardmaster.WorkerOptions{
		Concurrency: options.Concurrency,
		Drain:       seconds(options.DrainSeconds),
		AutoAck:     options.AutoAck,
		OnWarning: func(warning yardmaster.Warning) {
			printEvent("warning", object{"kind": warning.Kind, "message": warning.Message, "jobIds": warning.JobIDs})
		},
	})
	for name, steps := range options.Handlers {
		yardmaster.On(worker, name, handlerOf(steps))
	}
	printEvent("started", object{})
	if err := worker.Run(ctx); err != nil {
		printEvent("failed", object{"error": err.Error()})
	}
	printEvent("drained", object{})
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }
