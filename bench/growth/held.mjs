// The life of a job in spaces, over spaces and among names: how its cost grows with what is there.
import { inTurns } from '../meter.mjs';
import { cycle, fill, stepByStep } from './cycle.mjs';
import { rowsOf } from './rows.mjs';

const SIZES = [1_000, 100_000, 1_000_000];
const SPACES = [1, 100, 10_000];
const NAMES = [1, 10, 1_000];

/** Jobs that wait where spaces and names are counted: as many for each contestant, so that nothing else differs. */
const HELD = 100_000;

export const scaled = (number, scale) => Math.max(1, Math.round(number * scale));

/** The space that holds the most jobs. All have the one name. */
export const LARGEST = { spaceId: `holds-${SIZES.at(-1)}`, name: 'work', jobs: SIZES.at(-1) };

/** Fill what each contestant holds, then let them take turns. */
async function contest(contestants, { operations, rounds }) {
  const labels = {};
  const cycles = {};
  for (const { store, held, placeOf, label } of contestants) {
    const name = Object.values(label).join(' ');
    await fill(store, held, placeOf);
    labels[name] = label;
    cycles[name] = cycle(store, operations, placeOf);
  }
  return rowsOf(labels, await inTurns(cycles, { rounds }, stepByStep));
}

/**
 * Spaces of one Redis that hold few and many pending jobs. And one that holds few in a Redis that holds nothing else: the
 * jobs of its neighbours take part in what a space costs, since they drive its own out of the processor's caches.
 */
export function byPending(small, large, options) {
  const holding = (store, size, sizesInRedis) => {
    const place = { spaceId: `holds-${size}`, name: 'work' };
    const jobsInRedis = sizesInRedis.reduce((sum, each) => sum + scaled(each, options.scale), 0);
    const held = scaled(size, options.scale);
    return { store, held, placeOf: () => place, label: { pending: held, jobsInRedis } };
  };
  const [least] = SIZES;
  const together = SIZES.map((size) => holding(large.store, size, SIZES));
  return contest([holding(small.store, least, [least]), ...together], options);
}

/** Jobs that are spread over few and many spaces. */
export function bySpaces({ store }, options) {
  const held = scaled(HELD, options.scale);
  const contestants = SPACES.map((count) => {
    const spaces = Math.min(count, held);
    const places = Array.from({ length: spaces }, (_, n) => ({ spaceId: `one-of-${count}-${n}`, name: 'work' }));
    return { store, held, placeOf: (n) => places[n % spaces], label: { spaces, pendingOfEach: held / spaces } };
  });
  return contest(contestants, options);
}

/** Jobs of few and many names in one space, each poll for one of them. */
export function byNames({ store }, options) {
  const held = scaled(HELD, options.scale);
  const contestants = NAMES.map((count) => {
    const names = Math.min(count, held);
    const places = Array.from({ length: names }, (_, n) => ({
      spaceId: `names-${count}`,
      name: `work-${n}`,
      asked: [`work-${n}`],
    }));
    return { store, held, placeOf: (n) => places[n % names], label: { names, pendingOfEach: held / names } };
  });
  return contest(contestants, options);
}
