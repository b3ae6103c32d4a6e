package yardmaster

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// ListOptions filters the jobs that [Client.List] returns. Non-empty fields are combined with AND.
type ListOptions struct {
	// Statuses: only jobs with one of these.
	Statuses []wire.JobStatus
	// Names: only jobs with one of these.
	Names []string
	// Tags: only jobs with all of these.
	Tags []string
	// Schedule is the ID of the schedule that created the jobs.
	Schedule string
	// Query is a text in the JSON of the payload, result or error. Case-insensitive.
	Query string
	// CreatedAfter: only jobs created at or after this time.
	CreatedAfter time.Time
	// CreatedBefore: only jobs created before this time.
	CreatedBefore time.Time
	// OldestFirst sorts by creation time, oldest first. Default: newest first.
	OldestFirst bool
	// PageSize is the number of jobs to fetch per call, at most 100. Default: 50.
	PageSize int
}

func (o ListOptions) query() url.Values {
	query := url.Values{"name": o.Names, "tag": o.Tags}
	for _, status := range o.Statuses {
		query.Add("status", string(status))
	}
	if o.Schedule != "" {
		query.Set("schedule", o.Schedule)
	}
	if o.Query != "" {
		query.Set("q", o.Query)
	}
	if !o.CreatedAfter.IsZero() {
		query.Set("createdAfter", timestamp(o.CreatedAfter))
	}
	if !o.CreatedBefore.IsZero() {
		query.Set("createdBefore", timestamp(o.CreatedBefore))
	}
	if o.OldestFirst {
		query.Set("order", "asc")
	}
	if o.PageSize > 0 {
		query.Set("limit", strconv.Itoa(o.PageSize))
	}
	return query
}

// List returns an iterator over the jobs of the space, which fetches page by page. No job is listed twice, even if jobs are
// created or changed while you read. Range over it (since Go 1.23), or call it with a function that returns false to stop.
// It ends after an error.
func (c *Client) List(ctx context.Context, options ListOptions) func(yield func(wire.ListedJob, error) bool) {
	return pages(options.query(), func(query string) (jobs []wire.ListedJob, next string, err error) {
		r := request{method: http.MethodGet, path: c.spacePath("/jobs?" + query), nextCursor: &next}
		err = c.call(ctx, r, &jobs)
		return jobs, next, err
	})
}

// Spaces returns an iterator over the spaces that have jobs, with their counts; see [Client.List].
func (c *Client) Spaces(ctx context.Context) func(yield func(wire.Space, error) bool) {
	return pages(url.Values{"limit": {"100"}}, func(query string) (spaces []wire.Space, next string, err error) {
		var page wire.SpaceList
		err = c.call(ctx, request{method: http.MethodGet, path: "/spaces?" + query}, &page)
		if page.NextCursor != nil {
			next = *page.NextCursor
		}
		return page.Spaces, next, err
	})
}

// pages returns an iterator over the items of all pages. It ends when the cursor of the next page is empty.
func pages[Item any](query url.Values, read func(query string) ([]Item, string, error)) func(func(Item, error) bool) {
	return func(yield func(Item, error) bool) {
		for cursor, isFirst := "", true; isFirst || cursor != ""; isFirst = false {
			text := query.Encode()
			if cursor != "" {
				text += "&cursor=" + url.QueryEscape(cursor)
			}
			items, next, err := read(text)
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			cursor = next
		}
	}
}
