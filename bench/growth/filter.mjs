// Polls for some names where a great many jobs of another name wait: what they must not look at.
import { inTurns } from '../meter.mjs';
import { create, fill, poll, stepByStep } from './cycle.mjs';
import { LARGEST } from './held.mjs';
import { rowsOf } from './rows.mjs';

const { spaceId, name: FREQUENT } = LARGEST;

/** Names asked for, and jobs asked for. The last is the most that a poll may ask for; the first is no filter. */
const POLLS = [
  { names: 0, wanted: 1 },
  { names: 1, wanted: 1 },
  { names: 10, wanted: 1 },
  { names: 100, wanted: 1 },
  { names: 0, wanted: 50 },
  { names: 100, wanted: 50 },
];

/** Jobs of each name that still wait when the polls of a turn are over, so that no poll finds an empty queue. */
const LEFT_WAITING = 10;

const times = (count, placeOf) => Array.from({ length: count }, (_, n) => placeOf(n));

/**
 * A contestant that polls for some names and gets the jobs it wants.
 *
 * @param made names of the jobs that are made before each turn, as many as it takes; empty when it is to find none
 */
function polling(store, { wanted, asked, made }, operations) {
  const count = Math.ceil(operations / wanted);
  const expected = made.length === 0 ? 0 : count * wanted;
  return {
    redis: store.redis,
    count,
    async prepare() {
      await create(
        store,
        times(expected, (n) => ({ spaceId, name: made[n % made.length] })),
      );
      return times(count, () => ({ spaceId, asked }));
    },
    steps: {
      async poll(places) {
        const { length } = await poll(store, places, wanted);
        if (length !== expected) throw new Error(`polls for ${expected} jobs found ${length}`);
      },
    },
  };
}

/** Polls for few and many names, of which there are jobs, or none. */
export async function byFilter({ store }, { operations, rounds }) {
  const labels = {};
  const contestants = {};
  const add = (label, names) => {
    const key = Object.values(label).join(' ');
    labels[label.wanted] = { ...labels[label.wanted], [key]: label };
    contestants[key] = polling(store, { wanted: label.wanted, ...names }, operations);
  };
  for (const { names, wanted } of POLLS) {
    const rare = times(names, (n) => `rare-${names}-${wanted}-${n}`);
    await fill(store, names * LEFT_WAITING, (n) => ({ spaceId, name: rare[n % names] }));
    add({ names, wanted, haveJobs: true }, { asked: rare, made: names === 0 ? [FREQUENT] : rare });
    if (names > 0) add({ names, wanted, haveJobs: false }, { asked: rare.map((name) => `no-${name}`), made: [] });
  }
  const turns = await inTurns(contestants, { rounds }, stepByStep);
  return Object.values(labels).flatMap((ofAsMany) => rowsOf(ofAsMany, turns));
}
