package yardmaster

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Longest wait of one call: the limit of the service.
const longPoll = 20 * time.Second

// Handle is a handle to a job.
type Handle struct {
	// ID of the job.
	ID string
	// Name of the job; empty if [Client.Handle] made the handle.
	Name string
	// Status of the job when it was created; empty if [Client.Handle] made the handle.
	Status wire.JobStatus

	client *Client
}

// Handle returns a handle to an existing job, for example to wait for its result.
func (c *Client) Handle(id string) *Handle { return &Handle{ID: id, client: c} }

// Result waits until the job is completed and decodes its result into a value, which may be nil. The deadline of the
// context is the time limit. The error is an [*Error] with [CodeJobDead] or [wire.ErrorCodeJobKilled], or with
// [CodeTimeout] after the deadline.
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
