import { gzipSync } from 'node:zlib';
import type { AppendedLogs, LogLevel, LogsPage } from '@yardmaster/protocol';
import type { TestService } from '../support/service.js';

/** All that these functions need of a service. */
export type Api = Pick<TestService, 'call'>;

/** An entry as a worker sends it. */
export type Sent =
  | string
  | { message: string; level?: LogLevel; timestamp?: string; source?: string; metadata?: object };

export type Query = Partial<Record<'limit' | 'after' | 'before', number> & Record<'level' | 'q', string>>;

export type Direction = 'forwards' | 'backwards';

/** Of so many entries, 16 KB each, one batch may have 5 MB. */
const BATCH = 250;

/** Append one batch. */
export async function append(service: Api, jobId: string, entries: Sent[]): Promise<AppendedLogs> {
  const raw = gzipSync(JSON.stringify(entries), { level: 1 });
  const headers = { 'content-encoding': 'gzip' };
  const { status, body } = await service.call('POST', `/jobs/${jobId}/logs`, { raw, headers });
  if (status !== 200) throw new Error(`not appended: ${JSON.stringify(body)}`);
  return body;
}

/** A job with these entries, however many: its id. */
export async function jobWithLogs(service: Api, entries: Sent[]): Promise<string> {
  const { status, body } = await service.call('POST', '/spaces/reading/jobs', { body: { name: 'work' } });
  if (status !== 201) throw new Error(`no job: ${JSON.stringify(body)}`);
  for (let from = 0; from < entries.length; from += BATCH)
    await append(service, body.id, entries.slice(from, from + BATCH));
  return body.id;
}

/** The path of a job's logs, with a query as a browser writes it. */
export function logsPath(jobId: string, query: Query = {}): string {
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return `/jobs/${jobId}/logs?${new URLSearchParams(parameters)}`;
}

export async function readLogs(service: Api, jobId: string, query: Query = {}): Promise<LogsPage> {
  const { status, body } = await service.call('GET', logsPath(jobId, query));
  if (status !== 200) throw new Error(`no logs: ${JSON.stringify(body)}`);
  return body;
}

/**
 * Read page after page until there are no more, as any client would: forwards from the oldest entry, or backwards from
 * the newest.
 *
 * @param read reads the page that this bound asks for
 * @returns the pages, in the order in which they were read
 * @throws when a cursor does not get ahead
 */
export async function walk(direction: Direction, read: (bound: Query) => Promise<LogsPage>): Promise<LogsPage[]> {
  const pages: LogsPage[] = [];
  let bound: Query = direction === 'forwards' ? { after: 0 } : {};
  for (;;) {
    const page = await read(bound);
    pages.push(page);
    const { oldestSeq, newestSeq, hasMore } = page.cursor;
    if (!hasMore) return pages;
    const isAhead =
      direction === 'forwards'
        ? newestSeq > (bound.after ?? 0)
        : oldestSeq < (bound.before ?? Number.POSITIVE_INFINITY);
    if (!isAhead) throw new Error(`the cursor stands still: ${JSON.stringify({ bound, cursor: page.cursor })}`);
    bound = direction === 'forwards' ? { after: newestSeq } : { before: oldestSeq };
  }
}

/** All entries of some pages, ascending when they were read in that direction. */
export function entriesOf(pages: LogsPage[], direction: Direction): LogsPage['logs'] {
  return (direction === 'forwards' ? pages : pages.toReversed()).flatMap(({ logs }) => logs);
}

export const seqsOf = (logs: LogsPage['logs']) => logs.map(({ seq }) => seq);

/** Whole numbers from one to another, both among them. */
export const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
