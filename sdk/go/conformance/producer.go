package main

import (
	"context"
	"encoding/json"
	"errors"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

type newJob struct {
	Name    string          `json:"name"`
	Payload json.RawMessage `json:"payload"`
	Options createOptions   `json:"options"`
}

func (j newJob) forSDK() yardmaster.NewJob {
	return yardmaster.NewJob{Name: j.Name, Payload: j.Payload, Options: j.Options.forSDK("")}
}

// createOptions has the field names of the API.
type createOptions struct {
	DelaySeconds       float64             `json:"delaySeconds"`
	MaxRetries         *int                `json:"maxRetries"`
	TimeoutSeconds     float64             `json:"timeoutSeconds"`
	MaxRunSeconds      float64             `json:"maxRunSeconds"`
	StartWithinSeconds float64             `json:"startWithinSeconds"`
	Priority           int                 `json:"priority"`
	Unique             *wire.UniqueRequest `json:"unique"`
	Retry              *struct {
		DelaySeconds    json.RawMessage `json:"delaySeconds"`
		Factor          float64         `json:"factor"`
		MaxDelaySeconds float64         `json:"maxDelaySeconds"`
		Jitter          *float64        `json:"jitter"`
	} `json:"retry"`
}

func (o createOptions) forSDK(idempotencyKey string) *yardmaster.CreateOptions {
	options := &yardmaster.CreateOptions{
		IdempotencyKey: idempotencyKey,
		Unique:         o.Unique,
		Delay:          seconds(o.DelaySeconds),
		MaxRetries:     o.MaxRetries,
		Timeout:        seconds(o.TimeoutSeconds),
		MaxRun:         seconds(o.MaxRunSeconds),
		StartWithin:    seconds(o.StartWithinSeconds),
		Priority:       o.Priority,
	}
	if o.Retry != nil {
		options.Retry = &yardmaster.Retry{
			Factor: o.Retry.Factor, MaxDelay: seconds(o.Retry.MaxDelaySeconds), Jitter: o.Retry.Jitter,
		}
		var one float64
		var several []float64
		if json.Unmarshal(o.Retry.DelaySeconds, &one) == nil {
			options.Retry.Delay = seconds(one)
		} else if json.Unmarshal(o.Retry.DelaySeconds, &several) == nil {
			for _, each := range several {
				options.Retry.Delays = append(options.Retry.Delays, seconds(each))
			}
		}
	}
	return options
}

type producer struct{ client *yardmaster.Client }

// do runs a command and prints its outcome.
func (p *producer) do(c command) {
	event, fields, err := p.outcomeOf(context.Background(), c)
	if err != nil {
		event, fields = "refused", object{"error": err.Error()}
		var refusal *yardmaster.Error
		if errors.As(err, &refusal) {
			fields = object{
				"code": refusal.Code, "status": refusal.Status,
				"error": refusal.Message, "jobId": refusal.JobID, "hasRequestId": refusal.RequestID != "",
			}
		}
	}
	fields["as"] = c.As
	printEvent(event, fields)
}

func (p *producer) outcomeOf(ctx context.Context, c command) (string, object, error) {
	switch c.Do {
	case "create":
		job, err := p.client.Create(ctx, c.Name, c.Payload, c.Options.forSDK(c.IdempotencyKey))
		if err != nil {
			return "", nil, err
		}
		return "created", object{"jobId": job.ID}, nil
	case "createMany":
		jobs := make([]yardmaster.NewJob, len(c.Jobs))
		for i, job := range c.Jobs {
			jobs[i] = job.forSDK()
		}
		created, err := p.client.CreateMany(ctx, jobs, c.IdempotencyKey)
		if err != nil {
			return "", nil, err
		}
		ids := make([]string, len(created))
		for i, job := range created {
			ids[i] = job.ID
		}
		return "created", object{"jobIds": ids}, nil
	case "result":
		limited, cancel := context.WithTimeout(ctx, seconds(c.TimeoutSeconds))
		defer cancel()
		var result json.RawMessage
		if err := p.client.Handle(c.JobID).Result(limited, &result); err != nil {
			return "", nil, err
		}
		return "result", object{"result": result}, nil
	case "watch":
		return "watchEnded", object{}, p.watch(ctx, c)
	case "kill":
		return "done", object{}, p.client.Kill(ctx, c.JobID, c.Reason)
	case "schedules":
		return p.schedules(ctx, c)
	case "streamToken":
		made, err := p.client.CreateStreamToken(ctx, c.StreamTokenRequest)
		if err != nil {
			return "", nil, err
		}
		return "streamToken", object{"token": made.Token}, nil
	default:
		return "", nil, errors.New("unknown command: " + c.Do)
	}
}

// watch prints the messages of a stream until it ends.
func (p *producer) watch(ctx context.Context, c command) (ended error) {
	options := yardmaster.WatchOptions{Since: c.Since, Names: c.Names, Types: c.Types, Tags: c.Tags}
	messages := p.client.Watch(ctx, options)
	if c.JobID != "" {
		messages = p.client.Handle(c.JobID).Watch(ctx, options)
	}
	messages(func(message yardmaster.StreamMessage, err error) bool {
		if ended = err; err == nil {
			var jobID *string
			if message.JobID != "" {
				jobID = &message.JobID
			}
			printEvent("message", object{"as": c.As, "type": message.Type, "jobId": jobID, "seq": message.Seq})
		}
		return true
	})
	return ended
}
