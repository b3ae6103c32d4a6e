import crypto from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { withRedis } from '../support/own-redis.js';

// Random sequences of calls. Each response is compared with that of the model, which is written from the specification. In an
// order, a seed decides who is served next of several producers, workers, schedulers and others, whose requests or replies are
// lost, and what restarts.
//
//   MODEL_SEED=7 npm test -- test/model/model            plays the sequences of one seed
//   MODEL_SEQUENCES=5000 npm test -- test/model/model    plays 5,000 orders, from seed 1 or from MODEL_SEED on

/** Ids of jobs decide between jobs of one moment. They rise, so that a seed always plays the same sequence. */
let ids = 0;
jest.unstable_mockModule('node:crypto', () => ({
  ...crypto,
  randomFillSync(pool: Buffer) {
    for (let at = 0; at + 26 <= pool.length; at += 26)
      for (const [i, digit] of [...(ids++).toString(16).padStart(26, '0')].entries())
        pool[at + i] = Number(`0x${digit}`);
  },
}));
const { JOB_VERBS } = await import('./index.js');
const { WEIGHTS } = await import('./play/draw-calls.js');
const { playOnce, playSeed } = await import('./play/play.js');
const { lineOf } = await import('./play/step.js');
const { TestStores } = await import('./play/test-store.js');

const { MODEL_SEED, MODEL_SEQUENCES } = process.env;

/** Time limit that is enough for thousands of sequences. */
const LONG_MS = 3_600_000;

/** What must be drawn: every verb of the store, and each verb that changes a job in every status and without a job. */
const MUST_DRAW = [
  ...Object.keys(WEIGHTS),
  ...JOB_VERBS.flatMap((verb) => [...STATUSES, 'none'].map((status) => `${verb} ${status}`)),
];
/** Orders from seed 1 on that draw all of it. The rarest is drawn twice: a completed job is seldom rescheduled. */
const ENOUGH = 300;
/** Orders that npm test plays. */
const SOME = 12;

// A Redis of its own, which sequences empty and restart. It rewrites its append-only file early, because it loads it at each start.
const redis = withRedis({ 'auto-aof-rewrite-min-size': '1mb' });

describe('the store on Redis', () => {
  let testStores: InstanceType<typeof TestStores>;
  beforeAll(() => {
    testStores = new TestStores(redis);
  });
  afterAll(() => testStores.disconnect());

  /** @param share how many sequences are played for each order */
  async function playAll(share: number, how: { atOnce: boolean }): Promise<void> {
    const from = Number(MODEL_SEED ?? 1);
    const orders = Number(MODEL_SEQUENCES ?? (MODEL_SEED === undefined ? SOME : 1));
    if (!Number.isSafeInteger(from) || !(orders >= 1))
      throw new Error('MODEL_SEED and MODEL_SEQUENCES must be whole numbers');
    let calls = 0;
    const drawn = new Set<string>();
    const count = Math.ceil(share * orders);
    for (let seed = from; seed < from + count; seed++) calls += await playSeed(testStores, seed, { ...how, drawn });
    if (from === 1 && count >= ENOUGH && !how.atOnce) expect(MUST_DRAW.filter((row) => !drawn.has(row))).toEqual([]);
    if (MODEL_SEQUENCES !== undefined) process.stdout.write(`${count} sequences, ${calls} calls\n`);
  }

  it(
    'the store agrees with the model of the specification in seeded orders of calls, losses and restarts',
    () => playAll(1, { atOnce: false }),
    LONG_MS,
  );

  it(
    'the store returns for concurrent calls what the model returns for some order of them',
    () => playAll(1 / 4, { atOnce: true }),
    LONG_MS,
  );

  // In these, ids decide between jobs of one moment.
  it.each([28, 30, 33])('seed %i always produces the same order', async (seed) => {
    const lines = async () => (await playOnce(testStores, seed, how)).steps.map(lineOf);
    const how = { atOnce: false, drawn: new Set<string>() };
    expect(await lines()).toEqual(await lines());
  });
});
