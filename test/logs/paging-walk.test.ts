import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { LOG_LEVELS, type LogLevel } from '@yardmaster/protocol';
import { startService, type TestService } from '../support/service.js';
import { type Direction, entriesOf, jobWithLogs, type Query, range, readLogs, walk } from './reading.js';

const COLOURS = ['red', 'green', 'blue', 'cyan', 'yellow', 'white', 'grey'];

/** Runs of one level, and colours in no simple order. */
const ENTRIES = range(1, 10_000).map((n) => ({
  message: `entry ${n} is ${COLOURS[(n * n + Math.floor(n / 50)) % 7]}`,
  level: LOG_LEVELS[Math.floor(n / 5) % 6] as LogLevel,
}));
type Entry = (typeof ENTRIES)[number];

const FILTERS: { what: string; filter: Query; keeps: (entry: Entry) => boolean }[] = [
  { what: 'no filter', filter: {}, keeps: () => true },
  { what: 'levels', filter: { level: 'warn,error' }, keeps: ({ level }) => level === 'warn' || level === 'error' },
  { what: 'a search', filter: { q: 'RED' }, keeps: ({ message }) => message.includes('red') },
  {
    what: 'a level and a search',
    filter: { level: 'fatal', q: 'blue is' },
    keeps: ({ level, message }) => level === 'fatal' && message.includes('blue'),
  },
  {
    what: 'a search for one',
    filter: { q: '"entry 4711 "' },
    keeps: ({ message }) => message.startsWith('entry 4711 '),
  },
  { what: 'a search for nothing', filter: { q: 'violet' }, keeps: () => false },
];

const DIRECTIONS: Direction[] = ['forwards', 'backwards'];

let service: TestService;
/** How many entries, and the job that has them. */
const jobs = new Map<number, string>();

beforeAll(async () => {
  service = await startService({}, { app: createApi });
  for (const count of [150, 10_000]) jobs.set(count, await jobWithLogs(service, ENTRIES.slice(0, count)));
});
afterAll(() => service.stop());

describe.each([
  { count: 150, limit: 1 },
  { count: 10_000, limit: 7 },
  { count: 10_000, limit: 200 },
  { count: 10_000, limit: 500 },
])('a walk over $count entries by pages of $limit', ({ count, limit }) => {
  const cases = FILTERS.flatMap((row) => DIRECTIONS.map((direction) => ({ ...row, direction })));

  it.each(cases)('meets each once and in order, $direction, with $what', async ({ direction, filter, keeps }) => {
    const jobId = jobs.get(count) as string;

    const pages = await walk(direction, (bound) => readLogs(service, jobId, { ...filter, ...bound, limit }));

    const expected = ENTRIES.slice(0, count).flatMap((entry, i) =>
      keeps(entry) ? [`${i + 1} ${entry.level} ${entry.message}`] : [],
    );
    const met = entriesOf(pages, direction).map(({ seq, level, message }) => `${seq} ${level} ${message}`);
    expect(met).toEqual(expected);
    // No page is short of entries but the last.
    const full = Math.floor(Math.max(0, expected.length - 1) / limit);
    expect(pages.map(({ logs }) => logs.length)).toEqual([...Array(full).fill(limit), expected.length - full * limit]);
  });
});
