import type { LogEntry, LogsPage } from '@yardmaster/protocol';
import type { TestService } from '../support/service.js';
import { type Entry, gzipped, written } from './entries.js';

/** All that these functions need of a service. */
type Api = Pick<TestService, 'call'>;

export type Query = Partial<Record<'limit' | 'after' | 'before', number> & Record<'level' | 'q', string>>;

/** Of so many entries, 16 KB each, one batch may have 5 MB. */
const BATCH = 300;

/** Create a job with these entries, however many, and return its id. */
export async function jobWithLogs(service: Api, entries: readonly Entry[]): Promise<string> {
  const job = await service.call('POST', '/spaces/reading/jobs', { body: { name: 'work' } });
  if (job.status !== 201) throw new Error(`no job: ${job.text}`);
  for (let from = 0; from < entries.length; from += BATCH) {
    const batch = gzipped(written('NDJSON', entries.slice(from, from + BATCH)));
    const { status, text } = await service.call('POST', `/jobs/${job.body.id}/logs`, batch);
    if (status !== 200) throw new Error(`not appended: ${text}`);
  }
  return job.body.id;
}

/** A query as a browser writes it. */
export const queryText = (query: Query): string =>
  `${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]))}`;

/** Read one page. */
export async function readPage(service: Api, jobId: string, query: Query | string = {}): Promise<LogsPage> {
  const text = typeof query === 'string' ? query : queryText(query);
  const { status, body } = await service.call('GET', `/jobs/${jobId}/logs?${text}`);
  if (status !== 200) throw new Error(`no logs: ${JSON.stringify(body)}`);
  return body;
}

export type Direction = 'forwards' | 'backwards';

/**
 * Read page after page until there are no more, as any client would: forwards from the oldest entry, or backwards from
 * the newest.
 *
 * @param read reads the page that this bound asks for
 * @param start seq after which to read, when forwards
 * @returns all entries, ascending if each page is and follows the one before
 * @throws when a cursor leads back to a page that was read
 */
export async function walk(
  direction: Direction,
  read: (bound: Query) => Promise<LogsPage>,
  start = 0,
): Promise<LogEntry[]> {
  const pages: LogEntry[][] = [];
  const asked = new Set<string>();
  for (let bound: Query = direction === 'forwards' ? { after: start } : {}; ; ) {
    if (asked.has(queryText(bound))) throw new Error(`paging does not get ahead of ${queryText(bound)}`);
    asked.add(queryText(bound));
    const { logs, cursor } = await read(bound);
    pages.push(logs);
    if (!cursor.hasMore) return (direction === 'forwards' ? pages : pages.reverse()).flat();
    bound = direction === 'forwards' ? { after: cursor.newestSeq } : { before: cursor.oldestSeq };
  }
}

/** Read all entries of a job that are kept, after a seq. */
export const readLogs = (service: Api, jobId: string, after = 0): Promise<LogEntry[]> =>
  walk('forwards', (bound) => readPage(service, jobId, { limit: 500, ...bound }), after);

export const seqsOf = (logs: readonly LogEntry[]) => logs.map(({ seq }) => seq);
export const messagesOf = (logs: readonly LogEntry[]) => logs.map(({ message }) => message);

/** Whole numbers from one to another, both among them. */
export const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
