import type http from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from '@jest/globals';
import type { LogEntry, LogLevel } from '@yardmaster/protocol';
import type { CallOptions, HttpResponse } from '../support/http.js';
import type { TestService } from '../support/service.js';

// How batches of logs are written, stored, refused and returned.

/** One entry as a worker sends it. */
export type Entry =
  | string
  | { message: string; level?: LogLevel; timestamp?: string; source?: string; metadata?: Record<string, unknown> };

/** A body and its headers. */
export interface Batch extends CallOptions {
  raw: string | Buffer;
  headers: http.OutgoingHttpHeaders;
}

export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export const asJson = (raw: string | Buffer): Batch => ({ raw, headers: { 'content-type': 'application/json' } });
export const asNdjson = (raw: string | Buffer): Batch => ({ raw, headers: { 'content-type': 'application/x-ndjson' } });

/** The formats of a batch, made of entries that are JSON text, because a value cannot express all that text can. */
export const FORMATS = {
  'an array': (texts: readonly string[]) => asJson(`[${texts.join(',')}]`),
  'an object with logs': (texts: readonly string[]) => asJson(`{"logs":[${texts.join(',')}]}`),
  NDJSON: (texts: readonly string[]) => asNdjson(texts.join('\n')),
};

export type Format = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as Format[];

/** Write entries in a format. */
export const written = (format: Format, entries: readonly unknown[]): Batch =>
  FORMATS[format](entries.map((entry) => JSON.stringify(entry)));

export const gzipped = ({ raw, headers }: Batch): Batch => ({
  raw: gzipSync(raw),
  headers: { ...headers, 'content-encoding': 'gzip' },
});

/** Each format in each of its encodings. */
export const FORMS = FORMAT_NAMES.flatMap((format) => [
  { form: format, write: (entries: readonly unknown[]) => written(format, entries) },
  { form: `${format}, gzipped`, write: (entries: readonly unknown[]) => gzipped(written(format, entries)) },
]);

/** Every shape of an entry. */
const SHAPES: readonly ((n: number) => Entry)[] = [
  (n) => `line ${n}`,
  (n) => ({ message: `line ${n}` }),
  (n) => ({ message: `line ${n}`, level: LEVELS[n % LEVELS.length] as LogLevel }),
  (n) => ({ message: `line ${n}`, timestamp: new Date(Date.UTC(2024, 1, 29) + n).toISOString() }),
  (n) => ({ message: `line ${n}`, source: `part-${n}` }),
  (n) => ({ message: `line ${n}`, metadata: { n, of: [null, { n }], name: 'größer' } }),
  (n) => ({
    message: `line ${n}`,
    level: LEVELS[n % LEVELS.length] as LogLevel,
    timestamp: '2024-02-29T23:59:59.999Z',
    source: 'compiler',
    metadata: { n, nothing: {} },
  }),
];

/** Make this many different entries, of each shape in rotation. */
export const entriesOf = (count: number): Entry[] =>
  Array.from({ length: count }, (_, n) => (SHAPES[n % SHAPES.length] as (typeof SHAPES)[number])(n));

/** Return the entries that a batch must be stored as, with defaults and with the `createdAt` of the logs that were read. */
export function asRead(jobId: string, entries: readonly Entry[], logs: readonly LogEntry[], fromSeq = 1): LogEntry[] {
  const createdAt = logs[0]?.createdAt as string;
  return entries.map((entry, i) => {
    const given = typeof entry === 'string' ? { message: entry } : entry;
    return {
      id: `${jobId}.${fromSeq + i}`,
      seq: fromSeq + i,
      level: given.level ?? 'info',
      message: given.message,
      source: given.source ?? 'worker',
      metadata: (given.metadata ?? {}) as LogEntry['metadata'],
      loggedAt: given.timestamp === undefined ? createdAt : new Date(given.timestamp).toISOString(),
      createdAt,
    };
  });
}

export const append = (service: Pick<TestService, 'call'>, id: string, batch: CallOptions): Promise<HttpResponse> =>
  service.call('POST', `/jobs/${id}/logs`, batch);

/** Return the response to a batch that was stored. */
export const appended = (inserted: number, fromSeq = 1) => ({
  status: 200,
  body: { success: true, inserted, fromSeq, toSeq: fromSeq + inserted - 1 },
});

/** Append entries that must be accepted; the job's next seq is `fromSeq`. */
export async function appendOk(
  service: Pick<TestService, 'call'>,
  id: string,
  entries: readonly Entry[],
  fromSeq = 1,
): Promise<void> {
  const { status, body } = await append(service, id, { body: entries });
  expect({ status, body }).toEqual(appended(entries.length, fromSeq));
}

/** Return the key of the log entries of a job. */
export const logsKey = ({ store }: Pick<TestService, 'store'>, id: string) => `${store.keys.job(id)}:logs`;

export interface Refusal {
  status: number;
  code: string;
  error: string;
  details?: { path: string; message: string }[];
}

export const invalid = (error: string): Refusal => ({ status: 400, code: 'INVALID_REQUEST', error });
export const tooLarge = (error: string): Refusal => ({ status: 413, code: 'TOO_LARGE', error });
export const unsupported = (error: string): Refusal => ({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', error });

/** Expect that a batch for a job without logs is refused and that none of it is stored. */
export async function expectRefused(service: TestService, id: string, batch: CallOptions, refusal: Refusal) {
  const { status, body } = await append(service, id, batch);
  expect({ status, ...body }).toEqual(refusal);
  expect(await service.redis.exists(logsKey(service, id))).toBe(0);
}
