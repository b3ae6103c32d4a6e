import type { Watched } from './watched.js';

export type Points = Watched[string];

/** What is taken from bench/soak/growth.mjs. */
export interface GrowthTools {
  growthOf(
    points: Points,
    total: number | undefined,
    steady: Points,
  ): { start: number; end: number; perMinute: number; standardError: number; verdict: string };
  /** How far a slope over so many points may be from what it seems. */
  marginOf(points: number, standardError: number): number;
}

/** How something has moved over the laps, for the table. */
export interface Moved {
  what: string;
  isGrowing: boolean;
  says: string;
}

/** Until code is compiled, pools are filled, and as much is purged as is made. */
const WARM_UP_LAPS = 2;

/** Fewer points show nothing of growth. */
const LAPS_TO_JUDGE = 10;

/** Of counts, which are those of all laps but the ones that a fault has just left something to: the lowest of so many. */
const LAPS_OF_A_LOW = 4;

/** What the allocator keeps of the largest bodies that it ever had, and gives back when it likes. */
const NOT_JUDGED = /beside the heap/;

/** Tell whether something has grown: of memory the slope, of what is counted how few it comes down to. */
export function movedOf(what: string, all: Points, tools: GrowthTools): Moved {
  const points = all.slice(WARM_UP_LAPS);
  const [first, last] = [points[0]?.value, points.at(-1)?.value];
  if (points.length < LAPS_TO_JUDGE) return { what, isGrowing: false, says: 'too short a run to tell' };
  if (NOT_JUDGED.test(what)) return { what, isGrowing: false, says: `${first} to ${last}, not judged` };
  return what.endsWith('MB') ? slopeIn(what, points, tools) : lowsIn(what, points);
}

function slopeIn(what: string, points: Points, { growthOf, marginOf }: GrowthTools): Moved {
  const { start, end, perMinute, standardError, verdict } = growthOf(points, undefined, points);
  const isGrowing = verdict !== 'no growth';
  const atMost = Math.max(0.001, 60 * (perMinute + marginOf(points.length, standardError)));
  const moved = isGrowing ? `grows by ${(60 * perMinute).toPrecision(2)}` : `by less than ${atMost.toPrecision(2)}`;
  return { what, isGrowing, says: `${start} to ${end}, ${moved} an hour` };
}

function lowsIn(what: string, points: Points): Moved {
  const low = (some: Points) => Math.min(...some.map(({ value }) => value));
  const [first, last] = [low(points.slice(0, LAPS_OF_A_LOW)), low(points.slice(-LAPS_OF_A_LOW))];
  return { what, isGrowing: last > first, says: `${first} to ${last} between faults` };
}
