package yardmaster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Create creates a job. A retry after a lost response makes no second job. The options may be nil.
func (c *Client) Create(ctx context.Context, name string, payload any, options *CreateOptions) (*Handle, error) {
	job, err := NewJob{Name: name, Payload: payload, Options: options}.body()
	if err != nil {
		return nil, err
	}
	idempotencyKey := ""
	if options != nil {
		idempotencyKey = options.IdempotencyKey
	}
	var created wire.KnownJob
	if err := c.create(ctx, "/jobs", job, idempotencyKey, &created); err != nil {
		return nil, err
	}
	return &Handle{ID: created.ID, Name: created.Name, Status: created.Status, client: c}, nil
}

// CreateMany creates up to 1,000 jobs in one call, in this order. Calls with the same idempotency key create the jobs only
// once; an empty key means a random one.
func (c *Client) CreateMany(ctx context.Context, jobs []NewJob, idempotencyKey string) ([]*Handle, error) {
	list := make([]*wire.CreateJob, len(jobs))
	for i, job := range jobs {
		body, err := job.body()
		if err != nil {
			return nil, fmt.Errorf("job %d of the list: %w", i, err)
		}
		list[i] = body
	}
	var created []wire.JobSummary
	if err := c.create(ctx, "/jobs", list, idempotencyKey, &created); err != nil {
		return nil, err
	}
	handles := make([]*Handle, len(created))
	for i, job := range created {
		handles[i] = &Handle{ID: job.ID, Name: job.Name, Status: job.Status, client: c}
	}
	return handles, nil
}

// create makes a call about the space that must take effect once. An empty key means a random one.
func (c *Client) create(ctx context.Context, path string, value any, idempotencyKey string, created any) error {
	body, err := jsonBody(value)
	if err != nil {
		return err
	}
	if idempotencyKey == "" {
		var random [16]byte
		if _, err := rand.Read(random[:]); err != nil {
			return err
		}
		idempotencyKey = hex.EncodeToString(random[:])
	}
	header := map[string]string{"idempotency-key": idempotencyKey}
	r := request{method: http.MethodPost, path: c.spacePath(path), header: header, body: body}
	return c.call(ctx, r, created)
}

// GetOptions selects the events of the history to return with a job. Default: all.
type GetOptions struct {
	// WithoutEvents omits the history.
	WithoutEvents bool
	// EventsAfter selects a page of events, which starts after this event number. An event's ID ends with its number. To
	// read the whole history, continue after the last event until a page is empty.
	EventsAfter int
	// EventsLimit is the maximum number of events of a page, at most 100. Default: 100, if EventsAfter is not 0.
	EventsLimit int
}

// Get returns a job with its history, or with the part of it that the options select. The options may be nil.
func (c *Client) Get(ctx context.Context, id string, options *GetOptions) (*wire.JobWithEvents, error) {
	query := url.Values{}
	if options != nil {
		if options.WithoutEvents {
			query.Set("events", "0")
		}
		if options.EventsAfter > 0 {
			query.Set("eventsAfter", strconv.Itoa(options.EventsAfter))
		}
		if options.EventsLimit > 0 {
			query.Set("eventsLimit", strconv.Itoa(options.EventsLimit))
		}
	}
	return c.get(ctx, id, query, 0)
}

func (c *Client) get(ctx context.Context, id string, query url.Values, wait time.Duration) (*wire.JobWithEvents, error) {
	path := jobPath(id, "")
	if wait > 0 {
		query.Set("waitSeconds", strconv.FormatFloat(wait.Seconds(), 'f', 3, 64))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var job wire.JobWithEvents
	if err := c.call(ctx, request{method: http.MethodGet, path: path, wait: wait}, &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// Kill kills a job: it is not retried, and a handler that is running it is aborted.
func (c *Client) Kill(ctx context.Context, id, reason string) error {
	return c.post(ctx, jobPath(id, "/kill"), wire.Kill{Reason: nonEmpty(reason)})
}

func nonEmpty[Text ~string](text Text) *Text {
	if text == "" {
		return nil
	}
	return &text
}
