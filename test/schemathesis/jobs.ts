import { STATUSES, type Status } from '@yardmaster/protocol';
import { jobIn } from '../support/jobs.js';
import type { TestService } from '../support/service.js';

/** The space that paths name; whoever polls there takes its jobs. */
export const SPACE_ID = 'demo';

const POLLED = 100;

/** The jobs for what names a job are elsewhere, so that no poll takes them. */
const APART = 'apart';

/** Never sent to: there is no scheduler. */
const CALLBACK = { callbackUrl: 'http://127.0.0.1:9/' };

/** Jobs for an operation alone, so that no other moves them on before it is their turn: how many of which status. */
const OF_THEIR_OWN: Record<string, Partial<Record<Status, number>>> = {
  claimJob: { pending: 80 },
  ackJob: { delivered: 80 },
  reportProgress: { running: 10 },
  checkpointJob: { running: 10 },
  recordEvent: { running: 10 },
  keepJobAlive: { running: 10 },
  completeJob: { running: 80 },
  failJob: { running: 80 },
  killJob: { pending: 30, delivered: 30, running: 30 },
  redeliverCallback: { completed: 10, dead: 10 },
};

/** Jobs by the operation that they are for; those of '' are for all others. */
export type Jobs = Record<string, string[]>;

/** Create jobs of every status for every operation, and many of those that it succeeds on. */
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
    ids.push(await jobIn(service, status, APART)); // In which most operations refuse it.
  }
  return ids;
}
