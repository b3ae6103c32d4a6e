import { beforeAll, describe, expect, it } from '@jest/globals';
import type { LogLevel, LogsPage } from '@yardmaster/protocol';
import { pageOf } from '../model/index.js';
import { Random } from '../support/random.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { appendOk, logsKey } from './entries.js';
import { type RandomQuery, randomBatch, randomQuery, type StoredEntry } from './random-queries.js';
import { type Direction, jobWithLogs, messagesOf, type Query, range, readPage, seqsOf, walk } from './reading.js';

/** More entries than one read from Redis returns, and few enough that many are dropped during the tests. */
const KEPT = 2_500;

const service = withService({ LOGS_PER_JOB: `${KEPT}` });

const DIRECTIONS: Direction[] = ['forwards', 'backwards'];

describe('random queries of random logs', () => {
  /** Draw entries, some of them so large that few fit into one portion. */
  const drawBatch = (random: Random) =>
    randomBatch(random).map(({ level, message }) => ({
      level,
      message: random.chance(0.1) ? `${message} ${'~'.repeat(3_000)}` : message,
    }));

  /** Read a page. A slow service may stop a search early, so the query is repeated on a busy machine. */
  async function read(jobId: string, query: string, limit = 200) {
    for (let attempt = 1; ; attempt++) {
      const { logs, cursor } = await readPage(service, jobId, query);
      const isIncomplete = cursor.hasMore && logs.length < Math.min(limit, 500);
      if (!isIncomplete || attempt === 10)
        return { logs: logs.map(({ level, message, seq }) => ({ level, message, seq })), cursor };
    }
  }

  async function expectResponse(
    jobId: string,
    kept: readonly StoredEntry[],
    { parsed, query }: RandomQuery,
  ): Promise<void> {
    const response = { query, ...(await read(jobId, query, parsed.limit)) };
    const expected = { query, ...pageOf(kept, parsed) };
    // Nearly always they are equal, and this comparison is faster.
    if (JSON.stringify(response) !== JSON.stringify(expected)) expect(response).toEqual(expected);
  }

  // A different seed in each run finds other cases; the title shows it, so that a failure can be repeated.
  it.each([
    { seed: 1, first: 0 },
    { seed: 2, first: KEPT - 300 },
    { seed: Date.now(), first: KEPT - 300 },
  ])(
    'random queries of logs return the page that the model returns (seed $seed, from $first entries on)',
    async ({ seed, first }) => {
      const random = new Random(seed);
      let kept: StoredEntry[] = [];
      const add = (batch: Omit<StoredEntry, 'seq'>[]) => {
        const next = (kept.at(-1)?.seq ?? 0) + 1;
        kept = [...kept, ...batch.map(({ level, message }, i) => ({ level, message, seq: next + i }))].slice(-KEPT);
      };
      while (kept.length < first) add(drawBatch(random));
      const jobId = await jobWithLogs(service, kept);

      for (let batchNumber = 0; batchNumber < 15; batchNumber++) {
        const batch = drawBatch(random);
        await appendOk(service, jobId, batch, (kept.at(-1)?.seq ?? 0) + 1);
        add(batch);
        expect(await service.redis.llen(logsKey(service, jobId))).toBe(kept.length);
        for (let n = 0; n < 12; n++) {
          await expectResponse(jobId, kept, randomQuery(random, kept.at(-1)?.seq as number));
        }
      }
    },
  );
});

// One portion is a round number of entries, and mistakes are likely at its ends.
it('finds the first and the last log entries of a job of any size, in both directions', async () => {
  const jobId = await jobWithLogs(service, []);
  let count = 0;
  for (const size of [1, 2, 19, 20, 21, 999, 1_000, 1_001, 1_019, 1_020, 1_021, 2_000, 2_001]) {
    for (; count < size; count = Math.min(size, count + 1_000)) {
      const batch = range(count + 1, Math.min(size, count + 1_000)).map((n) => `number ${n}.`);
      await appendOk(service, jobId, batch, count + 1);
    }
    const wanted = [...new Set([1, 2, size - 1, size])].filter((n) => n >= 1 && n <= size);
    for (const n of wanted) {
      for (const direction of DIRECTIONS) {
        const found = await walk(direction, (bound) => readPage(service, jobId, { ...bound, q: `"number ${n}."` }));
        expect({ size, direction, found: seqsOf(found) }).toEqual({ size, direction, found: [n] });
      }
    }
  }
});

describe('paging through logs while a worker appends and the oldest entries are dropped', () => {
  const entry = (n: number) => ({
    message: `entry ${n} is ${n % 40 === 0 ? 'rare' : 'frequent'} ${'~'.repeat(400)}`,
    level: (n % 3 === 0 ? 'warn' : 'info') as LogLevel,
  });

  /** Append batches, from this number on, until `stop` is called. */
  function startWriter(jobId: string, from: number) {
    let written = from - 1;
    let isStopped = false;
    const write = async () => {
      while (!isStopped) {
        const batch = range(written + 1, written + 6);
        await appendOk(service, jobId, batch.map(entry), written + 1);
        written += batch.length;
      }
      return written;
    };
    const writing = write();
    writing.catch(() => undefined); // Thrown by `stop`.
    return {
      async advanced() {
        const before = written;
        await until(() => written > before);
        return written;
      },
      stop: () => {
        isStopped = true;
        return writing;
      },
    };
  }

  const FILTERS: [what: string, filter: Query, passes: (n: number) => boolean][] = [
    ['no filter', {}, () => true],
    ['a level', { level: 'warn' }, (n) => n % 3 === 0],
    ['a search', { q: 'rare' }, (n) => n % 40 === 0],
  ];
  const walks = FILTERS.flatMap(([what, filter, passes]) =>
    DIRECTIONS.map((direction) => ({ what, filter, passes, direction })),
  );

  it.each(walks)(
    'paging during appends and drops returns each entry that stays once and in order, $direction with $what',
    async (row) => {
      const { direction, filter, passes } = row;
      const began = KEPT + 100;
      const jobId = await jobWithLogs(service, range(1, began).map(entry));
      const writer = startWriter(jobId, began + 1);
      let known = began;
      const found = await walk(direction, async (bound) => {
        known = await writer.advanced();
        return readPage(service, jobId, { ...filter, ...bound, limit: 200 });
      });
      const written = await writer.stop();

      const seqs = seqsOf(found);
      expect(messagesOf(found)).toEqual(seqs.map((n) => entry(n).message));
      expect(seqs).toEqual([...new Set(seqs)].filter(passes).sort((a, b) => a - b));
      // Forwards, entries that were stored before the last page was requested must be returned too.
      const last = direction === 'forwards' ? known : began;
      const missed = range(written - KEPT + 1, last).filter((n) => passes(n) && !seqs.includes(n));
      expect(missed).toEqual([]);
    },
  );
});

describe('paging through more megabytes of logs than one request searches', () => {
  const COUNT = 1_100;
  /** Entries at both ends, adjacent ones, and distant ones. */
  const NEEDLES = [1, 2, 300, 511, 512, 513, 1_000, 1_099, 1_100];
  const isWarning = (n: number) => n % 3 === 0;

  let jobId: string;
  beforeAll(async () => {
    const entry = (n: number) => ({
      message: `${'x'.repeat(15_900)} ${NEEDLES.includes(n) ? 'needle' : 'hay'} ${n}`,
      level: (isWarning(n) ? 'warn' : 'info') as LogLevel,
    });
    jobId = await jobWithLogs(service, range(1, COUNT).map(entry));
  });

  const WALKS: [what: string, query: Query, finds: number[]][] = [
    ['a search that finds nothing', { q: 'nothing' }, []],
    ['a search that finds little', { q: 'needle', limit: 2 }, NEEDLES],
    ['a level and a search', { level: 'warn', q: 'needle' }, NEEDLES.filter(isWarning)],
    ['a level', { level: 'warn', limit: 500 }, range(1, COUNT).filter(isWarning)],
    ['no filter', { limit: 500 }, range(1, COUNT)],
  ];
  it.each(WALKS)(
    'paging through megabytes of logs returns each match once in both directions, with %s',
    async (_, query, finds) => {
      for (const direction of DIRECTIONS) {
        const found = await walk(direction, (bound) => readPage(service, jobId, { ...query, ...bound }));
        expect(seqsOf(found)).toEqual(finds);
      }
    },
  );

  /** Read an empty page of a search that stopped early, and return its cursor. */
  async function stopped(query: Query) {
    const { logs, cursor } = await readPage(service, jobId, query);
    expect(logs).toEqual([]);
    expect(cursor.hasMore).toBe(true);
    return cursor;
  }

  it('stops a log search after about 8 MB, and returns how far it has come', async () => {
    const after = await stopped({ after: 2, q: '"needle 1100"' });
    expect(after).toMatchObject({ mode: 'after', oldestSeq: 2 });
    expect(after.newestSeq).toBeGreaterThan(2);
    expect(after.newestSeq).toBeLessThan(2 + 600);

    const before = await stopped({ before: 1_000, q: '"needle 1"', level: 'warn' });
    expect(before).toMatchObject({ mode: 'before', newestSeq: 1_000 });
    expect(before.oldestSeq).toBeLessThan(1_000);
    expect(before.oldestSeq).toBeGreaterThan(1_000 - 600);

    // A client that follows the logs continues from the newest entry.
    const latest = await stopped({ q: '"hay 3"' });
    expect(latest).toMatchObject({ mode: 'latest', newestSeq: COUNT });
    expect(latest.oldestSeq).toBeLessThan(COUNT);
    expect(latest.oldestSeq).toBeGreaterThan(COUNT - 600);
  });

  it.each(DIRECTIONS)('advances a log search %s without matches by at least 300 entries per page', async (towards) => {
    await walk(towards, async (bound) => {
      const from = bound.after ?? bound.before ?? COUNT + 1;
      let page!: LogsPage;
      // A slow service may stop earlier, so the query is repeated on a busy machine.
      await until(async () => {
        page = await readPage(service, jobId, { ...bound, level: 'fatal' });
        const reached = towards === 'forwards' ? page.cursor.newestSeq : page.cursor.oldestSeq;
        return !page.cursor.hasMore || Math.abs(reached - from) > 300;
      });
      return page;
    });
  });

  it('keeps the seq at the other end of a partly filled page of a log search', async () => {
    const forwards = await readPage(service, jobId, { after: 299, q: 'needle', limit: 5 });
    expect(forwards.cursor).toMatchObject({ oldestSeq: 300, hasMore: true });
    expect(forwards.cursor.newestSeq).toBeGreaterThan(forwards.logs.at(-1)?.seq as number);
    const backwards = await readPage(service, jobId, { before: 1_001, q: 'needle', limit: 5 });
    expect(backwards.cursor).toMatchObject({ newestSeq: 1_000, hasMore: true });
    expect(backwards.cursor.oldestSeq).toBeLessThan(backwards.logs[0]?.seq as number);
  });

  it('reports that no more entries follow once a log search has reached the last entry', async () => {
    const { cursor } = await readPage(service, jobId, { after: COUNT - 10, q: 'nothing' });
    expect(cursor).toEqual({ mode: 'after', oldestSeq: COUNT - 10, newestSeq: COUNT - 10, hasMore: false });
  });
});
