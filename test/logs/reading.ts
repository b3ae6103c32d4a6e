import type { LogEntry, LogsPage } from '@yardmaster/protocol';
import type { TestService } from '../support/service.js';
import { type Entry, gzipped, written } from './entries.js';

/** The part of a service that these functions use. */
type Api = Pick<TestService, 'call'>;

export type Query = Partial<Record<'limit' | 'after' | 'before', number> & Record<'level' | 'q', string>>;

/** Entries per batch: 300 of 16 KB stay below the limit of 5 MB. */
const BATCH = 300;

/** Create a job with any number of log entries, and return its id. */
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

/** Encode a query as a browser does. */
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
 * Read all pages, as a client does: forward from the oldest entry, or backward from the newest.
 *
 * @param read reads the page at a bound
 * @param start seq after which to read, when forwards
 * @returns all entries; they ascend if each page ascends and follows the previous one
 * @throws when a cursor leads back to a page that was read
 */
export async function walk(
  direction: Direction,
  read: (bound: Query) => Promise<LogsPage>,
  start = 0,
): Promise<LogEntry[]> {
  const pages: LogEntry[][] = [];
  const requested = new Set<string>();
  for (let bound: Query = direction === 'forwards' ? { after: start } : {}; ; ) {
    if (requested.has(queryText(bound))) throw new Error(`paging does not advance beyond ${queryText(bound)}`);
    requested.add(queryText(bound));
    const { logs, cursor } = await read(bound);
    pages.push(logs);
    if (!cursor.hasMore) return (direction === 'forwards' ? pages : pages.reverse()).flat();
    bound = direction === 'forwards' ? { after: cursor.newestSeq } : { before: cursor.oldestSeq };
  }
}

/** Read all stored log entries of a job after a seq. */
export const readLogs = (service: Api, jobId: string, after = 0): Promise<LogEntry[]> =>
  walk('forwards', (bound) => readPage(service, jobId, { limit: 500, ...bound }), after);

export const seqsOf = (logs: readonly LogEntry[]) => logs.map(({ seq }) => seq);
export const messagesOf = (logs: readonly LogEntry[]) => logs.map(({ message }) => message);

/** List the whole numbers from one to another, both included. */
export const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
