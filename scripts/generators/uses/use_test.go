package yardmaster

import (
	"encoding/json"
	"testing"
	"time"
)

// Compile-time check: the client has a worker's calls.
var _ = func(client ClientWithResponsesInterface) any {
	return []any{client.PollJobsWithResponse, client.AppendLogsWithResponse, client.CompleteJobWithResponse}
}

func TestCreateJobSendsOnlyWhatIsSet(t *testing.T) {
	payload := map[string]any{"image": "cat.png", "any": map[string]any{"field": []any{1, nil}}}
	for want, body := range map[string]CreateJob{
		`{"name":"resize"}`: {Name: "resize"},
		`{"name":"resize","payload":{"any":{"field":[1,null]},"image":"cat.png"}}`: {Name: "resize", Payload: &payload},
	} {
		if got, err := json.Marshal(body); err != nil || string(got) != want {
			t.Errorf("%s %v", got, err)
		}
	}
}

func TestJobIsRead(t *testing.T) {
	var job Job
	text := `{"payload":{"image":"cat.png"},"status":"pending","createdAt":"2026-08-01T09:30:00.000Z","completedAt":null}`
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		t.Fatal(err)
	}
	var ended *time.Time = job.CompletedAt
	if ended != nil || (*job.Payload)["image"] != "cat.png" || job.CreatedAt.Year() != 2026 || job.Status != "pending" {
		t.Errorf("%+v", job)
	}
}

func TestLogsAreWritten(t *testing.T) {
	var entry LogEntryInput
	fields := LogEntryFields{Message: "x", Metadata: &map[string]any{"file": "cat.png"}}
	if err := entry.FromLogEntryFields(fields); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(LogLines{entry}); err != nil || string(got) != `[{"message":"x","metadata":{"file":"cat.png"}}]` {
		t.Errorf("%s %v", got, err)
	}
}
