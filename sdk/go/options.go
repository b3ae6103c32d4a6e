package yardmaster

import (
	"time"

	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// CreateOptions says when, how often and for how long a job runs. The zero value of a field selects the service's
// default.
type CreateOptions struct {
	// IdempotencyKey deduplicates creates: a retry with the same key makes no second job. Default: a random key.
	IdempotencyKey string
	// Unique creates the job only if no other job holds this key.
	Unique *wire.UniqueRequest
	// Delay before the job can be claimed. Not together with ScheduledFor.
	Delay time.Duration
	// ScheduledFor is the time from which the job can be claimed.
	ScheduledFor time.Time
	// MaxRetries is the maximum number of retries after the first attempt; nil for 3. See [Ptr].
	MaxRetries *int
	// Timeout is the longest time between heartbeats, which the worker sends. Default: 5 minutes.
	Timeout time.Duration
	// MaxRun is the maximum duration of one attempt. Default: no limit.
	MaxRun time.Duration
	// StartWithin is the maximum wait until a worker starts the job; after it, the job is dead. Default: no limit.
	StartWithin time.Duration
	// Retry sets the delays between attempts; nil for none.
	Retry *Retry
	// Priority is a head start in seconds: the job is claimed as if it had been created that much earlier.
	Priority int
	// Tags are up to 10 words by which [Client.List] and operations can find the job.
	Tags []string
	// CallbackURL gets a signed POST when the job ends.
	CallbackURL string
	// CallbackHeaders are sent to CallbackURL.
	CallbackHeaders map[string]string
	// CallbackOn lists the outcomes that trigger the callback. Default: completed and dead.
	CallbackOn []wire.CreateJobCallbackOn
}

// Retry sets the delays between the attempts of a job.
type Retry struct {
	// Delay before the second attempt.
	Delay time.Duration
	// Delays has one delay for each retry; the last one repeats. Not together with Delay and Factor.
	Delays []time.Duration
	// Factor multiplies the delay after each retry. Default: 1.
	Factor float64
	// MaxDelay caps the delay. Default: a week.
	MaxDelay time.Duration
	// Jitter is the fraction of a delay by which it varies at random; nil for 0.2. See [Ptr].
	Jitter *float64
}

// Ptr returns a pointer to a value, for optional fields: MaxRetries: yardmaster.Ptr(0).
func Ptr[T any](value T) *T { return &value }

// NewJob is one job of a list for [Client.CreateMany].
type NewJob struct {
	Name    string
	Payload any
	// Options may be nil. Their IdempotencyKey is ignored; the list has its own.
	Options *CreateOptions
}

// body returns the request body that creates the job.
func (j NewJob) body() (*wire.CreateJob, error) {
	payload, err := partBody(j.Payload, "payload")
	if err != nil {
		return nil, err
	}
	body := &wire.CreateJob{Name: j.Name, Payload: payload}
	o := j.Options
	if o == nil {
		return body, nil
	}
	body.Unique = o.Unique
	body.DelaySeconds = secondsOf(o.Delay)
	body.ScheduledFor = timestampOf(o.ScheduledFor)
	body.MaxRetries = o.MaxRetries
	body.TimeoutSeconds = secondsOf(o.Timeout)
	body.MaxRunSeconds = secondsOf(o.MaxRun)
	body.StartWithinSeconds = secondsOf(o.StartWithin)
	body.Tags = o.Tags
	body.CallbackHeaders = o.CallbackHeaders
	body.CallbackOn = o.CallbackOn
	if o.Priority != 0 {
		body.Priority = &o.Priority
	}
	if o.CallbackURL != "" {
		body.CallbackURL = &o.CallbackURL
	}
	if o.Retry != nil {
		if body.Retry, err = o.Retry.body(); err != nil {
			return nil, err
		}
	}
	return body, nil
}

func (r *Retry) body() (*wire.RetryRequest, error) {
	var delays any = r.Delay.Seconds()
	if len(r.Delays) > 0 {
		list := make([]float64, len(r.Delays))
		for i, delay := range r.Delays {
			list[i] = delay.Seconds()
		}
		delays = list
	}
	seconds, err := partBody(delays, "retry delay")
	if err != nil {
		return nil, err
	}
	body := &wire.RetryRequest{DelaySeconds: seconds, MaxDelaySeconds: secondsOf(r.MaxDelay), Jitter: r.Jitter}
	if r.Factor != 0 {
		body.Factor = &r.Factor
	}
	return body, nil
}

// secondsOf returns nil for 0.
func secondsOf(duration time.Duration) *float64 {
	if duration == 0 {
		return nil
	}
	return Ptr(duration.Seconds())
}

func durationOf(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// timestampOf returns nil for the zero time.
func timestampOf(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return Ptr(timestamp(at))
}

// timestamp formats a time as the service does.
func timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
