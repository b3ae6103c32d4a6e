package main

import (
	"context"
	"errors"

	yardmaster "github.com/yardmaster/yardmaster/sdk/go"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// schedule has the field names of the API.
type schedule struct {
	ID           string               `json:"id"`
	Cron         string               `json:"cron"`
	EverySeconds float64              `json:"everySeconds"`
	Timezone     string               `json:"timezone"`
	Overlap      wire.ScheduleOverlap `json:"overlap"`
	Job          newJob               `json:"job"`
}

func (s schedule) forSDK() yardmaster.Schedule {
	return yardmaster.Schedule{
		Cron: s.Cron, Every: seconds(s.EverySeconds), Timezone: s.Timezone, Overlap: s.Overlap, Job: s.Job.forSDK(),
	}
}

// schedules calls a method of the client's schedules.
func (p *producer) schedules(ctx context.Context, c command) (string, object, error) {
	schedules := p.client.Schedules()
	var result any
	var err error
	switch c.Call {
	case "put":
		result, err = schedules.Put(ctx, c.ID, c.Schedule.forSDK())
	case "sync":
		declared := yardmaster.DeclaredSchedules{Owner: c.Owner, Prune: c.Prune}
		for _, each := range c.Schedules {
			declared.Schedules = append(declared.Schedules, yardmaster.NewSchedule{ID: each.ID, Schedule: each.forSDK()})
		}
		result, err = schedules.Sync(ctx, declared)
	case "list":
		list := []wire.Schedule{}
		schedules.List(ctx)(func(each wire.Schedule, failed error) bool {
			list, err = append(list, each), failed
			return true
		})
		result = list
	case "get":
		result, err = schedules.Get(ctx, c.ID)
	case "run":
		var payload any
		if c.Payload != nil {
			payload = c.Payload
		}
		job, err := schedules.Run(ctx, c.ID, payload)
		if err != nil {
			return "", nil, err
		}
		return "created", object{"jobId": job.ID}, nil
	case "pause":
		result, err = schedules.Pause(ctx, c.ID)
	case "resume":
		result, err = schedules.Resume(ctx, c.ID)
	case "delete":
		err = schedules.Delete(ctx, c.ID)
	default:
		err = errors.New("unknown call: " + c.Call)
	}
	return "done", object{"result": result}, err
}
