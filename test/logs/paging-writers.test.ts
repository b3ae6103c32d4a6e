import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { LOG_LEVELS, type LogLevel, type LogsPage } from '@yardmaster/protocol';
import { startService, type TestService } from '../support/service.js';
import { entriesOf, jobWithLogs, type Query, range, readLogs, seqsOf, walk } from './reading.js';
import { startWriter } from './writer.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
});
afterAll(() => service.stop());

/** What the nth entry of a writer is. */
const entryOf = (writer: string) => (n: number) => ({
  message: `${writer} ${n}${n % 4 === 0 ? ' rare' : ''}`,
  level: LOG_LEVELS[n % 6] as LogLevel,
});

const FILTERS: { what: string; filter: Query; keeps: (n: number) => boolean }[] = [
  { what: 'no filter', filter: {}, keeps: () => true },
  { what: 'a level', filter: { level: 'warn' }, keeps: (n) => LOG_LEVELS[n % 6] === 'warn' },
  { what: 'a search', filter: { q: 'rare' }, keeps: (n) => n % 4 === 0 },
];

/** A job with 1 000 entries, and a writer who goes on: the number of an entry is its seq. */
async function jobWithWriter() {
  const entry = entryOf('writer');
  const jobId = await jobWithLogs(service, range(1, 1_000).map(entry));
  const writer = startWriter(service, jobId, { entry, first: 1_001 });
  await writer.advanced();
  return { jobId, writer };
}

describe.each(FILTERS)('while a writer appends, with $what,', ({ filter, keeps }) => {
  it.each([100, 500])('a walk forwards by %i meets all that was there before its last page', async (limit) => {
    const { jobId, writer } = await jobWithWriter();
    let known = 0;

    const pages = await walk('forwards', async (bound) => {
      known = await writer.advanced();
      return readLogs(service, jobId, { ...filter, ...bound, limit });
    });

    await writer.stop();
    const seqs = seqsOf(entriesOf(pages, 'forwards'));
    expect(seqs).toEqual(range(1, Math.max(known, seqs.at(-1) ?? 0)).filter(keeps));
  });

  it.each([7, 200])('a walk backwards by %i meets each once that was there when it began', async (limit) => {
    const { jobId, writer } = await jobWithWriter();
    const began = writer.newestSeq();

    const pages = await walk('backwards', async (bound) => {
      await writer.advanced();
      return readLogs(service, jobId, { ...filter, ...bound, limit });
    });

    await writer.stop();
    const seqs = seqsOf(entriesOf(pages, 'backwards'));
    expect(seqs).toEqual(range(1, Math.max(began, seqs.at(-1) ?? 0)).filter(keeps));
  });
});

/** Follow a job as a tailing client does, who knows nothing but the cursor of the page before. */
async function tail(jobId: string, { filter, from, isOver }: { filter: Query; from: number; isOver: () => boolean }) {
  const met: LogsPage['logs'] = [];
  for (let after = from; ; ) {
    // Looked at before reading: what is stored then is on this page or on a later one.
    const wasOver = isOver();
    const { logs, cursor } = await readLogs(service, jobId, { ...filter, after, limit: 20 });
    met.push(...logs);
    after = cursor.newestSeq;
    if (wasOver && !cursor.hasMore) return met;
  }
}

describe.each(FILTERS)('a client that follows three writers, with $what,', ({ filter, keeps }) => {
  it.each([
    { what: 'from an empty job on', there: 0 },
    { what: 'from the newest of 300 entries on', there: 300 },
  ])('misses none and meets none twice, $what', async ({ there }) => {
    const jobId = await jobWithLogs(service, range(1, there).map(entryOf('before')));
    const { newestSeq } = (await readLogs(service, jobId, { ...filter, limit: 10 })).cursor;
    const names = ['a', 'b', 'c'];
    const writers = names.map((name) => startWriter(service, jobId, { entry: entryOf(name), batches: 60 }));
    let isOver = false;
    const over = Promise.all(writers.map((writer) => writer.ended())).finally(() => {
      isOver = true;
    });

    const met = await tail(jobId, { filter, from: newestSeq, isOver: () => isOver });

    await over;
    const seqs = seqsOf(met);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    for (const [i, name] of names.entries()) {
      const said = met.map(({ message }) => message).filter((message) => message.startsWith(name));
      const numbers = range(1, writers[i]?.written() as number).filter(keeps);
      expect(said).toEqual(numbers.map((n) => entryOf(name)(n).message));
    }
  });
});
