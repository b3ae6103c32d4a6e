import type { Status } from '@yardmaster/protocol';
import { type PromiseId, ruleForEachJob } from './rule.js';

/** What a job that is left over shows. A pending one stands in no queue that workers poll, or is forgotten there. */
const BROKEN: Partial<Record<Status, PromiseId>> = { pending: 'P1', delivered: 'P4', running: 'P4' };

/** Once a fault is healed all work comes to its end: workers poll, and what they drop comes back (P4). */
export const drained = ruleForEachJob('drained', 'P4', ({ job, calls }, { dump }) => {
  const promise = BROKEN[job.status];
  if (promise === undefined) return [];
  const isOverdue = job.deadline !== null && job.deadline < dump.at;
  const since = isOverdue ? `, and overdue by ${dump.at - (job.deadline as number)} ms` : '';
  const lines = calls.slice(-5).map(({ line }) => line);
  return [{ promise, damage: 'late', says: `it is still ${job.status} in the end${since}`, lines }];
});
