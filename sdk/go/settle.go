package yardmaster

import (
	"net/http"

	"github.com/yardmaster/yardmaster/sdk/go/internal/outcome"
	"github.com/yardmaster/yardmaster/sdk/go/wire"
)

// deliver sends reports until each is done. err is an earlier failure to wait for first.
func (o *outbox) deliver(reports []*report, err error) {
	var wait backoff
	for len(reports) > 0 {
		if err != nil {
			if refusal := asError(err); !refusal.isTemporary() && o.ctx.Err() == nil {
				o.refused(reports, refusal)
				return
			}
			if wait.failures == failuresBeforeWarning {
				o.s.warn(WarningUnavailable, "reports fail and are retried: "+err.Error(), idsOf(outcomesOf(reports))...)
			}
			if !sleep(o.ctx, wait.next(err)) {
				for _, each := range reports {
					o.finish(each, errStopped)
				}
				return
			}
		}
		var entries []wire.Settled
		if entries, err = o.s.client.settle(o.ctx, outcomesOf(reports)); err == nil {
			reports, err = o.accept(reports, entries)
		}
	}
}

// settled finishes the reports that a poll carried.
func (o *outbox) settled(reports []*report, entries []wire.Settled) {
	if len(entries) != len(reports) {
		o.sendAgain(reports, &Error{Code: CodeNoResponse, Message: "the response does not have one entry per outcome"})
		return
	}
	again, err := o.accept(reports, entries)
	o.sendAgain(again, err)
}

// accept finishes reports according to their entries. It returns the reports to send again, and why.
func (o *outbox) accept(reports []*report, entries []wire.Settled) (again []*report, err error) {
	for i, each := range reports {
		if entries[i].Success {
			o.finish(each, nil)
			continue
		}
		refusal := errorOf(entries[i])
		if refusal.isTemporary() && refusal.Code != wire.ErrorCodeStorageFull { // Full storage is up to the caller.
			again, err = append(again, each), refusal
			continue
		}
		if refusal.isOfKey() {
			o.s.fail(refusal)
		}
		o.finish(each, refusal)
	}
	return again, err
}

// refused sends each report alone, because one of them is invalid and the whole call was refused. Reports of one job keep
// their order, and no job waits for another.
func (o *outbox) refused(reports []*report, refusal *Error) {
	if refusal.isOfKey() {
		o.s.fail(refusal)
		for _, each := range reports {
			o.finish(each, refusal)
		}
		return
	}
	ofJob := map[string][]*report{}
	for _, each := range reports {
		ofJob[each.JobID] = append(ofJob[each.JobID], each)
	}
	for _, reports := range ofJob {
		go func() {
			for _, each := range reports {
				o.finish(each, o.deliverAlone(each))
			}
		}()
	}
}

// deliverAlone sends a report until the service accepts or refuses it. If it ends an attempt and is refused as invalid or
// too large, it is replaced once.
func (o *outbox) deliverAlone(each *report) error {
	var wait backoff
	for isReplaced := false; ; {
		err := o.s.client.report(o.ctx, each.Outcome, "")
		if err == nil {
			return nil
		}
		refusal := asError(err)
		isInvalid := refusal.Status == http.StatusBadRequest || refusal.Status == http.StatusRequestEntityTooLarge
		instead, canReplace := outcome.InsteadOf(each.Outcome, refusal.Status, refusal.Message)
		switch {
		case o.ctx.Err() != nil:
			return errStopped
		case isInvalid && !refusal.isTemporary() && canReplace && !isReplaced:
			each.Outcome, isReplaced = instead, true
		case !refusal.isTemporary() || refusal.Code == wire.ErrorCodeStorageFull:
			if refusal.isOfKey() {
				o.s.fail(refusal)
			}
			return refusal
		case !sleep(o.ctx, wait.next(err)):
			return errStopped
		}
	}
}

func (o *outbox) finish(each *report, err error) {
	o.mu.Lock()
	o.pending--
	o.mu.Unlock()
	each.done(err)
	wake(o.s.changed)
}

func outcomesOf(reports []*report) []wire.Outcome {
	var outcomes []wire.Outcome
	for _, each := range reports {
		outcomes = append(outcomes, each.Outcome)
	}
	return outcomes
}

func idsOf(outcomes []wire.Outcome) []string {
	var ids []string
	for _, each := range outcomes {
		ids = append(ids, each.JobID)
	}
	return ids
}
