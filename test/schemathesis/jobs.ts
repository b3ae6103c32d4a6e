import { ROUTES } from '@yardmaster/api';
import { STATUSES, type Status, TRANSITIONS, type Trigger } from '@yardmaster/protocol';
import { jobIn } from '../support/jobs.js';
import type { TestService } from '../support/service.js';

/** The space in generated paths; polls there claim its jobs. */
export const SPACE_ID = 'demo';

const POLLED = 100;

/** The space of jobs for calls that name a job, so that no poll claims them. */
const APART = 'apart';

/** A URL that gets no request, because no scheduler runs. */
const CALLBACK = { callbackUrl: 'http://127.0.0.1:9/' };

/** Jobs that an operation uses up, in its only status or in each of several; and those that it does not. */
const [USED_UP, USED_UP_EACH, KEPT] = [80, 30, 10];

/** Return how many jobs a transition needs in each status that it moves on. */
function countsFor(trigger: Trigger): Partial<Record<Status, number>> {
  const rows = TRANSITIONS.filter((row) => row.trigger === trigger);
  const statuses = [...new Set(rows.flatMap(({ from }) => from))];
  const isKept = rows.every(({ from, to }) => from.includes(to));
  const count = isKept ? KEPT : statuses.length === 1 ? USED_UP : USED_UP_EACH;
  return Object.fromEntries(statuses.map((status) => [status, count]));
}

/** Number of jobs per status that only one operation uses, so that no other operation changes them first. */
const OF_THEIR_OWN: Record<string, Partial<Record<Status, number>>> = {
  ...Object.fromEntries(
    ROUTES.flatMap(({ operation, path, trigger }) =>
      trigger !== undefined && path.includes(':jobId') ? [[operation, countsFor(trigger)]] : [],
    ),
  ),
  redeliverCallback: { completed: 10, dead: 10 },
  deleteJob: { completed: 10, dead: 10, killed: 10 },
};

/** Ids of jobs by operation; those of '' are for all other operations. */
export type Jobs = Record<string, string[]>;

/** Create jobs of every status for every operation, and many in the statuses in which it succeeds. */
export async function createJobs(service: TestService): Promise<Jobs> {
  for (let i = 0; i < POLLED; i++) await jobIn(service, 'pending', SPACE_ID);
  const jobs: Jobs = {};
  for (const [operation, counts] of Object.entries({ '': {}, ...OF_THEIR_OWN }))
    jobs[operation] = await jobsOf(service, counts);
  return jobs;
}

async function jobsOf(service: TestService, counts: Partial<Record<Status, number>>): Promise<string[]> {
  const ids: string[] = [];
  for (const status of STATUSES) {
    for (let i = 0; i < (counts[status] ?? 0); i++) ids.push(await jobIn(service, status, APART, CALLBACK));
    ids.push(await jobIn(service, status, APART)); // Most operations refuse most of these statuses.
  }
  return ids;
}
