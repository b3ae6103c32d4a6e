import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Direction, entriesOf, jobWithLogs, type Query, range, readLogs, seqsOf, walk } from './reading.js';
import { type ReadingApi, startReadingApi } from './reading-process.js';

// Together 24 MB: three times what one request looks through.
const COUNT = 1_500;
const FILLING = 'x'.repeat(15_900);

/** Entries at both ends, neighbours, and some wide apart. */
const NEEDLES = [1, 2, 300, 511, 512, 513, 1_000, 1_499, 1_500];
const isWarning = (n: number) => n % 500 === 250;
const isEven = (n: number) => n % 2 === 0;

let service: ReadingApi;
let jobId: string;
beforeAll(async () => {
  service = await startReadingApi();
  jobId = await jobWithLogs(
    service,
    range(1, COUNT).map((n) => ({
      message: `${FILLING} ${NEEDLES.includes(n) ? 'needle' : 'hay'} ${n}`,
      level: isWarning(n) ? 'warn' : isEven(n) ? 'info' : 'debug',
    })),
  );
});
afterAll(() => service.stop());

const FILTERS: { what: string; filter: Query; finds: number[] }[] = [
  { what: 'a search that finds nothing', filter: { q: 'nothing' }, finds: [] },
  { what: 'a search that finds little', filter: { q: 'needle' }, finds: NEEDLES },
  { what: 'a search that finds one at the end', filter: { q: '"hay 1498"' }, finds: [1_498] },
  { what: 'a search that finds one at the beginning', filter: { q: '"hay 3"' }, finds: [3, ...startingWith3()] },
  { what: 'a level that is rare', filter: { level: 'warn' }, finds: range(1, COUNT).filter(isWarning) },
  { what: 'a level that nothing has', filter: { level: 'fatal' }, finds: [] },
  { what: 'levels that every second has', filter: { level: 'info,warn' }, finds: range(1, COUNT).filter(isEven) },
  { what: 'the level of all others', filter: { level: 'debug' }, finds: range(1, COUNT).filter((n) => !isEven(n)) },
  { what: 'a level and a search', filter: { level: 'info', q: 'needle' }, finds: NEEDLES.filter(isEven) },
  { what: 'a search that finds all', filter: { q: FILLING.slice(0, 400) }, finds: range(1, COUNT) },
  { what: 'no filter', filter: {}, finds: range(1, COUNT) },
];

/** Also `hay 30`, and so on. */
function startingWith3(): number[] {
  return range(4, COUNT).filter((n) => `${n}`.startsWith('3') && !NEEDLES.includes(n));
}

describe.each<Direction>(['forwards', 'backwards'])('a walk %s over 24 MB of entries', (direction) => {
  const cases = FILTERS.flatMap((row) => [2, 500].map((limit) => ({ ...row, limit })));
  const affordable = cases.filter(({ limit, finds }) => finds.length < 100 || limit === 500);

  it.each(affordable)('ends and meets each match once, by $limit, with $what', async ({ filter, finds, limit }) => {
    const pages = await walk(direction, (bound) => readLogs(service, jobId, { ...filter, ...bound, limit }));
    expect(seqsOf(entriesOf(pages, direction))).toEqual(finds);
    // Each request gets ahead by megabytes or by a whole page.
    expect(pages.length).toBeLessThanOrEqual(12 + Math.ceil(finds.length / limit));
  });
});

describe('a search that has stopped early', () => {
  it('shows forwards how far it has looked, on an empty page', async () => {
    const { logs, cursor } = await readLogs(service, jobId, { after: 2, q: '"needle 1500"' });
    expect({ logs, cursor }).toEqual({
      logs: [],
      cursor: { mode: 'after', oldestSeq: 2, newestSeq: expect.any(Number), hasMore: true },
    });
    expect(cursor.newestSeq).toBeGreaterThan(2 + 100);
    expect(cursor.newestSeq).toBeLessThan(1_000);
  });

  it('shows backwards how far it has looked, on an empty page', async () => {
    const { logs, cursor } = await readLogs(service, jobId, { before: 1_400, q: '"needle 1"', level: 'warn' });
    expect({ logs, cursor }).toEqual({
      logs: [],
      cursor: { mode: 'before', oldestSeq: expect.any(Number), newestSeq: 1_400, hasMore: true },
    });
    expect(cursor.oldestSeq).toBeGreaterThan(400);
    expect(cursor.oldestSeq).toBeLessThan(1_400 - 100);
  });

  it('shows from the newest on how far it has looked, and where a client that follows goes on', async () => {
    const { logs, cursor } = await readLogs(service, jobId, { q: '"hay 3"' });
    expect({ logs, cursor }).toEqual({
      logs: [],
      cursor: { mode: 'latest', oldestSeq: expect.any(Number), newestSeq: COUNT, hasMore: true },
    });
    expect(cursor.oldestSeq).toBeGreaterThan(500);
    expect(cursor.oldestSeq).toBeLessThan(COUNT - 100);
  });

  it('keeps on a page that is partly filled the seq of the end that was not searched', async () => {
    const forwards = await readLogs(service, jobId, { after: 299, q: 'needle', limit: 5 });
    expect(forwards.cursor).toMatchObject({ oldestSeq: 300, hasMore: true });
    expect(forwards.cursor.newestSeq).toBeGreaterThan(forwards.logs.at(-1)?.seq as number);
    const backwards = await readLogs(service, jobId, { before: 1_001, q: 'needle', limit: 5 });
    expect(backwards.cursor).toMatchObject({ newestSeq: 1_000, hasMore: true });
    expect(backwards.cursor.oldestSeq).toBeLessThan(backwards.logs[0]?.seq as number);
  });

  it('is over when the last entry was looked at', async () => {
    const { cursor } = await readLogs(service, jobId, { after: 1_300, q: 'nothing' });
    expect(cursor).toEqual({ mode: 'after', oldestSeq: 1_300, newestSeq: 1_300, hasMore: false });
  });
});
