import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { withRedis } from '../support/own-redis.js';
import { JOB_VERBS } from './index.js';
import { WEIGHTS } from './play/draw-calls.js';
import { playSeed } from './play/play.js';
import { TestStores } from './play/test-store.js';

// Random sequences of calls. Each response is compared with that of the model, which is written from the specification.
//
//   MODEL_SEED=7 npm test -- test/model            plays the sequences of one seed
//   MODEL_SEQUENCES=5000 npm test -- test/model    plays 5,000 sequences, from seed 1 or from MODEL_SEED on

const { MODEL_SEED, MODEL_SEQUENCES } = process.env;

/** Time limit that is enough for thousands of sequences. */
const LONG_MS = 3_600_000;

/** What must be drawn: every verb of the store, and each verb that changes a job in every status and without a job. */
const MUST_DRAW = [
  ...Object.keys(WEIGHTS),
  ...JOB_VERBS.flatMap((verb) => [...STATUSES, 'none'].map((status) => `${verb} ${status}`)),
];
/** Sequences, without concurrent calls, that draw all of it. The rarest is drawn four times: a killed job is soon purged. */
const ENOUGH = 100;

// A Redis of its own: fsck reads all keys once per sequence, and the shared Redis contains those of all test files.
const redis = withRedis({ appendonly: 'no' });

const usual = { alone: ENOUGH, atOnce: 25 };

describe('the store on Redis', () => {
  let testStores: TestStores;
  beforeAll(() => {
    testStores = new TestStores(redis);
  });
  afterAll(() => testStores.disconnect());

  async function playAll(sequences: number, how: { atOnce: boolean }): Promise<void> {
    const from = Number(MODEL_SEED ?? 1);
    const count = Number(MODEL_SEQUENCES ?? (MODEL_SEED === undefined ? sequences : 1));
    if (!Number.isSafeInteger(from) || !(count >= 1))
      throw new Error('MODEL_SEED and MODEL_SEQUENCES must be whole numbers');
    let calls = 0;
    const drawn = new Set<string>();
    for (let seed = from; seed < from + count; seed++) calls += await playSeed(testStores, seed, { ...how, drawn });
    if (count >= ENOUGH && !how.atOnce) expect(MUST_DRAW.filter((row) => !drawn.has(row))).toEqual([]);
    if (MODEL_SEQUENCES !== undefined) process.stdout.write(`${count} sequences, ${calls} calls\n`);
  }

  it(
    'the store returns for every call what the model of the specification returns',
    () => playAll(usual.alone, { atOnce: false }),
    LONG_MS,
  );

  it(
    'the store returns for concurrent calls what the model returns for them in some order',
    () => playAll(usual.atOnce, { atOnce: true }),
    LONG_MS,
  );
});
