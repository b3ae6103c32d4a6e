import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { type Direction, entriesOf, jobWithLogs, range, readLogs, seqsOf, walk } from './reading.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
});
afterAll(() => service.stop());

const DIRECTIONS: Direction[] = ['forwards', 'backwards'];

// Whatever is read at once from Redis is likely to be a round number, and its ends the places for mistakes.
const SIZES = [1, 2, 99, 100, 101, 102, 999, 1_000, 1_001, 1_002, 1_101, 2_000, 2_001];

it.each(SIZES)('finds the first and the last of %i entries, and the neighbours of both, either way', async (size) => {
  const jobId = await jobWithLogs(
    service,
    range(1, size).map((n) => `number ${n}.`),
  );
  const wanted = [...new Set([1, 2, size - 1, size])].filter((n) => n >= 1 && n <= size);

  const found: number[][] = [];
  for (const n of wanted) {
    for (const direction of DIRECTIONS) {
      const pages = await walk(direction, (bound) => readLogs(service, jobId, { ...bound, q: `"number ${n}."` }));
      found.push(seqsOf(entriesOf(pages, direction)));
    }
  }

  expect(found).toEqual(wanted.flatMap((n) => [[n], [n]]));
});
