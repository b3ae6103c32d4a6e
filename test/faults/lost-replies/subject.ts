import { ANY_SPACE, getJob, listJobs, readLogs, type Store } from '@yardmaster/store';
import { until } from '../../support/until.js';
import type { Ground } from '../fault.js';
import type { Call, Operation } from '../history.js';
import { OTHER } from './lost-reply.js';

/** A space that is a trial's own, and the job in it. */
export interface Subject {
  n: number;
  spaceId: string;
  /** Null before its creation. */
  jobId: string | null;
}

/** How far its job is brought. */
export interface Start {
  /** What the job is created with. */
  fields?: { maxRetries?: number; hasCallback?: true };
  /** Calls that are made then; null: there is no job. */
  before: readonly [op: Operation, sent?: unknown][] | null;
}

export const CLIENT = 'loser';

/** Windows in which nothing of a trial runs out. */
const TIMEOUT_SECONDS = 60;

/** Lead a job to where a row has it, through the API that loses nothing. */
export async function bring(ground: Ground, { fields, before }: Start, n: number): Promise<Subject> {
  const subject: Subject = { n, spaceId: `lost-${n}`, jobId: null };
  if (before === null) return subject;
  subject.jobId = (await callFor(ground, { op: 'create', fields, subject, api: OTHER })).jobId;
  for (const [op, sent] of before) await callFor(ground, { op, subject, sent, api: OTHER });
  if (fields?.hasCallback) await until(() => isCalledBack(ground, subject));
  return subject;
}

/** Whether its callback is sent, and nothing happens to it by itself any more. */
async function isCalledBack({ installation: { store } }: Ground, { jobId }: Subject): Promise<boolean> {
  const { events } = await getJob(store, ANY_SPACE, jobId as string);
  return events.some(({ type }) => type === 'callback_sent');
}

/** A call of a row, by one API. */
export interface SubjectCall {
  op: Operation;
  subject: Subject;
  fields?: Start['fields'] | undefined;
  sent?: unknown;
  api: number;
  /** Default the installation's. */
  key?: string;
}

/** Make a call about a job, its space, or that creates it. */
export function callFor(ground: Ground, { op, subject, fields, sent, ...how }: SubjectCall): Promise<Call> {
  const { n, spaceId, jobId } = subject;
  if (op === 'create') return ground.call({ client: CLIENT, op, spaceId, sent: creationOf(ground, n, fields), ...how });
  const about = op === 'poll' ? { spaceId } : { jobId: jobId as string };
  return ground.call({ client: CLIENT, op, ...about, sent, ...how });
}

function creationOf({ load }: Ground, n: number, { hasCallback, maxRetries = 3 }: Start['fields'] = {}) {
  const callbackUrl = hasCallback ? { callbackUrl: load.callbackUrl(n) } : {};
  return { name: 'lost', payload: { n }, maxRetries, timeoutSeconds: TIMEOUT_SECONDS, ...callbackUrl };
}

const NEWEST = { mode: 'latest', bound: null, limit: 10, levels: null } as const;

/** Messages of the newest logs. */
export async function logsOf(store: Store, jobId: string): Promise<string[]> {
  const { logs } = await readLogs(store, ANY_SPACE, jobId, { ...NEWEST, terms: [] });
  return logs.map(({ message }) => message);
}

const PAGE = { limit: 10, offset: 0 };

export const jobsIn = (store: Store, spaceId: string) => listJobs(store, spaceId, PAGE);

/** All that is stored of a space's jobs. */
export async function stateOf(store: Store, spaceId: string): Promise<unknown[]> {
  const listed = await jobsIn(store, spaceId);
  return Promise.all(
    listed.map(async ({ id }) => ({ job: await getJob(store, ANY_SPACE, id), logs: await logsOf(store, id) })),
  );
}

/** No worker polls the spaces of this fault, so what is open in them is killed. */
export async function endAll({ call, installation }: Ground, spaceId: string): Promise<void> {
  for (const { id, status } of await jobsIn(installation.store, spaceId)) {
    const isOpen = status === 'pending' || status === 'delivered' || status === 'running';
    if (isOpen) await call({ client: CLIENT, op: 'kill', jobId: id, sent: { reason: `end of ${id}` }, api: OTHER });
  }
}
