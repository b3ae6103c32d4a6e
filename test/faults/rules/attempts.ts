import type { JobEvent } from '@yardmaster/protocol';
import { ruleForEachJob, type Said } from './rule.js';

/** Every attempt is counted once, and there are no more of them than the job allows (P3). */
export const attempts = ruleForEachJob('attempts', 'P3', ({ job }) => {
  const found: Said[] = [];
  const allowed = job.maxRetries + 1;
  let started = 0;
  for (const event of job.events) {
    if (event.type === 'acked') started++;
    const says = faultOf(event, started, allowed);
    if (says !== null) found.push({ says });
  }
  if (started > allowed)
    found.push({ damage: 'duplicated', says: `${started} attempts, where ${allowed} are allowed` });
  if (started !== job.attemptNumber)
    found.push({ says: `attemptNumber is ${job.attemptNumber} after ${started} acks` });
  return found;
});

/** What is wrong with the end of an attempt that has this number; null for nothing. */
function faultOf({ type, data, id }: JobEvent, started: number, allowed: number): string | null {
  if (type === 'dead' && started < allowed) return `dead after attempt ${started}, with retries left`;
  if (type !== 'retried') return null;
  if (started >= allowed) return `retried (${id}) after attempt ${started}, its last`;
  const told = (data as { attemptNumber?: number } | null)?.attemptNumber;
  return told === started ? null : `retried (${id}) tells of attempt ${told}, which was ${started}`;
}
