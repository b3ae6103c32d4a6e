import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import {
  append,
  type Direction,
  entriesOf,
  jobWithLogs,
  type Query,
  range,
  readLogs,
  seqsOf,
  walk,
} from './reading.js';

const KEPT = 20;
const APPENDED = 57;

let service: TestService;
/** 57 entries, of which the newest 20 are kept: 38 to 57. Every third is of level error. */
let jobId: string;

const entry = (n: number) => ({ message: `entry ${n}`, level: n % 3 === 0 ? ('error' as const) : ('info' as const) });

beforeAll(async () => {
  service = await startService({ LOGS_PER_JOB: `${KEPT}` }, { app: createApi });
  jobId = await jobWithLogs(service, []);
  for (const [from, to] of [
    [1, 5],
    [6, 24],
    [25, 25],
    [26, 45],
    [46, APPENDED],
  ] as const)
    await append(service, jobId, range(from, to).map(entry));
});
afterAll(() => service.stop());

describe('of entries of which the oldest were dropped', () => {
  it.each<{ query: Query; mode: string; seqs: number[]; bound?: number; hasMore: boolean }>([
    { query: {}, mode: 'latest', seqs: range(38, 57), hasMore: false },
    { query: { limit: 20 }, mode: 'latest', seqs: range(38, 57), hasMore: false },
    { query: { limit: 19 }, mode: 'latest', seqs: range(39, 57), hasMore: true },
    { query: { after: 0 }, mode: 'after', seqs: range(38, 57), hasMore: false },
    { query: { after: 0, limit: 1 }, mode: 'after', seqs: [38], hasMore: true },
    { query: { after: 36, limit: 2 }, mode: 'after', seqs: [38, 39], hasMore: true },
    { query: { after: 37, limit: 2 }, mode: 'after', seqs: [38, 39], hasMore: true },
    { query: { after: 38, limit: 2 }, mode: 'after', seqs: [39, 40], hasMore: true },
    { query: { after: 57 }, mode: 'after', seqs: [], bound: 57, hasMore: false },
    { query: { before: 40 }, mode: 'before', seqs: [38, 39], hasMore: false },
    { query: { before: 38 }, mode: 'before', seqs: [], bound: 38, hasMore: false },
    { query: { before: 5 }, mode: 'before', seqs: [], bound: 5, hasMore: false },
    { query: { before: 42, limit: 3 }, mode: 'before', seqs: [39, 40, 41], hasMore: true },
    { query: { level: 'error', after: 5 }, mode: 'after', seqs: [39, 42, 45, 48, 51, 54, 57], hasMore: false },
    { query: { level: 'error', before: 40 }, mode: 'before', seqs: [39], hasMore: false },
    { query: { q: '"entry 3"' }, mode: 'latest', seqs: [38, 39], hasMore: false },
    { query: { q: '"entry 2"' }, mode: 'latest', seqs: [], bound: 0, hasMore: false },
  ])('$query shows $seqs', async ({ query, mode, seqs, bound = 0, hasMore }) => {
    const { logs, cursor } = await readLogs(service, jobId, query);
    expect(logs.map(({ id, message, level }) => ({ id, message, level }))).toEqual(
      seqs.map((seq) => ({ id: `${jobId}.${seq}`, ...entry(seq) })),
    );
    expect(cursor).toEqual({ mode, oldestSeq: seqs[0] ?? bound, newestSeq: seqs.at(-1) ?? bound, hasMore });
  });

  it.each<Direction>(['forwards', 'backwards'])('a walk %s meets each that is kept once', async (direction) => {
    const pages = await walk(direction, (bound) => readLogs(service, jobId, { ...bound, limit: 7 }));
    expect(seqsOf(entriesOf(pages, direction))).toEqual(range(38, 57));
  });
});

it('goes on where it was when the entries up to there are dropped between two pages', async () => {
  const id = await jobWithLogs(service, range(1, 20).map(entry));
  const first = await readLogs(service, id, { after: 0, limit: 5 });
  const newest = await readLogs(service, id, { limit: 5 });

  await append(service, id, range(21, 30).map(entry));

  expect(seqsOf((await readLogs(service, id, { after: first.cursor.newestSeq })).logs)).toEqual(range(11, 30));
  expect(seqsOf((await readLogs(service, id, { before: newest.cursor.oldestSeq })).logs)).toEqual(range(11, 15));
});

it('keeps of a batch that is larger than the cap its newest entries', async () => {
  const id = await jobWithLogs(service, range(1, 55).map(entry));
  const { logs, cursor } = await readLogs(service, id, { after: 0 });
  expect(seqsOf(logs)).toEqual(range(36, 55));
  expect(cursor).toEqual({ mode: 'after', oldestSeq: 36, newestSeq: 55, hasMore: false });
});
