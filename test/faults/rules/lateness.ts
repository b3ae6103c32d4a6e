import type { Rule } from './rule.js';
import { latenessOf, stopsTimeOuts, timeOutsOf } from './time-outs.js';

/** Milliseconds by which a time-out may be late… */
const LATE_MS = 2_000;

/** …and after the end of a fault that kept everybody from it. */
const AFTER_OUTAGE_MS = 5_000;

/** A time-out is met within 2 s, and within 5 s of the end of an outage (P4). */
export const lateness: Rule = {
  name: 'lateness',
  promise: 'P4',
  check(evidence) {
    const { outages } = evidence;
    return timeOutsOf(evidence)
      .filter(({ at, due }) => {
        const met = outages.filter((outage) => stopsTimeOuts(outage) && outage.from <= due + LATE_MS);
        return at > Math.max(due + LATE_MS, ...met.map(({ until }) => until + AFTER_OUTAGE_MS));
      })
      .map((timeOut) => ({
        jobId: timeOut.jobId,
        damage: 'late',
        says: `${timeOut.event.type} (${timeOut.event.id}) came ${latenessOf(timeOut, outages)} ms late`,
      }));
  },
};
