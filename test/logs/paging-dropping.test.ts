import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { type Direction, entriesOf, jobWithLogs, type Query, range, readLogs, seqsOf, walk } from './reading.js';
import { startWriter } from './writer.js';

const KEPT = 500;

let service: TestService;
beforeAll(async () => {
  service = await startService({ LOGS_PER_JOB: `${KEPT}` }, { app: createApi });
});
afterAll(() => service.stop());

/** The number of an entry is its seq. */
const entry = (n: number) => `entry ${n} is ${n % 3 === 0 ? 'rare' : 'frequent'}`;

describe.each<{ what: string; filter: Query; keeps: (n: number) => boolean }>([
  { what: 'no filter', filter: {}, keeps: () => true },
  { what: 'a search', filter: { q: 'rare' }, keeps: (n) => n % 3 === 0 },
])('while a writer appends and the oldest entries are dropped, with $what,', ({ filter, keeps }) => {
  it.each<Direction>(['forwards', 'backwards'])(
    'a walk %s meets each entry under its own seq, in order',
    async (direction) => {
      const jobId = await jobWithLogs(service, range(1, KEPT + 100).map(entry));
      const writer = startWriter(service, jobId, { entry, first: KEPT + 101 });

      const pages = await walk(direction, async (bound) => {
        await writer.advanced();
        return readLogs(service, jobId, { ...filter, ...bound, limit: 60 });
      });

      await writer.stop();
      const met = entriesOf(pages, direction);
      expect(met.map(({ message }) => message)).toEqual(seqsOf(met).map(entry));
      // What was there when the walk began and is there still was met; of the others, some.
      const seqs = seqsOf(met);
      expect(seqs).toEqual([...new Set(seqs)].filter(keeps).sort((a, b) => a - b));
      const stillThere = range(writer.written() - KEPT + 1, KEPT + 100).filter(keeps);
      expect(seqs).toEqual(expect.arrayContaining(stillThere));
    },
  );
});
