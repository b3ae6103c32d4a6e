// The life of a job in spaces, over spaces and among names: how its cost grows with what is there.
import { upTo } from '../verbs.mjs';
import { contest, cycle, fill, scaled } from './contest.mjs';

const SIZES = [1_000, 100_000, 1_000_000];
const SPACES = [1, 100, 10_000];
const NAMES = [1, 10, 1_000];

/** Jobs that wait where spaces and names are counted: as many for each contestant, so that nothing else differs. */
const HELD = 100_000;

/** The space that holds the most jobs. All have the one name. */
export const LARGEST = { spaceId: `holds-${SIZES.at(-1)}`, name: 'work', jobs: SIZES.at(-1) };

/** Fill what each contestant holds, then let them take turns. */
async function contestOf(filled, options) {
  const contestants = [];
  for (const { redis, held, placeOf, label } of filled) {
    await fill(redis, held, placeOf);
    contestants.push({ ...cycle(redis, options.operations, placeOf), label });
  }
  return contest([contestants], options);
}

/**
 * Spaces of one Redis that hold few and many pending jobs. And one that holds few in a Redis that holds nothing else: the
 * jobs of its neighbours take part in what a space costs, since they drive its own out of the processor's caches.
 */
export function byPending(small, large, options) {
  const holding = (redis, size, sizesInRedis) => {
    const place = { spaceId: `holds-${size}`, name: 'work' };
    const inRedis = sizesInRedis.reduce((sum, each) => sum + scaled(each, options.scale), 0);
    const held = scaled(size, options.scale);
    return { redis, held, placeOf: () => place, label: { pending: held, inRedis } };
  };
  const [least] = SIZES;
  const together = SIZES.map((size) => holding(large, size, SIZES));
  return contestOf([holding(small, least, [least]), ...together], options);
}

/** As many jobs spread over few and many places. @param placesOf a count: so many places, and their label */
function bySpread(redis, counts, options, placesOf) {
  const held = scaled(HELD, options.scale);
  const filled = counts.map((most) => {
    const count = Math.min(most, held);
    const { places, label } = placesOf(count);
    return { redis, held, placeOf: (n) => places[n % count], label: { ...label, pendingOfEach: held / count } };
  });
  return contestOf(filled, options);
}

/** Jobs that are spread over few and many spaces. */
export const bySpaces = (redis, options) =>
  bySpread(redis, SPACES, options, (spaces) => ({
    places: upTo(spaces).map((n) => ({ spaceId: `one-of-${spaces}-${n}`, name: 'work' })),
    label: { spaces },
  }));

/** Jobs of few and many names in one space, each poll for one of them. */
export const byNames = (redis, options) =>
  bySpread(redis, NAMES, options, (names) => ({
    places: upTo(names).map((n) => ({ spaceId: `names-${names}`, name: `work-${n}`, asked: [`work-${n}`] })),
    label: { names },
  }));
