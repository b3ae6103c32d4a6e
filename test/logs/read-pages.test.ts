import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { jobWithLogs, logsPath, type Query, range, readLogs, seqsOf } from './reading.js';

let service: TestService;
/** Entries 1 to 10, the even ones of level warn. */
let ten: string;
let empty: string;

beforeAll(async () => {
  service = await startService({}, { app: createApi });
  ten = await jobWithLogs(
    service,
    range(1, 10).map((n) => ({ message: `entry ${n}`, level: n % 2 === 0 ? 'warn' : 'info' })),
  );
  empty = await jobWithLogs(service, []);
});
afterAll(() => service.stop());

/** A page, as the seqs on it and its cursor. */
async function pageOf(jobId: string, query: Query) {
  const { logs, cursor, ...others } = await readLogs(service, jobId, query);
  return { seqs: seqsOf(logs), ...cursor, ...others };
}

interface Row {
  query: Query;
  seqs: number[];
  hasMore: boolean;
  /** On a page without entries: the bound that was asked for. Default 0. */
  bound?: number;
}

const expected = (mode: string, { seqs, hasMore, bound = 0 }: Row) => ({
  seqs,
  mode,
  oldestSeq: seqs[0] ?? bound,
  newestSeq: seqs.at(-1) ?? bound,
  hasMore,
});

const titled = (rows: Row[]) =>
  rows.map((row) => ({ row, title: new URLSearchParams(logsPath('', row.query).split('?')[1]).toString() }));

describe('of ten entries, the newest', () => {
  it.each(
    titled([
      { query: {}, seqs: range(1, 10), hasMore: false },
      { query: { limit: 11 }, seqs: range(1, 10), hasMore: false },
      { query: { limit: 10 }, seqs: range(1, 10), hasMore: false },
      { query: { limit: 9 }, seqs: range(2, 10), hasMore: true },
      { query: { limit: 1 }, seqs: [10], hasMore: true },
      { query: { level: 'warn' }, seqs: [2, 4, 6, 8, 10], hasMore: false },
      { query: { level: 'warn', limit: 5 }, seqs: [2, 4, 6, 8, 10], hasMore: false },
      { query: { level: 'warn', limit: 4 }, seqs: [4, 6, 8, 10], hasMore: true },
      { query: { level: 'info', limit: 4 }, seqs: [3, 5, 7, 9], hasMore: true },
      { query: { q: 'entry 1', limit: 2 }, seqs: [1, 10], hasMore: false },
      { query: { q: 'entry 1', limit: 1 }, seqs: [10], hasMore: true },
      { query: { q: 'entry 1', level: 'warn' }, seqs: [10], hasMore: false },
      { query: { level: 'fatal' }, seqs: [], hasMore: false },
      { query: { q: 'nothing' }, seqs: [], hasMore: false },
    ]),
  )('are a page with "$title"', async ({ row }) => {
    expect(await pageOf(ten, row.query)).toEqual(expected('latest', row));
  });
});

describe('of ten entries, those after one', () => {
  it.each(
    titled([
      { query: { after: 0 }, seqs: range(1, 10), hasMore: false },
      { query: { after: 0, limit: 10 }, seqs: range(1, 10), hasMore: false },
      { query: { after: 0, limit: 9 }, seqs: range(1, 9), hasMore: true },
      { query: { after: 1, limit: 9 }, seqs: range(2, 10), hasMore: false },
      { query: { after: 3, limit: 4 }, seqs: range(4, 7), hasMore: true },
      { query: { after: 9 }, seqs: [10], hasMore: false },
      { query: { after: 10 }, seqs: [], hasMore: false, bound: 10 },
      { query: { after: 11 }, seqs: [], hasMore: false, bound: 11 },
      { query: { after: 2 ** 53 - 1 }, seqs: [], hasMore: false, bound: 2 ** 53 - 1 },
      { query: { after: 2, level: 'warn', limit: 2 }, seqs: [4, 6], hasMore: true },
      { query: { after: 6, level: 'warn', limit: 2 }, seqs: [8, 10], hasMore: false },
      { query: { after: 7, level: 'info', limit: 1 }, seqs: [9], hasMore: false },
      { query: { after: 9, level: 'info' }, seqs: [], hasMore: false, bound: 9 },
      { query: { after: 1, q: 'entry 1' }, seqs: [10], hasMore: false },
      { query: { after: 3, q: 'nothing' }, seqs: [], hasMore: false, bound: 3 },
    ]),
  )('are a page with "$title"', async ({ row }) => {
    expect(await pageOf(ten, row.query)).toEqual(expected('after', row));
  });
});

describe('of ten entries, those before one', () => {
  it.each(
    titled([
      { query: { before: 11 }, seqs: range(1, 10), hasMore: false },
      { query: { before: 11, limit: 10 }, seqs: range(1, 10), hasMore: false },
      { query: { before: 11, limit: 9 }, seqs: range(2, 10), hasMore: true },
      { query: { before: 10, limit: 9 }, seqs: range(1, 9), hasMore: false },
      { query: { before: 8, limit: 4 }, seqs: range(4, 7), hasMore: true },
      { query: { before: 2 }, seqs: [1], hasMore: false },
      { query: { before: 1 }, seqs: [], hasMore: false, bound: 1 },
      { query: { before: 0 }, seqs: [], hasMore: false, bound: 0 },
      { query: { before: 2 ** 53 - 1, limit: 2 }, seqs: [9, 10], hasMore: true },
      { query: { before: 9, level: 'warn', limit: 2 }, seqs: [6, 8], hasMore: true },
      { query: { before: 5, level: 'warn', limit: 2 }, seqs: [2, 4], hasMore: false },
      { query: { before: 2, level: 'warn' }, seqs: [], hasMore: false, bound: 2 },
      { query: { before: 10, q: 'entry 1' }, seqs: [1], hasMore: false },
      { query: { before: 7, q: 'nothing' }, seqs: [], hasMore: false, bound: 7 },
    ]),
  )('are a page with "$title"', async ({ row }) => {
    expect(await pageOf(ten, row.query)).toEqual(expected('before', row));
  });
});

describe('a job without logs', () => {
  it.each([
    { query: {}, mode: 'latest', bound: 0 },
    { query: { after: 0 }, mode: 'after', bound: 0 },
    { query: { after: 5 }, mode: 'after', bound: 5 },
    { query: { before: 0 }, mode: 'before', bound: 0 },
    { query: { before: 2 ** 53 - 1 }, mode: 'before', bound: 2 ** 53 - 1 },
    { query: { q: 'x', level: 'info' }, mode: 'latest', bound: 0 },
  ])('has an empty page, with the bound that was asked for: $query', async ({ query, mode, bound }) => {
    expect(await pageOf(empty, query)).toEqual(expected(mode, { query, seqs: [], hasMore: false, bound }));
  });
});

describe('a bound beyond what a double can count', () => {
  const HUGE = ['9007199254740993', '99999999999999999999', '9'.repeat(400)];
  const titles = HUGE.map((text) => ({ text, digits: text.length }));

  it.each(titles)('of $digits digits is behind every entry: before it', async ({ text }) => {
    const { body } = await service.call('GET', `/jobs/${ten}/logs?limit=2&before=${text}`);
    expect(seqsOf(body.logs)).toEqual([9, 10]);
    expect(body.cursor).toEqual({ mode: 'before', oldestSeq: 9, newestSeq: 10, hasMore: true });
  });

  it.each(titles)('of $digits digits has nothing after it, and the cursor can be used', async ({ text }) => {
    const { body } = await service.call('GET', `/jobs/${ten}/logs?after=${text}`);
    const { newestSeq } = body.cursor;
    expect(body).toEqual({
      logs: [],
      cursor: { mode: 'after', oldestSeq: newestSeq, newestSeq: expect.any(Number), hasMore: false },
    });
    expect(await readLogs(service, ten, { after: newestSeq })).toEqual(body);
  });
});
