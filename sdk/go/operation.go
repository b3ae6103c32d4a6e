package yardmaster

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

const (
	// Waits between two reads of an operation: the first, doubling up to the longest.
	firstOperationWait = 100 * time.Millisecond
	maxOperationWait   = 2 * time.Second
)

// OperationOptions are options of an operation.
type OperationOptions struct {
	// IdempotencyKey makes operations with the same key a single one. Default: a random key for each.
	IdempotencyKey string
	// Limit is the maximum number of jobs to change. Default: all.
	Limit int
	// DryRun only counts the jobs that would be changed.
	DryRun bool
	// Reason is shown with the operation.
	Reason string
	// Delay before the jobs can be claimed; only for requeue and reschedule.
	Delay time.Duration
}

// OperationHandle is a handle to an operation.
type OperationHandle struct {
	// ID of the operation.
	ID     string
	client *Client
}

// StartOperation starts an operation on all jobs of the space that match a filter. A retry after a lost response starts no
// second one. The options may be nil.
func (c *Client) StartOperation(ctx context.Context, action wire.OperationRequestAction, filter wire.OperationFilter,
	options *OperationOptions) (*OperationHandle, error) {
	if options == nil {
		options = &OperationOptions{}
	}
	started := struct {
		wire.OperationRequest
		Filter wire.OperationFilter `json:"filter"` // Replaces the filter of the request, whose statuses have no type.
	}{Filter: filter}
	started.Action, started.Reason = action, nonEmpty(options.Reason)
	if options.Limit > 0 {
		started.Limit = &options.Limit
	}
	if options.DryRun {
		started.DryRun = &options.DryRun
	}
	// A reschedule needs a delay: 0 is now.
	if options.Delay != 0 || action == wire.OperationRequestActionReschedule {
		started.DelaySeconds = Ptr(options.Delay.Seconds())
	}
	var operation wire.Operation
	if err := c.create(ctx, "/operations", started, options.IdempotencyKey, &operation); err != nil {
		return nil, err
	}
	return c.Operation(operation.ID), nil
}

// Operation returns a handle to an existing operation.
func (c *Client) Operation(id string) *OperationHandle { return &OperationHandle{ID: id, client: c} }

func (o *OperationHandle) call(ctx context.Context, method string, into any) error {
	return o.client.call(ctx, request{method: method, path: "/operations/" + url.PathEscape(o.ID)}, into)
}

// Get returns the current state of the operation.
func (o *OperationHandle) Get(ctx context.Context) (*wire.Operation, error) {
	var operation wire.Operation
	if err := o.call(ctx, http.MethodGet, &operation); err != nil {
		return nil, err
	}
	return &operation, nil
}

// Wait waits until the operation is done or canceled. The deadline of the context is the time limit, after which the
// error is an [*Error] with [CodeTimeout].
func (o *OperationHandle) Wait(ctx context.Context) (*wire.Operation, error) {
	for wait := firstOperationWait; ; wait = min(wait*2, maxOperationWait) {
		operation, err := o.Get(ctx)
		if err != nil || operation.Status != wire.OperationStatusRunning {
			return operation, err
		}
		if !sleep(ctx, wait) {
			return nil, stopped(ctx, ctx.Err())
		}
	}
}

// Cancel cancels the operation. Jobs that it has changed stay changed.
func (o *OperationHandle) Cancel(ctx context.Context) error {
	var done struct{}
	return o.call(ctx, http.MethodDelete, &done)
}
