import { isDeepStrictEqual } from 'node:util';
import type { Ground } from '../fault.js';
import { runsOrSends } from '../scripts.js';
import { type Asked, ask, refusalFault } from './asked.js';
import { LOSING, type Loss, type LostReply, lieInWait, OTHER, type Trial, teller } from './lost-reply.js';
import { bring, callFor, endAll, type Start, type Subject, stateOf } from './subject.js';

/** A call that reads: it is refused, changes nothing, and tells the same as ever when it is made again. */
export interface Read {
  endpoint: string;
  runs: string;
  isLater?: true;
  before: NonNullable<Start['before']>;
  /** Events that are reported then, at once. Default none. */
  events?: number;
  path(subject: Subject): string;
  /** What of the answer is looked at, and what it is. */
  told(body: Asked['body']): unknown;
  is: unknown;
}

/** Events beyond which a history is read in several steps, and some more. */
const LONG = 110;

const RUNNING: Read['before'] = [
  ['claim'],
  ['ack'],
  ['progress', { percent: 10, message: 'to be read' }],
  ['logs', ['one to be read', 'another']],
];

/** Of created, delivered, acked and progress. */
const EVENTS = 4;

/** Every endpoint that reads jobs, with each script or command that it needs. */
export const READS: readonly Read[] = [
  {
    endpoint: 'getJob',
    runs: 'get',
    before: RUNNING,
    path: ({ jobId }) => `/jobs/${jobId}`,
    told: ({ status, events }) => [status, events?.length],
    is: ['running', EVENTS],
  },
  {
    endpoint: 'getJob',
    runs: 'history',
    isLater: true,
    before: RUNNING,
    events: LONG,
    path: ({ jobId }) => `/jobs/${jobId}`,
    told: ({ status, events }) => [status, events?.length],
    is: ['running', EVENTS + LONG],
  },
  {
    endpoint: 'getProgress',
    runs: 'hmget',
    before: RUNNING,
    path: ({ jobId }) => `/jobs/${jobId}/progress`,
    told: ({ progress }) => progress?.message,
    is: 'to be read',
  },
  {
    endpoint: 'readLogs',
    runs: 'read_logs',
    before: RUNNING,
    path: ({ jobId }) => `/jobs/${jobId}/logs`,
    told: ({ logs }) => logs?.map(({ message }: { message: string }) => message),
    is: ['one to be read', 'another'],
  },
  {
    endpoint: 'listJobs',
    runs: 'list',
    before: RUNNING,
    path: ({ spaceId }) => `/spaces/${spaceId}/jobs`,
    told: (jobs) => jobs?.map?.(({ status }: { status: string }) => status),
    is: ['running'],
  },
  {
    endpoint: 'getStats',
    runs: 'stats',
    before: RUNNING,
    path: ({ spaceId }) => `/spaces/${spaceId}/stats`,
    told: ({ jobs }) => jobs?.running,
    is: 1,
  },
];

/** The same, to be tried. */
export const LOST_READS: readonly LostReply[] = READS.map((read) => ({
  endpoint: read.endpoint,
  runs: read.runs,
  at: 'api',
  ...(read.isLater && { isLater: true }),
  begin: (ground, n, loss) => beginRead(ground, read, { n, loss }),
}));

async function beginRead(ground: Ground, read: Read, { n, loss }: { n: number; loss: Loss }): Promise<Trial> {
  const { store } = ground.installation;
  const subject = await bring(ground, read, n);
  const { spaceId, jobId } = subject;
  const events = Array.from({ length: read.events ?? 0 }, (_, i) => ({ token: `read-${n}-${i}` }));
  await Promise.all(events.map((sent) => callFor(ground, { op: 'event', subject, sent, api: OTHER })));
  const request = { method: 'GET', path: read.path(subject) };
  const about = request.path.includes(spaceId) ? spaceId : (jobId as string);
  const before = await stateOf(store, spaceId);
  const lost = lieInWait(ground, 'api', { to: runsOrSends(read.runs, about), loss });
  const tell = teller(ground, read);
  let first: Asked;
  return {
    async send() {
      first = await ask(ground, LOSING, request);
    },
    async judge() {
      lost.disarm();
      if (lost.at === null) tell('no reply was lost', { jobId });
      const fault = refusalFault(first);
      if (fault !== null) tell(fault, { jobId });
      if (!isDeepStrictEqual(await stateOf(store, spaceId), before)) tell('it changed the job', { jobId });
      for (const api of [LOSING, OTHER]) {
        const { status, body } = await ask(ground, api, request);
        if (status !== 200 || !isDeepStrictEqual(read.told(body ?? {}), read.is))
          tell(`the same call again was answered ${status} ${JSON.stringify(read.told(body ?? {}))}`, { jobId });
      }
      await endAll(ground, spaceId);
    },
  };
}
