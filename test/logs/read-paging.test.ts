import { beforeAll, describe, expect, it } from '@jest/globals';
import type { LogLevel, LogsPage } from '@yardmaster/protocol';
import { pageOf } from '../model/index.js';
import { Random } from '../support/random.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { appendOk, logsKey } from './entries.js';
import { type Kept, type Question, randomBatch, randomQuestion } from './questions.js';
import { type Direction, jobWithLogs, messagesOf, type Query, range, readPage, seqsOf, walk } from './reading.js';

/** More than the service reads from Redis at once, and few enough that many are dropped on the way. */
const KEPT = 2_500;

const service = withService({ LOGS_PER_JOB: `${KEPT}` });

const DIRECTIONS: Direction[] = ['forwards', 'backwards'];

describe('a page is what an array would give, whatever is appended and asked', () => {
  /** Some of the entries are so large that few of them are read at once. */
  const drawBatch = (random: Random) =>
    randomBatch(random).map(({ level, message }) => ({
      level,
      message: random.chance(0.1) ? `${message} ${'~'.repeat(3_000)}` : message,
    }));

  /** The answer to a question. A service that lacks time stops early: on a busy machine the question is asked again. */
  async function ask(jobId: string, query: string, limit = 200) {
    for (let attempt = 1; ; attempt++) {
      const { logs, cursor } = await readPage(service, jobId, query);
      const isCutShort = cursor.hasMore && logs.length < Math.min(limit, 500);
      if (!isCutShort || attempt === 10)
        return { logs: logs.map(({ level, message, seq }) => ({ level, message, seq })), cursor };
    }
  }

  async function expectResponse(jobId: string, kept: readonly Kept[], { asked, query }: Question): Promise<void> {
    const response = { query, ...(await ask(jobId, query, asked.limit)) };
    const expected = { query, ...pageOf(kept, asked) };
    // Nearly always they are equal, which this finds sooner.
    if (JSON.stringify(response) !== JSON.stringify(expected)) expect(response).toEqual(expected);
  }

  // A seed that is different each time finds other cases; the title shows it, so that a failure can be seen again.
  it.each([
    { seed: 1, first: 0 },
    { seed: 2, first: KEPT - 300 },
    { seed: Date.now(), first: KEPT - 300 },
  ])('(seed $seed, from $first entries on)', async ({ seed, first }) => {
    const random = new Random(seed);
    let kept: Kept[] = [];
    const add = (batch: Omit<Kept, 'seq'>[]) => {
      const next = (kept.at(-1)?.seq ?? 0) + 1;
      kept = [...kept, ...batch.map(({ level, message }, i) => ({ level, message, seq: next + i }))].slice(-KEPT);
    };
    while (kept.length < first) add(drawBatch(random));
    const jobId = await jobWithLogs(service, kept);

    for (let round = 0; round < 30; round++) {
      const batch = drawBatch(random);
      await appendOk(service, jobId, batch, (kept.at(-1)?.seq ?? 0) + 1);
      add(batch);
      expect(await service.redis.llen(logsKey(service, jobId))).toBe(kept.length);
      for (let question = 0; question < 12; question++) {
        await expectResponse(jobId, kept, randomQuestion(random, kept.at(-1)?.seq as number));
      }
    }
  });
});

// What is read from Redis at once is a round number, and mistakes are likely at its ends.
it('a search finds the first and the last entries of a job of any size, either way', async () => {
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
        const met = await walk(direction, (bound) => readPage(service, jobId, { ...bound, q: `"number ${n}."` }));
        expect({ size, direction, met: seqsOf(met) }).toEqual({ size, direction, met: [n] });
      }
    }
  }
});

describe('while a worker appends and the oldest entries are dropped,', () => {
  const entry = (n: number) => ({
    message: `entry ${n} is ${n % 40 === 0 ? 'rare' : 'frequent'} ${'~'.repeat(400)}`,
    level: (n % 3 === 0 ? 'warn' : 'info') as LogLevel,
  });

  /** Append batch after batch from this number on, until it is stopped. */
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

  it.each(walks)('a walk $direction with $what meets each entry that stays once, in order', async (row) => {
    const { direction, filter, passes } = row;
    const began = KEPT + 100;
    const jobId = await jobWithLogs(service, range(1, began).map(entry));
    const writer = startWriter(jobId, began + 1);
    let known = began;
    const met = await walk(direction, async (bound) => {
      known = await writer.advanced();
      return readPage(service, jobId, { ...filter, ...bound, limit: 200 });
    });
    const written = await writer.stop();

    const seqs = seqsOf(met);
    expect(messagesOf(met)).toEqual(seqs.map((n) => entry(n).message));
    expect(seqs).toEqual([...new Set(seqs)].filter(passes).sort((a, b) => a - b));
    // Forwards, what was stored before the last page was asked for is met as well.
    const last = direction === 'forwards' ? known : began;
    const missed = range(written - KEPT + 1, last).filter((n) => passes(n) && !seqs.includes(n));
    expect(missed).toEqual([]);
  });
});

describe('of more megabytes than one request looks through,', () => {
  const COUNT = 1_100;
  /** Entries at both ends, neighbours, and some wide apart. */
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
  it.each(WALKS)('a walk either way with %s meets each match once', async (_, query, finds) => {
    for (const direction of DIRECTIONS) {
      const met = await walk(direction, (bound) => readPage(service, jobId, { ...query, ...bound }));
      expect(seqsOf(met)).toEqual(finds);
    }
  });

  /** Read a page that is empty, as its search has stopped early, and return its cursor. */
  async function stopped(query: Query) {
    const { logs, cursor } = await readPage(service, jobId, query);
    expect(logs).toEqual([]);
    expect(cursor.hasMore).toBe(true);
    return cursor;
  }

  it('a search shows how far it has looked, and stops after some 8 MB', async () => {
    const after = await stopped({ after: 2, q: '"needle 1100"' });
    expect(after).toMatchObject({ mode: 'after', oldestSeq: 2 });
    expect(after.newestSeq).toBeGreaterThan(2);
    expect(after.newestSeq).toBeLessThan(2 + 600);

    const before = await stopped({ before: 1_000, q: '"needle 1"', level: 'warn' });
    expect(before).toMatchObject({ mode: 'before', newestSeq: 1_000 });
    expect(before.oldestSeq).toBeLessThan(1_000);
    expect(before.oldestSeq).toBeGreaterThan(1_000 - 600);

    // A client that follows goes on from the newest entry.
    const latest = await stopped({ q: '"hay 3"' });
    expect(latest).toMatchObject({ mode: 'latest', newestSeq: COUNT });
    expect(latest.oldestSeq).toBeLessThan(COUNT);
    expect(latest.oldestSeq).toBeGreaterThan(COUNT - 600);
  });

  it.each(DIRECTIONS)('a search %s without matches gets 300 entries further each time', async (towards) => {
    await walk(towards, async (bound) => {
      const from = bound.after ?? bound.before ?? COUNT + 1;
      let page!: LogsPage;
      // A service that lacks time stops earlier: on a busy machine the question is asked again.
      await until(async () => {
        page = await readPage(service, jobId, { ...bound, level: 'fatal' });
        const reached = towards === 'forwards' ? page.cursor.newestSeq : page.cursor.oldestSeq;
        return !page.cursor.hasMore || Math.abs(reached - from) > 300;
      });
      return page;
    });
  });

  it('a page that is partly filled keeps the seq of the end that was not searched', async () => {
    const forwards = await readPage(service, jobId, { after: 299, q: 'needle', limit: 5 });
    expect(forwards.cursor).toMatchObject({ oldestSeq: 300, hasMore: true });
    expect(forwards.cursor.newestSeq).toBeGreaterThan(forwards.logs.at(-1)?.seq as number);
    const backwards = await readPage(service, jobId, { before: 1_001, q: 'needle', limit: 5 });
    expect(backwards.cursor).toMatchObject({ newestSeq: 1_000, hasMore: true });
    expect(backwards.cursor.oldestSeq).toBeLessThan(backwards.logs[0]?.seq as number);
  });

  it('a search that has looked at the last entry is over', async () => {
    const { cursor } = await readPage(service, jobId, { after: COUNT - 10, q: 'nothing' });
    expect(cursor).toEqual({ mode: 'after', oldestSeq: COUNT - 10, newestSeq: COUNT - 10, hasMore: false });
  });
});
