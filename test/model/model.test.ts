import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { Redis } from 'ioredis';
import RedisMock from 'ioredis-mock';
import { withRedis } from '../support/own-redis.js';
import { JOB_VERBS } from './index.js';
import { Arenas } from './play/arena.js';
import { WEIGHTS } from './play/draw-calls.js';
import { playSeed } from './play/play.js';

// Random sequences of calls, each answer compared with that of a small model which is written from the specification.
//
//   MODEL_SEED=7 npm test -- test/model            plays the sequences of one seed
//   MODEL_SEQUENCES=5000 npm test -- test/model    plays more of them, from seed 1 or from MODEL_SEED on

const { MODEL_SEED, MODEL_SEQUENCES } = process.env;

/** Within so long even a great number must be done. */
const LONG_MS = 3_600_000;

/** What must be drawn: every verb of the store, and those that change a job on one in every status, and on none. */
const MUST_DRAW = [
  ...Object.keys(WEIGHTS),
  ...JOB_VERBS.flatMap((verb) => [...STATUSES, 'none'].map((status) => `${verb} ${status}`)),
];
/** So many sequences, without calls at once, draw all of it. The rarest is drawn three times: a job that was killed is soon purged. */
const ENOUGH = 60;

// A Redis of its own: fsck goes over all keys, once for each sequence, and the shared one has those of all test files.
const redis = withRedis({ appendonly: 'no' });

const connect = () => new Redis(redis.url.replace('unix://', ''), { disconnectTimeout: 50 });

describe.each([
  // The mock takes some 3 ms for a call: it makes a Lua of its own for each.
  { name: 'redis-server', make: connect, alone: ENOUGH, atOnce: 25 },
  { name: 'ioredis-mock', make: () => new RedisMock() as Redis, alone: 3, atOnce: 2 },
])('the store on $name', ({ make, ...usual }) => {
  let arenas: Arenas;
  beforeAll(() => {
    arenas = new Arenas(make);
  });
  afterAll(() => arenas.disconnect());

  async function playAll(sequences: number, how: { atOnce: boolean }): Promise<void> {
    const from = Number(MODEL_SEED ?? 1);
    const count = Number(MODEL_SEQUENCES ?? (MODEL_SEED === undefined ? sequences : 1));
    if (!Number.isSafeInteger(from) || !(count >= 1))
      throw new Error('MODEL_SEED and MODEL_SEQUENCES must be whole numbers');
    let calls = 0;
    const drawn = new Set<string>();
    for (let seed = from; seed < from + count; seed++) calls += await playSeed(arenas, seed, { ...how, drawn });
    if (count >= ENOUGH && !how.atOnce) expect(MUST_DRAW.filter((row) => !drawn.has(row))).toEqual([]);
    if (MODEL_SEQUENCES !== undefined) process.stdout.write(`${count} sequences, ${calls} calls\n`);
  }

  it('answers every call as the specification has it', () => playAll(usual.alone, { atOnce: false }), LONG_MS);

  it(
    'answers calls at once as if one had come after the other',
    () => playAll(usual.atOnce, { atOnce: true }),
    LONG_MS,
  );
});
