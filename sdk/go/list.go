package yardmaster

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// ListOptions says which jobs [Client.List] returns: those that pass all fields that are not empty.
type ListOptions struct {
	// Statuses of the jobs: one of these.
	Statuses []wire.JobStatus
	// Names of the jobs: one of these.
	Names []string
	// Tags of the jobs: all of these.
	Tags []string
	// Query is a text in the JSON of payload, result or error, in upper or lower case.
	Query string
	// CreatedAfter is the time at which the first job was created, or later.
	CreatedAfter time.Time
	// CreatedBefore is a time before which all jobs were created.
	CreatedBefore time.Time
	// OldestFirst lists the jobs in the order of their creation. Default: the newest first.
	OldestFirst bool
	// PageSize is the number of jobs in one call, at most 100. Default: 50.
	PageSize int
}

func (o ListOptions) query() url.Values {
	query := url.Values{"name": o.Names, "tag": o.Tags}
	for _, status := range o.Statuses {
		query.Add("status", string(status))
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

// List returns an iterator over jobs of the space, which reads page after page: no job comes twice, whatever is created
// or changed in the meantime. Range over it (since Go 1.23), or call it with a function that returns false to stop. After an
// error it ends.
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

// pages returns an iterator over the items of pages. An empty cursor of the next page ends it.
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
