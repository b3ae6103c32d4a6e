import { isDeepStrictEqual } from 'node:util';
import type { HttpClient } from '../support/http.js';
import type { JsonRecord } from './fault.js';
import type { Place } from './request.js';
import { ADMIN_KEY } from './service.js';

export interface Taken {
  http: HttpClient;
  jobId: string;
  /** Where the job was. */
  place: Place;
  /** What the body said. */
  value: unknown;
  /** What the service answered. */
  answer: JsonRecord;
}

type Complaints = Promise<string[]>;

/** Equal to the order of keys, as JSON reads both. */
const same = (a: unknown, b: unknown) =>
  JSON.stringify(a) === JSON.stringify(b) &&
  isDeepStrictEqual(JSON.parse(JSON.stringify(a ?? null)), JSON.parse(JSON.stringify(b ?? null)));

const compared = (what: string, is: unknown, was: unknown): string[] =>
  same(is, was)
    ? []
    : [`${what} reads back as ${JSON.stringify(is)?.slice(0, 200)} and was ${JSON.stringify(was)?.slice(0, 200)}`];

async function read({ http }: Taken, path: string): Promise<JsonRecord> {
  const { status, body, text } = await http.call('GET', `/api/v1${path}`, { key: ADMIN_KEY });
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text.slice(0, 300)}`);
  return body;
}

const jobOf = (taken: Taken) =>
  read(taken, `/jobs/${taken.jobId}`) as Promise<JsonRecord & { events: { type: string; data: JsonRecord }[] }>;

const pick = (from: JsonRecord, like: JsonRecord) =>
  Object.fromEntries(Object.keys(like).map((name) => [name, from[name]]));

const event = (type: string) => async (taken: Taken) => {
  const { events } = await jobOf(taken);
  const last = events.at(-1);
  return last?.type === type ? compared('data', last.data, taken.value) : [`the last event is ${last?.type}`];
};

const inStatus = (status: string) => async (taken: Taken) => compared('status', (await jobOf(taken)).status, status);

async function logs(taken: Taken): Complaints {
  const { answer, jobId, value } = taken;
  const entries = value as JsonRecord[];
  const { inserted, fromSeq, toSeq } = answer as Record<string, number>;
  const stored = (await read(taken, `/jobs/${jobId}/logs?after=${(fromSeq as number) - 1}&limit=500`))
    .logs as JsonRecord[];
  return [
    ...compared('inserted', [inserted, (toSeq as number) - (fromSeq as number) + 1], [entries.length, entries.length]),
    ...entries.slice(0, 500).flatMap((entry, i) => compared(`logs[${i}]`, pick(stored[i] ?? {}, entry), entry)),
  ];
}

async function created(taken: Taken): Complaints {
  const value = taken.value as JsonRecord;
  const job = await jobOf({ ...taken, jobId: taken.answer.id as string });
  return [...compared('the answer', pick(taken.answer, value), value), ...compared('the job', pick(job, value), value)];
}

async function killed(taken: Taken): Complaints {
  const { status, events } = await jobOf(taken);
  const last = events.findLast(({ type }) => type === 'killed');
  // What a second kill says is not kept.
  return [
    ...compared('status', status, 'killed'),
    ...(taken.place === 'killed' ? [] : compared('reason', last?.data.reason, taken.value)),
  ];
}

async function failed(taken: Taken): Complaints {
  const { status, events } = await jobOf(taken);
  return [...compared('status', status, 'pending'), ...compared('error', events.at(-1)?.data.error, taken.value)];
}

/** How what was taken is to be found again, by endpoint. */
export const READ_BACK: Record<string, (taken: Taken) => Complaints> = {
  'POST /api/v1/spaces/:spaceId/jobs': created,
  'POST /api/v1/spaces/:spaceId/jobs/poll': async ({ answer }) =>
    Array.isArray(answer.jobs) && answer.jobs.length <= 50 ? [] : ['no jobs'],
  'POST /api/v1/jobs/:jobId/ack': inStatus('running'),
  'POST /api/v1/jobs/:jobId/progress': async (taken) =>
    compared('progress', (await read(taken, `/jobs/${taken.jobId}/progress`)).progress, taken.value),
  'POST /api/v1/jobs/:jobId/keepalive': inStatus('running'),
  'POST /api/v1/jobs/:jobId/checkpoint': event('checkpoint'),
  'POST /api/v1/jobs/:jobId/event': event('event'),
  'POST /api/v1/jobs/:jobId/logs': logs,
  'POST /api/v1/jobs/:jobId/complete': async (taken) => compared('result', (await jobOf(taken)).result, taken.value),
  'POST /api/v1/jobs/:jobId/fail': failed,
  'POST /api/v1/jobs/:jobId/claim': async ({ answer, place }) =>
    compared('claimed', answer.claimed, place === 'pending'),
  'POST /api/v1/jobs/:jobId/kill': killed,
  'POST /api/v1/keys': async ({ answer, value, http }) => {
    // None is kept: their list would grow with the run.
    await http.call('DELETE', `/api/v1/keys/${answer.id}`, { key: ADMIN_KEY });
    return compared('the answer', pick(answer, value as JsonRecord), value);
  },
};
