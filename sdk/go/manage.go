package yardmaster

import (
	"context"
	"net/http"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Requeue puts a dead or killed job back in the queue with a fresh set of attempts, after an optional delay. After a lost
// response, a retry may return [wire.ErrorCodeJobNotDead] although the job was requeued.
func (c *Client) Requeue(ctx context.Context, id string, delay time.Duration) error {
	return c.post(ctx, jobPath(id, "/requeue"), wire.Requeue{DelaySeconds: secondsOf(delay)})
}

// Copy creates a job with the name, options and tags of another one. A nil payload means the payload of the original. The
// call isn't retried after a lost response, because a retry would make a second job.
func (c *Client) Copy(ctx context.Context, id string, payload any) (*Handle, error) {
	return c.createOnce(ctx, jobPath(id, "/copy"), payload)
}

// createOnce makes a call that creates a job, and that would create another one if it were retried. A nil payload is not
// sent.
func (c *Client) createOnce(ctx context.Context, path string, payload any) (*Handle, error) {
	var changes wire.Copy
	var err error
	if payload != nil {
		if changes.Payload, err = partBody(payload, "payload"); err != nil {
			return nil, err
		}
	}
	body, err := jsonBody(changes)
	if err != nil {
		return nil, err
	}
	var created wire.KnownJob
	r := request{method: http.MethodPost, path: path, body: body, once: true}
	if err := c.call(ctx, r, &created); err != nil {
		return nil, err
	}
	return &Handle{ID: created.ID, Name: created.Name, Status: created.Status, client: c}, nil
}

// Delete deletes a job that has ended. After a lost response, a retry may return [wire.ErrorCodeJobNotFound] although the
// job was deleted.
func (c *Client) Delete(ctx context.Context, id string) error {
	var done struct{}
	return c.call(ctx, request{method: http.MethodDelete, path: jobPath(id, "")}, &done)
}

// Stats counts the jobs of the space by status and by name.
func (c *Client) Stats(ctx context.Context) (*wire.SpaceStats, error) {
	var stats wire.SpaceStats
	if err := c.call(ctx, request{method: http.MethodGet, path: c.spacePath("/stats")}, &stats); err != nil {
		return nil, err
	}
	return &stats, nil
}

// Pause stops claims for some names until [Client.Resume]; with nil, for the whole space.
func (c *Client) Pause(ctx context.Context, names []string) error {
	return c.changePause(ctx, "/pause", names)
}

// Resume restarts claims for some names; with nil, for the whole space.
func (c *Client) Resume(ctx context.Context, names []string) error {
	return c.changePause(ctx, "/resume", names)
}

func (c *Client) changePause(ctx context.Context, path string, names []string) error {
	if names != nil && len(names) == 0 {
		return nil // An empty list must not mean the whole space.
	}
	return c.post(ctx, c.spacePath(path), wire.Pause{Names: names})
}

// CreateStreamToken creates a short-lived token for some streams, for a web page or another client that must not have the
// API key. Set exactly one of JobIds, Tag and SpaceID.
func (c *Client) CreateStreamToken(ctx context.Context, r wire.StreamTokenRequest) (*wire.StreamToken, error) {
	body, err := jsonBody(r)
	if err != nil {
		return nil, err
	}
	var token wire.StreamToken
	if err := c.call(ctx, request{method: http.MethodPost, path: "/stream-tokens", body: body}, &token); err != nil {
		return nil, err
	}
	return &token, nil
}

// post makes a call and ignores the content of its response.
func (c *Client) post(ctx context.Context, path string, value any) error {
	body, err := jsonBody(value)
	if err != nil {
		return err
	}
	var done struct{}
	return c.call(ctx, request{method: http.MethodPost, path: path, body: body}, &done)
}
