package yardmaster

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

var nightly = Schedule{
	Cron: "0 3 * * *", Timezone: "Europe/Berlin", Overlap: wire.ScheduleOverlapAllow, Paused: Ptr(false),
	Job: NewJob{Name: "report", Payload: map[string]string{"kind": "daily"}},
}

func TestSchedulesSendTheRequestsOfTheAPI(t *testing.T) {
	f := newFakeService(t)
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		respond(w, 200, map[string]any{"success": true, "id": "one", "name": "report", "status": "pending", "created": 2})
		return true
	}
	ctx, schedules := context.Background(), f.client.Schedules()
	put, putErr := schedules.Put(ctx, "nightly", nightly)
	newYear := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	changed, syncErr := schedules.Sync(ctx, DeclaredSchedules{Owner: "billing", Prune: true, Schedules: []NewSchedule{
		{ID: "poll", Schedule: Schedule{Every: time.Minute, StartsAt: newYear, Missed: "skip", Job: NewJob{Name: "ok"}}},
	}})
	_, emptyErr := schedules.Sync(ctx, DeclaredSchedules{Owner: "billing"})
	_, getErr := schedules.Get(ctx, "nightly")
	job, runErr := schedules.Run(ctx, "nightly", map[string]string{"kind": "weekly"})
	_, againErr := schedules.Run(ctx, "nightly", nil)
	_, pauseErr := schedules.Pause(ctx, "nightly")
	_, resumeErr := schedules.Resume(ctx, "nightly")
	err := errors.Join(putErr, syncErr, emptyErr, getErr, runErr, againErr, pauseErr, resumeErr, schedules.Delete(ctx, "nightly"))
	expect(t, "error", err, nil)
	expect(t, "values", []any{put.ID, changed.Created, job.ID, job.Name, job.Status}, []any{"one", 2, "one", "report", "pending"})
	const path = "/spaces/demo/schedules"
	var calls []string
	for _, each := range f.callsTo("") {
		calls = append(calls, strings.TrimSpace(each.method+" "+strings.TrimPrefix(each.path, path)+" "+each.body))
	}
	expect(t, "calls", strings.Join(calls, "\n"), strings.Join([]string{
		`PUT /nightly {"cron":"0 3 * * *","timezone":"Europe/Berlin","overlap":"allow","paused":false,` +
			`"job":{"name":"report","payload":{"kind":"daily"}}}`,
		`PUT  {"owner":"billing","schedules":[{"id":"poll","everySeconds":60,"missed":"skip",` +
			`"startsAt":"2027-01-01T00:00:00.000Z","job":{"name":"ok","payload":null}}],"prune":true}`,
		`PUT  {"owner":"billing","schedules":[],"prune":false}`,
		"GET /nightly",
		`POST /nightly/run {"payload":{"kind":"weekly"}}`, "POST /nightly/run {}",
		`PATCH /nightly {"paused":true}`, `PATCH /nightly {"paused":false}`, "DELETE /nightly",
	}, "\n"))
}

func TestListOfSchedulesReadsEveryPage(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		if times.Add(1) > 1 {
			respond(w, 200, wire.ScheduleList{Schedules: []wire.Schedule{{ID: "b"}}})
		} else {
			respond(w, 200, wire.ScheduleList{Schedules: []wire.Schedule{{ID: "a"}}, NextCursor: Ptr("7")})
		}
		return true
	}
	var ids []string
	f.client.Schedules().List(context.Background())(func(schedule wire.Schedule, err error) bool {
		expect(t, "error", err, nil)
		ids = append(ids, schedule.ID)
		return true
	})
	expect(t, "schedules", ids, []string{"a", "b"})
	calls := f.callsTo("/schedules")
	expect(t, "queries", []string{calls[0].query, calls[1].query}, []string{"limit=100", "limit=100&cursor=7"})
}

func TestAPutOfAScheduleIsRetriedButARunOnlyIfItHadNoEffect(t *testing.T) {
	f := newFakeService(t)
	var times atomic.Int32
	f.intercept = func(w http.ResponseWriter, _, _ string) bool {
		switch times.Add(1) {
		case 2:
			respond(w, 200, wire.Schedule{ID: "nightly"})
			return true
		case 3:
			return refuseCall(w, 429, wire.ErrorCodeRateLimited)
		default:
			return refuseCall(w, 503, wire.ErrorCodeUnavailable)
		}
	}
	schedule, err := f.client.Schedules().Put(context.Background(), "nightly", nightly)
	expect(t, "error", err, nil)
	expect(t, "schedule", schedule.ID, "nightly")
	_, err = f.client.Schedules().Run(context.Background(), "nightly", nil)
	expect(t, "code", asError(err).Code, wire.ErrorCodeUnavailable)
	expect(t, "calls", []int{len(f.callsTo("/nightly")), len(f.callsTo("/run"))}, []int{2, 2})
}

func TestAScheduleWithAnInvalidPayloadIsNamedInTheError(t *testing.T) {
	f := newFakeService(t)
	broken := NewSchedule{ID: "broken", Schedule: Schedule{Cron: "@daily", Job: NewJob{Name: "ok", Payload: func() {}}}}
	_, err := f.client.Schedules().Sync(context.Background(), DeclaredSchedules{Schedules: []NewSchedule{broken}})
	if err == nil || !strings.HasPrefix(err.Error(), `schedule "broken" of the list: yardmaster: the payload is not JSON`) {
		t.Fatal(err)
	}
	expect(t, "calls", len(f.callsTo("")), 0)
}
