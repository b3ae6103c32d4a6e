import { type Status, statusAfter, TRANSITIONS } from '@yardmaster/protocol';
import { ruleForEachJob, type Said } from './rule.js';

/** The history of a job is a walk through the table of transitions, from its birth to the status that it has (P3). */
export const transitions = ruleForEachJob('transitions', 'P3', ({ job }) => {
  const [first, ...rest] = job.events;
  if (first?.type !== 'created') return [{ says: `its history begins with ${first?.type}` }];
  let status: Status = 'pending';
  const found: Said[] = [];
  for (const { type, id } of rest) {
    const to = statusAfter(type);
    if (to === null) continue; // Callbacks move nothing.
    const isLegal = TRANSITIONS.some(({ event, from }) => event === type && from.includes(status));
    if (!isLegal) found.push({ says: `${type} (${id}) while it was ${status}` });
    status = to;
  }
  if (status !== job.status) found.push({ says: `it is ${job.status}, its history says ${status}` });
  return found;
});
