import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';

/** An endpoint that represents all whose body the API reads in the same way, and how to read what it has stored. */
export interface Reader {
  method: string;
  /** Below /api/v1; `:spaceId` is a space of the request's own, and `:jobId` a running job in it. */
  path: string;
  type: string;
  /** Largest body in bytes, on the wire and inflated; null when the endpoint reads no body. */
  limits: readonly [wire: number, inflated: number] | null;
  /** Bodies that it accepts; `:jobId` in a text is replaced by the ID of the job. */
  bodies: fc.Arbitrary<unknown>;
  /** Path of what it changes. */
  changes: string;
  /** Return the part of a body that is stored. */
  sent(body: Json): unknown;
  /** Return the same part of what `changes` shows. */
  stored(state: Json): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: any JSON, some of it drawn
type Json = any;

const MB = 1_048_576;

/** One unit of UTF-16. Some are lone surrogates. */
const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code));
const text = fc.string({ unit });
const json = fc.jsonValue({ stringUnit: unit });
const newJob = fc.record({ name: fc.constant('work'), payload: fc.dictionary(text, json, { noNullPrototype: true }) });
const logs = fc.array(text, { minLength: 1 });

const OF_JOB = { method: 'POST', type: 'application/json', changes: '/jobs/:jobId' };
const OF_SPACE = { method: 'POST', type: 'application/json', changes: '/spaces/:spaceId/jobs?status=pending' };

const CREATE = {
  ...{ ...OF_SPACE, path: '/spaces/:spaceId/jobs' },
  sent: (body: Json) =>
    [body]
      .flat()
      .map((job) => JSON.stringify(Object(job).payload ?? null))
      .sort(),
  stored: (jobs: Json) => jobs.map(({ payload }: Json) => JSON.stringify(payload)).sort(),
};
const COMPLETE = {
  ...{ ...OF_JOB, path: '/jobs/:jobId/complete' },
  sent: (body: Json) => Object(body).result ?? null,
  stored: (job: Json) => job.result,
};
/** Return a message as it is stored. */
const wellFormed = (message: Json) => (typeof message === 'string' ? message.toWellFormed() : message);

const APPEND = {
  ...{ ...OF_JOB, path: '/jobs/:jobId/logs', changes: '/jobs/:jobId/logs', limits: [MB, 5 * MB] as const },
  sent: (body: Json) => [Object(body).logs ?? body].flat().map((entry) => wellFormed(Object(entry).message ?? entry)),
  stored: (page: Json) => page.logs.map(({ message }: Json) => message),
};

export const READERS: readonly Reader[] = [
  { ...CREATE, limits: [MB, MB], bodies: newJob },
  { ...CREATE, limits: [5 * MB, 5 * MB], bodies: fc.array(newJob, { minLength: 1, maxLength: 3 }) },
  { ...COMPLETE, limits: [MB, MB], bodies: fc.record({ result: json }) },
  {
    ...{ ...COMPLETE, path: '/spaces/:spaceId/jobs/settle', limits: [5 * MB, 5 * MB] },
    bodies: json.map((result) => ({ outcomes: [{ jobId: ':jobId', action: 'complete', result }] })),
    sent: (body) => COMPLETE.sent(Object(body).outcomes?.[0]),
  },
  {
    ...{ ...OF_JOB, path: '/jobs/:jobId/checkpoint', limits: [MB, MB], bodies: json },
    sent: (body) => body ?? null,
    stored: (job) => job.events.findLast(({ type }: Json) => type === 'checkpoint')?.data,
  },
  { ...APPEND, bodies: fc.oneof(logs, fc.record({ logs })) },
  { ...APPEND, bodies: logs, type: 'application/x-ndjson' },
  {
    ...{ ...OF_JOB, method: 'GET', path: '/jobs/:jobId', limits: null, bodies: json },
    ...{ sent: () => null, stored: () => null },
  },
];

/** Write a body as its endpoint reads it. */
export function writeBody({ type }: Reader, body: unknown, jobId: string): Buffer {
  const isLines = type === 'application/x-ndjson';
  const written = isLines ? (body as unknown[]).map((line) => JSON.stringify(line)).join('\n') : JSON.stringify(body);
  return Buffer.from(written.replaceAll(':jobId', jobId));
}

/** Read a body as the documentation says. @returns null for one that must be refused */
export function readBody({ limits, type }: Reader, wire: Buffer, isGzip: boolean): { value: unknown } | null {
  const [most, maxOutputLength] = limits ?? [0, 0];
  if (wire.length > most) return null;
  try {
    const bytes = isGzip && wire.length > 0 ? gunzipSync(wire, { maxOutputLength }) : wire;
    const read = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (type === 'application/json') return { value: read === '' ? undefined : JSON.parse(read) };
    const lines = read.split('\n').filter((line) => /[^ \t\r]/.test(line));
    return { value: lines.map((line) => JSON.parse(line)) };
  } catch {
    return null;
  }
}
