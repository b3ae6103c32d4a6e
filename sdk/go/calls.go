package yardmaster

import (
	"context"
	"net/http"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// settle makes one call with outcomes and returns an entry for each.
func (c *Client) settle(ctx context.Context, outcomes []wire.Outcome) ([]wire.Settled, error) {
	body, err := jsonBody(wire.Settle{Outcomes: outcomes})
	if err != nil {
		return nil, err
	}
	var settled wire.SettleResults
	r := request{method: http.MethodPost, path: c.spacePath("/jobs/settle"), body: body}
	if err := c.send(ctx, r, &settled); err != nil {
		return nil, err
	}
	if len(settled.Results) != len(outcomes) {
		return nil, &Error{Code: CodeNoResponse, Message: "the response does not have one entry per outcome"}
	}
	return settled.Results, nil
}

// report calls the endpoint for an outcome's action, with a query that starts with "?" or is empty.
func (c *Client) report(ctx context.Context, o wire.Outcome, query string) error {
	r := request{method: http.MethodPost, path: jobPath(o.JobID, "/"+o.Action) + query, header: map[string]string{}}
	if o.DeliveryToken != nil {
		r.header["x-delivery-token"] = *o.DeliveryToken
	}
	var err error
	if r.body, err = bodyOf(o); err != nil {
		return err
	}
	var done struct{}
	return c.send(ctx, r, &done)
}

// bodyOf returns the body of a call about one job.
func bodyOf(o wire.Outcome) ([]byte, error) {
	switch o.Action {
	case outcome.Ack, outcome.Keepalive:
		return nil, nil
	case outcome.Checkpoint, outcome.Event:
		return o.Data, nil
	}
	return jsonBody(struct {
		wire.Outcome
		// These are in the path and the header.
		JobID         *string `json:"jobId,omitempty"`
		DeliveryToken *string `json:"deliveryToken,omitempty"`
		Action        *string `json:"action,omitempty"`
	}{Outcome: o})
}
