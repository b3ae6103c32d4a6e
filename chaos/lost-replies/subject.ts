import { isTerminal, listJobsQuery, SCOPES } from '@yardmaster/protocol';
import { ANY_SPACE, createKey, getJob, listJobs, readLogs, type Store } from '@yardmaster/store';
import { until } from '../../test/support/until.js';
import { ALL_LOGS } from '../checker/dump.js';
import { bringJob, type Step } from '../load/own-jobs.js';
import type { FaultContext } from '../runs/fault.js';
import { OTHER } from './trial.js';

/** The space of a trial, and the job in it. */
export interface Subject {
  n: number;
  spaceId: string;
  jobId: string | null; // Null before its creation.
  token: string | null; // Delivery token of the job, if the calls of the trial send it.
}

/** The state of a job before its trial. */
export interface Start {
  maxRetries?: number; // Default 3.
  hasCallback?: true;
  key?: 'idempotency' | 'unique'; // Key with which the job is created; only for a create.
  withToken?: true; // Whether the call sends the delivery token.
  before: readonly Step[] | null; // Calls after its creation; null for no job.
}

export const CLIENT = 'loser';

/** Create a job in this state, through the API that loses nothing. */
export async function bring(context: FaultContext, start: Start, n: number): Promise<Subject> {
  const { before, maxRetries = 3, hasCallback, withToken } = start;
  const spaceId = `lost-${n}`;
  if (before === null) return { n, spaceId, jobId: null, token: null };
  const { store } = context.installation;
  const receiving = hasCallback ? ('responds' as const) : undefined;
  const own = { client: CLIENT, name: 'lost', spaceId, n, api: OTHER, maxRetries, receiving };
  const jobId = await bringJob(context, own, ...before);
  const isCalledBack = async () =>
    (await getJob(store, ANY_SPACE, jobId)).events.some(({ type }) => type === 'callback_sent');
  if (hasCallback) await until(isCalledBack, 60_000); // Afterwards, nothing changes the job.
  const token = withToken ? tokenOf(context, jobId) : null;
  return { n, spaceId, jobId, token };
}

/** Return the delivery token of the latest claim of a job. */
const tokenOf = ({ history }: FaultContext, of: string): string =>
  history.ofKind('call').findLast(({ op, jobId, outcome }) => op === 'claim' && jobId === of && outcome === 'ok')?.body
    .job.deliveryToken;

const jobsIn = async (store: Store, spaceId: string) =>
  (await listJobs(store, ANY_SPACE, spaceId, listJobsQuery.parse({ limit: '10' }))).jobs;

/** Read all jobs of a space, with events and logs. */
export async function storedJobs(store: Store, spaceId: string) {
  return Promise.all(
    (await jobsIn(store, spaceId)).map(async ({ id }) => ({
      ...(await getJob(store, ANY_SPACE, id)),
      logs: (await readLogs(store, ANY_SPACE, id, ALL_LOGS)).logs,
    })),
  );
}

/** Kill the jobs that have not ended, because no worker polls the spaces of trials. */
export async function endAll({ call, installation }: FaultContext, spaceId: string): Promise<void> {
  for (const { id, status } of await jobsIn(installation.store, spaceId)) {
    if (!isTerminal(status))
      await call({ client: CLIENT, op: 'kill', jobId: id, sent: { reason: `end of ${id}` }, api: OTHER });
  }
}

/** The key of a trial. */
export interface TrialKey {
  id: string;
  name: string;
  text: string; // The text that clients send.
}

/** Create a key without an API. */
export async function makeKey({ installation: { store } }: FaultContext, n: number): Promise<TrialKey> {
  const name = `lost-${n}`;
  const { id, key } = await createKey(store, { name, scopes: [...SCOPES], spaceId: null, expiresAt: null });
  return { id, name, text: key };
}
