package yardmaster

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// Schedule creates a job at recurring times. Cron or Every is required; the zero value of any other field selects the
// service's default.
type Schedule struct {
	// Cron expression with five fields, or @hourly, @daily, @weekly, @monthly or @yearly.
	Cron string
	// Every is the interval between runs, at least 10 s. The first run is at StartsAt, or one interval after the creation.
	Every time.Duration
	// Timezone of Cron: an IANA name, such as Europe/Berlin. Default: UTC.
	Timezone string
	// Job to create. Its options may have neither Delay nor ScheduledFor.
	Job NewJob
	// Overlap says what to do while the last job has not ended: skip this run, allow a second job, or replace the last job
	// by killing it. Default: skip.
	Overlap wire.ScheduleOverlap
	// Missed says what to do after missed times: create a job once for the latest, or skip them all. Default: once.
	Missed wire.ScheduleMissed
	// MissedWithin is the age from which missed times are always skipped. Default: a day.
	MissedWithin time.Duration
	// Spread is the longest delay of a run, which spreads schedules with the same times. Default: none.
	Spread time.Duration
	// StartsAt is the time of the earliest run. Default: no limit.
	StartsAt time.Time
	// EndsAt is the time of the latest run. Default: no limit.
	EndsAt time.Time
	// Paused says whether to create no jobs for now; nil to leave it unchanged. See [Ptr].
	Paused *bool
	// Owner declares the schedule, such as a deployment. Other owners can't change it. Default: none.
	Owner string
}

// NewSchedule is one schedule of a list for [Schedules.Sync].
type NewSchedule struct {
	ID string
	Schedule
}

// DeclaredSchedules are the schedules of one owner, for [Schedules.Sync].
type DeclaredSchedules struct {
	// Owner of the schedules, such as the name of a deployment.
	Owner string
	// Schedules has up to 200 entries.
	Schedules []NewSchedule
	// Prune deletes the owner's other schedules.
	Prune bool
}

type scheduleBody struct {
	ID string `json:"id,omitempty"`
	wire.ScheduleRequest
	Job *wire.CreateJob `json:"job"` // Replaces the job of the request, so that the service refuses a start time.
}

func (s Schedule) body(id string) (*scheduleBody, error) {
	job, err := s.Job.body()
	if err != nil {
		return nil, err
	}
	return &scheduleBody{ID: id, Job: job, ScheduleRequest: wire.ScheduleRequest{
		Cron:                nonEmpty(s.Cron),
		EverySeconds:        secondsOf(s.Every),
		Timezone:            nonEmpty(s.Timezone),
		Overlap:             nonEmpty(s.Overlap),
		Missed:              nonEmpty(s.Missed),
		MissedWithinSeconds: secondsOf(s.MissedWithin),
		SpreadSeconds:       secondsOf(s.Spread),
		StartsAt:            timestampOf(s.StartsAt),
		EndsAt:              timestampOf(s.EndsAt),
		Paused:              s.Paused,
		Owner:               nonEmpty(s.Owner),
	}}, nil
}

// Schedules manages the schedules of the space, which create jobs at recurring times.
type Schedules struct{ client *Client }

// Schedules returns the schedules of the space. It makes no call.
func (c *Client) Schedules() *Schedules { return &Schedules{client: c} }

func (s *Schedules) path(id, rest string) string {
	return s.client.spacePath("/schedules/" + url.PathEscape(id) + rest)
}

// Put creates a schedule or replaces the existing one. Repeating the call changes nothing.
func (s *Schedules) Put(ctx context.Context, id string, schedule Schedule) (*wire.Schedule, error) {
	body, err := schedule.body("")
	if err != nil {
		return nil, err
	}
	return s.change(ctx, http.MethodPut, id, body)
}

// Sync creates and changes all schedules of an owner, or none if one of them is refused.
func (s *Schedules) Sync(ctx context.Context, declared DeclaredSchedules) (*wire.SchedulesChange, error) {
	list := make([]*scheduleBody, len(declared.Schedules))
	for i, schedule := range declared.Schedules {
		body, err := schedule.body(schedule.ID)
		if err != nil {
			return nil, fmt.Errorf("schedule %q of the list: %w", schedule.ID, err)
		}
		list[i] = body
	}
	body, err := jsonBody(struct {
		Owner     string          `json:"owner"`
		Schedules []*scheduleBody `json:"schedules"`
		Prune     bool            `json:"prune"`
	}{declared.Owner, list, declared.Prune})
	if err != nil {
		return nil, err
	}
	var change wire.SchedulesChange
	r := request{method: http.MethodPut, path: s.client.spacePath("/schedules"), body: body}
	if err := s.client.call(ctx, r, &change); err != nil {
		return nil, err
	}
	return &change, nil
}

// List returns an iterator over the schedules of the space, oldest first; see [Client.List].
func (s *Schedules) List(ctx context.Context) func(yield func(wire.Schedule, error) bool) {
	return pages(url.Values{"limit": {"100"}}, func(query string) (schedules []wire.Schedule, next string, err error) {
		var page wire.ScheduleList
		r := request{method: http.MethodGet, path: s.client.spacePath("/schedules?" + query)}
		err = s.client.call(ctx, r, &page)
		if page.NextCursor != nil {
			next = *page.NextCursor
		}
		return page.Schedules, next, err
	})
}

// Get returns a schedule with its next times.
func (s *Schedules) Get(ctx context.Context, id string) (*wire.ScheduleWithTimes, error) {
	var schedule wire.ScheduleWithTimes
	if err := s.client.call(ctx, request{method: http.MethodGet, path: s.path(id, "")}, &schedule); err != nil {
		return nil, err
	}
	return &schedule, nil
}

// Run creates a job now, even while the schedule is paused. A nil payload means the payload of the schedule. The error is
// [wire.ErrorCodeScheduleRunning] if Overlap is skip and the last job has not ended. The call isn't retried after a lost
// response, because a retry could make a second job.
func (s *Schedules) Run(ctx context.Context, id string, payload any) (*Handle, error) {
	return s.client.createOnce(ctx, s.path(id, "/run"), payload)
}

// Pause stops creating jobs until [Schedules.Resume].
func (s *Schedules) Pause(ctx context.Context, id string) (*wire.Schedule, error) {
	return s.change(ctx, http.MethodPatch, id, wire.SchedulePause{Paused: true})
}

// Resume creates jobs again from now on. Times that have passed are not made up for.
func (s *Schedules) Resume(ctx context.Context, id string) (*wire.Schedule, error) {
	return s.change(ctx, http.MethodPatch, id, wire.SchedulePause{Paused: false})
}

// Delete deletes a schedule; its jobs stay. After a lost response, a retry may return [wire.ErrorCodeScheduleNotFound]
// although the schedule was deleted.
func (s *Schedules) Delete(ctx context.Context, id string) error {
	var done struct{}
	return s.client.call(ctx, request{method: http.MethodDelete, path: s.path(id, "")}, &done)
}

func (s *Schedules) change(ctx context.Context, method, id string, value any) (*wire.Schedule, error) {
	body, err := jsonBody(value)
	if err != nil {
		return nil, err
	}
	var schedule wire.Schedule
	if err := s.client.call(ctx, request{method: method, path: s.path(id, ""), body: body}, &schedule); err != nil {
		return nil, err
	}
	return &schedule, nil
}
