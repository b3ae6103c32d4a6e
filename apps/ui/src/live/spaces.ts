import type { SpaceHistory, SpaceList } from '@yardmaster/protocol';
import { call, segment } from '../api/client.js';
import { now } from './clock.js';

export type Space = SpaceList['spaces'][number];

/** Maximum number of spaces to show. */
export const SPACES_MAX = 500;

/** Load up to SPACES_MAX spaces that have jobs, sorted by name. */
export async function loadSpaces(signal: AbortSignal): Promise<Space[]> {
  const spaces: Space[] = [];
  let cursor: string | null = null;
  do {
    const page: SpaceList = await call('GET', 'spaces', { query: { limit: 100, cursor }, signal });
    spaces.push(...page.spaces);
    cursor = page.nextCursor;
  } while (cursor !== null && spaces.length < SPACES_MAX);
  return spaces.sort((a, b) => (a.spaceId < b.spaceId ? -1 : 1));
}

/** Recent activity in a space, for the overview. */
export interface Activity {
  /** Number of jobs that ended in each of the last 60 minutes, oldest first. */
  endedPerMinute: number[];
  /** Completed jobs per minute, over the last five whole minutes. */
  donePerMinute: number;
  /** Median wait in the last hour, in seconds; null without deliveries. */
  medianWaitSeconds: number | null;
  /** Deliveries in the last hour that were never acked. */
  deliveryTimeouts: number;
  /** Jobs that died in the last 24 hours. */
  deadOfDay: number;
}

const MINUTE = 60_000;

/** Load the history of a space. */
export async function loadActivity(spaceId: string, signal: AbortSignal): Promise<Activity> {
  const path = `spaces/${segment(spaceId)}/stats/history`;
  const [hour, day] = await Promise.all([
    call<SpaceHistory>('GET', path, { signal }),
    call<SpaceHistory>('GET', path, { query: { step: 3600 }, signal }),
  ]);
  const thisMinute = Math.floor(now.value / MINUTE);
  const minutes = hour.points.flatMap(({ at, names }) => {
    const minutesAgo = thisMinute - Math.floor(Date.parse(at) / MINUTE);
    return Object.values(names).map((one) => ({ minutesAgo, ...one }));
  });
  const hours = day.points.flatMap(({ names }) => Object.values(names));
  const endedPerMinute = new Array<number>(60).fill(0);
  for (const { minutesAgo, completed, dead, killed } of minutes) {
    const place = 59 - minutesAgo;
    if (place in endedPerMinute) endedPerMinute[place] = (endedPerMinute[place] ?? 0) + completed + dead + killed;
  }
  const whole = minutes.filter(({ minutesAgo }) => minutesAgo >= 1 && minutesAgo <= 5);
  return {
    endedPerMinute,
    donePerMinute: sumOf(whole, 'completed') / 5,
    medianWaitSeconds: medianOf(minutes.map(({ waitSeconds }) => waitSeconds.buckets)),
    deliveryTimeouts: sumOf(minutes, 'deliveryTimeouts'),
    deadOfDay: sumOf(hours, 'dead'),
  };
}

function sumOf<Field extends string>(list: readonly Record<Field, number>[], field: Field): number {
  return list.reduce((sum, one) => sum + one[field], 0);
}

/** Return the upper bound, in seconds, of the histogram bucket with the median; null without values. */
function medianOf(all: readonly Record<string, number>[]): number | null {
  const buckets = new Map<number, number>();
  for (const [limit, count] of all.flatMap(Object.entries<number>)) {
    const seconds = limit === 'more' ? Number.POSITIVE_INFINITY : Number(limit);
    buckets.set(seconds, (buckets.get(seconds) ?? 0) + count);
  }
  const total = [...buckets.values()].reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [limit, count] of [...buckets].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= total / 2) return limit;
  }
  return null;
}
