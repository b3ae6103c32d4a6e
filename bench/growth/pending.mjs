// How the cost of a job grows with the pending jobs, the spaces and the names.
import { upTo } from '../load/verbs.mjs';
import { compare, cycle, fill, scaled } from './compare.mjs';

const SIZES = [1_000, 100_000, 1_000_000];
const SPACES = [1, 100, 10_000];
const NAMES = [1, 10, 1_000];

/** Pending jobs while spaces and names vary: as many for each contestant, so that nothing else differs. */
const PENDING = 100_000;

/** The space with the most jobs, which all have one name. */
export const LARGEST = { spaceId: `jobs-${SIZES.at(-1)}`, name: 'work', jobs: SIZES.at(-1) };

/** Create the pending jobs of each contestant, then let them take turns. */
async function compareFilled(filled, options) {
  const contestants = [];
  for (const { redis, pending, placeOf, label } of filled) {
    await fill(redis, pending, placeOf);
    contestants.push({ ...cycle(redis, options.operations, placeOf), label });
  }
  return compare([contestants], options);
}

/**
 * Compare spaces of one Redis with few and many pending jobs, and a space with few jobs in an empty Redis. Jobs of other spaces
 * make a space slower, because they displace its own from the processor's caches.
 */
export function byPending(small, large, options) {
  const inSpace = (redis, size, sizesInRedis) => {
    const place = { spaceId: `jobs-${size}`, name: 'work' };
    const inRedis = sizesInRedis.reduce((sum, each) => sum + scaled(each, options.scale), 0);
    const pending = scaled(size, options.scale);
    return { redis, pending, placeOf: () => place, label: { pending, inRedis } };
  };
  const [least] = SIZES;
  const together = SIZES.map((size) => inSpace(large, size, SIZES));
  return compareFilled([inSpace(small, least, [least]), ...together], options);
}

/** Compare the same number of jobs in few and many places. @param placesOf makes this number of places, and their label */
function bySpread(redis, counts, options, placesOf) {
  const pending = scaled(PENDING, options.scale);
  const filled = counts.map((most) => {
    const count = Math.min(most, pending);
    const { places, label } = placesOf(count);
    return { redis, pending, placeOf: (n) => places[n % count], label: { ...label, pendingOfEach: pending / count } };
  });
  return compareFilled(filled, options);
}

/** Compare jobs in few and many spaces. */
export const bySpaces = (redis, options) =>
  bySpread(redis, SPACES, options, (spaces) => ({
    places: upTo(spaces).map((n) => ({ spaceId: `one-of-${spaces}-${n}`, name: 'work' })),
    label: { spaces },
  }));

/** Compare jobs of few and many names in one space; each poll is for one name. */
export const byNames = (redis, options) =>
  bySpread(redis, NAMES, options, (names) => ({
    places: upTo(names).map((n) => ({ spaceId: `names-${names}`, name: `work-${n}`, asked: [`work-${n}`] })),
    label: { names },
  }));
