import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from '@jest/globals';
import type { LogEntry, LogLevel } from '@yardmaster/protocol';
import type { Answer, CallOptions } from '../support/http.js';
import { ADMIN_KEY, type TestService } from '../support/service.js';

// How batches of logs are written, and what they must read as.

/** One entry as a worker sends it (§4.12). */
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

/** The formats of §4.12, made of entries that are JSON text already, since a value could not say all that text can. */
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

/** The encodings of §4.12. */
export const ENCODINGS = { identity: (batch: Batch) => batch, gzip: gzipped };
export type Encoding = keyof typeof ENCODINGS;
export const ENCODING_NAMES = Object.keys(ENCODINGS) as Encoding[];

/** Every form that an entry may have, in turn. */
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

/** As many entries, of every form in turn, no two alike. */
export const entriesOf = (count: number): Entry[] =>
  Array.from({ length: count }, (_, n) => (SHAPES[n % SHAPES.length] as (typeof SHAPES)[number])(n));

/** What entries must read as; what they leave out has its default. */
export function asRead(jobId: string, entries: readonly Entry[], createdAt: string, fromSeq = 1): LogEntry[] {
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

export const append = (service: TestService, id: string, batch: CallOptions): Promise<Answer> =>
  service.call('POST', `/jobs/${id}/logs`, batch);

/** The answer to a batch that was stored. */
export const appended = (inserted: number, fromSeq = 1) => ({
  status: 200,
  body: { success: true, inserted, fromSeq, toSeq: fromSeq + inserted - 1 },
});

/** Append what must be taken; the job's next seq is `fromSeq`. */
export async function appendOk(service: TestService, id: string, entries: readonly Entry[], fromSeq = 1) {
  const { status, body } = await append(service, id, { body: entries });
  expect({ status, body }).toEqual(appended(entries.length, fromSeq));
}

/** All entries of a job that are kept, read page by page from the oldest. */
export async function readLogs(service: TestService, id: string, limit = 500): Promise<LogEntry[]> {
  const logs: LogEntry[] = [];
  for (let after = 0; ; ) {
    const { status, body, text } = await service.call('GET', `/jobs/${id}/logs?after=${after}&limit=${limit}`);
    if (status !== 200) throw new Error(`logs not read: ${text}`);
    logs.push(...body.logs);
    if (!body.cursor.hasMore) return logs;
    if (body.cursor.newestSeq <= after) throw new Error(`paging does not go on: ${JSON.stringify(body.cursor)}`);
    after = body.cursor.newestSeq;
  }
}

/** Expect that a job holds just these entries, which came in one batch. */
export async function expectStored(service: TestService, id: string, entries: readonly Entry[], limit?: number) {
  const logs = await readLogs(service, id, limit);
  expect(logs).toEqual(asRead(id, entries, logs[0]?.createdAt as string));
}

/** Where Redis keeps the entries of a job. */
export const logsKey = ({ prefix }: TestService, id: string) => `${prefix}:{${id.slice(0, 2)}}:job:${id}:logs`;

/** Send a batch as chunks of so many bytes, each written when the one before is on its way. */
export function appendInPieces(service: TestService, id: string, { raw, headers }: Batch, size: number) {
  const bytes = Buffer.from(raw as Buffer);
  return new Promise<number>((resolve, reject) => {
    const request = http.request(`${service.url}/api/v1/jobs/${id}/logs`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, ...headers },
      agent: false,
    });
    request.on('error', reject);
    request.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)));
    const send = (from: number) => {
      if (from >= bytes.length) request.end();
      else request.write(bytes.subarray(from, from + size), () => send(from + size));
    };
    send(0);
  });
}
