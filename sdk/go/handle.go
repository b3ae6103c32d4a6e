package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// The service waits at most this long before it responds.
const longPoll = 20 * time.Second

// Handle names a job that was created.
type Handle struct {
	// ID of the job.
	ID string
	// Name of the job; empty when the handle was made by [Client.Handle].
	Name string
	// Status when the handle was made; empty when it was made by [Client.Handle].
	Status wire.JobStatus

	client *Client
}

// Handle returns a handle of a job whose id is known, for example to wait for its result.
func (c *Client) Handle(id string) *Handle { return &Handle{ID: id, client: c} }

// Result waits until the job is completed, and reads its result into a value, which may be nil.
// The deadline of the context is the time limit. The error is an [*Error] with [CodeJobDead], with
// [wire.ErrorCodeJobKilled], or with [CodeTimeout] after the deadline.
func (h *Handle) Result(ctx context.Context, into any) error {
	for {
		wait := longPoll
		if deadline, ok := ctx.Deadline(); ok {
			wait = min(max(time.Until(deadline), 0), longPoll)
		}
		job, err := h.client.get(ctx, h.ID, url.Values{"events": {"0"}}, wait)
		if err != nil {
			return err
		}
		switch job.Status {
		case wire.JobStatusCompleted:
			if into == nil {
				return nil
			}
			return json.Unmarshal(job.Result, into)
		case wire.JobStatusDead:
			return &Error{Code: CodeJobDead, Message: "The job is dead: " + ErrorLine(job.Error),
				JobStatus: job.Status, JobError: job.Error}
		case wire.JobStatusKilled:
			return &Error{Code: wire.ErrorCodeJobKilled, Message: "the job was killed", JobStatus: job.Status}
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return stopped(ctx, ctx.Err())
		}
	}
}
