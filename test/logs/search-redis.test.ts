import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { LogsPage } from '@yardmaster/protocol';
import { Redis } from 'ioredis';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { jobWithLogs, type Query, readLogs } from './reading.js';
import { type ReadingApi, startReadingApi } from './reading-process.js';
import { systemLog } from './system-log.js';

const ENTRIES = systemLog(10_000, 42);
const DISTINCT = 'one of a kind';

// A Redis of its own, and the API alone: its counters count the commands of reads only.
let redis: OwnRedis;
let raw: Redis;
let service: ReadingApi;
let jobId: string;
beforeAll(async () => {
  redis = await startRedis();
  raw = new Redis(redis.url.replace('unix://', ''), { disconnectTimeout: 50 });
  service = await startReadingApi(redis.url);
  jobId = await jobWithLogs(service, ENTRIES.with(5_000, { level: 'info', source: 'app', message: DISTINCT }));
});
afterAll(async () => {
  await service.stop();
  raw.disconnect();
  await redis.stop();
});

/** The service's own watch, and this test. */
const NOT_COUNTED = ['ping', 'info', 'config|resetstat', 'config', 'client|setinfo', 'client'];

interface Cost {
  /** Scripts, each a round trip. */
  scripts: number;
  /** Commands, those that scripts call among them. */
  calls: number;
  /** Bytes that Redis has sent. */
  bytes: number;
}

const sentBytes = async () => Number(/^total_net_output_bytes:(\d+)/m.exec(await raw.info('stats'))?.[1]);

/** Read a page, and tell what Redis did for it. */
async function readCounting(query: Query, id = jobId): Promise<{ page: LogsPage; cost: Cost }> {
  await raw.config('RESETSTAT');
  const page = await readLogs(service, id, query);
  const bytes = await sentBytes();
  const stats = await raw.info('commandstats');
  const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
    .map(([, name, count]) => ({ name: name as string, count: Number(count) }))
    .filter(({ name }) => !NOT_COUNTED.includes(name));
  const total = (counted: typeof calls) => counted.reduce((sum, { count }) => sum + count, 0);
  const scripts = total(calls.filter(({ name }) => name === 'evalsha'));
  return { page, cost: { scripts, calls: total(calls), bytes } };
}

/** Bytes of all entries as Redis has them. */
async function storedBytes(): Promise<number> {
  const entries = await raw.lrange(`${service.prefix}:{${jobId.slice(0, 2)}}:job:${jobId}:logs`, 0, -1);
  return entries.reduce((sum, entry) => sum + Buffer.byteLength(entry), 0);
}

it.each([
  { what: 'nothing', query: { q: 'none of these' }, found: 0 },
  { what: 'one entry', query: { q: `"${DISTINCT}"` }, found: 1 },
  {
    what: 'some entries of a level',
    query: { level: 'fatal', q: '"length 0"' },
    found: ENTRIES.filter(({ level, message }) => level === 'fatal' && message.endsWith('length 0')).length,
  },
])('one request searches 10 000 entries, and reads each once, to find $what', async ({ query, found }) => {
  const { page, cost } = await readCounting({ after: 0, ...query });

  expect(page.logs.length).toBe(found);
  expect(page.cursor.hasMore).toBe(false);
  expect(cost.scripts).toBeLessThanOrEqual(20);
  expect(cost.calls).toBeLessThanOrEqual(600);
  // What Redis writes around an entry is less than ten bytes.
  expect(cost.bytes).toBeLessThan((await storedBytes()) + ENTRIES.length * 10);
});

it.each([
  { what: 'after a seq', query: { after: 4_000 } },
  { what: 'before a seq', query: { before: 4_000 } },
  { what: 'of the newest entries', query: {} },
])('a page $what reads nothing but itself', async ({ query }) => {
  const { page, cost } = await readCounting({ ...query, limit: 100 });

  expect(page.logs.length).toBe(100);
  expect(cost.scripts).toBe(1);
  expect(cost.calls).toBeLessThan(10);
  expect(cost.bytes).toBeLessThan(((await storedBytes()) / ENTRIES.length) * 100 * 2);
});

it('a search that finds many stops reading when its page is full', async () => {
  const { page, cost } = await readCounting({ after: 0, q: 'http/1.1', limit: 50 });

  expect(page.logs.length).toBe(50);
  expect(page.cursor.hasMore).toBe(true);
  expect(cost.bytes).toBeLessThan((await storedBytes()) / 2);
});

it('entries as large as may be are read in portions that Redis is not long busy with', async () => {
  const large = await jobWithLogs(service, Array(400).fill('x'.repeat(16_000)));
  const { page, cost } = await readCounting({ after: 0, q: 'none of these' }, large);

  expect(page.cursor.hasMore).toBe(false);
  expect(cost.bytes / cost.scripts).toBeLessThan(2 * 1_048_576);
});
