import type { Change } from '../observer.js';

/** What happens to jobs, as a history counts it. The order is the place in a cell. */
export const COUNTERS = [
  'created',
  'completed',
  'retried',
  'dead',
  'killed',
  'deliveryTimeouts',
  'runTimeouts',
] as const;

export type Counter = (typeof COUNTERS)[number];

/** Return the counters to which a change adds. */
export function countersOf({ from, to, by, runMs }: Change): Counter[] {
  const timedOut: Counter[] = by === 'timeout' && from === 'running' ? ['runTimeouts'] : [];
  if (from === 'none') return ['created'];
  if (to === 'completed' || to === 'dead' || to === 'killed') return [to, ...timedOut];
  if (runMs !== undefined) return ['retried', ...timedOut];
  return by === 'timeout' && from === 'delivered' ? ['deliveryTimeouts'] : [];
}

/** Upper ends of the buckets of a duration, in seconds; one more bucket is for longer ones. */
export const BUCKET_SECONDS = [
  0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400,
] as const;

/** Places of a duration in a cell: the sum of the milliseconds, and after it the number of durations in each bucket. */
export const DURATIONS = { wait: 16, run: 48 } as const;

const PLACES = 80;

/**
 * What was counted for one name of a space: a number at each place. Redis keeps cells as text, so the places must not
 * change: COUNTERS may grow to 16, and there may be 30 limits of buckets.
 */
export type Cell = number[];

export const newCell = (): Cell => new Array<number>(PLACES).fill(0);

/** Add to a counter of a cell. */
export function count(cell: Cell, counter: Counter, jobs = 1): void {
  (cell[PLACE_OF[counter]] as number) += jobs;
}

const PLACE_OF = Object.fromEntries(COUNTERS.map((counter, i) => [counter, i])) as Record<Counter, number>;

/** Add a duration to a cell. One that is negative, because the clock has stepped back, counts as 0. */
export function observe(cell: Cell, at: (typeof DURATIONS)[keyof typeof DURATIONS], ms: number): void {
  if (ms > 0) (cell[at] as number) += ms;
  let bucket = 0;
  while (bucket < BUCKET_SECONDS.length && ms > (BUCKET_SECONDS[bucket] as number) * 1000) bucket++;
  (cell[at + 1 + bucket] as number)++;
}

/** Add all of another cell. */
export function addCell(cell: Cell, other: Cell): void {
  for (let at = 0; at < PLACES; at++) (cell[at] as number) += other[at] as number;
}

/** Write a cell as Redis keeps it: the places that are not 0, each with its number. */
export function textOfCell(cell: Cell): string {
  const parts: number[] = [];
  cell.forEach((number, at) => {
    if (number !== 0) parts.push(at, number);
  });
  return parts.join(' ');
}

/** Read the text of a cell. A place that only a later release knows is ignored. */
export function cellOfText(text: string): Cell {
  const cell = newCell();
  const parts = text.split(' ');
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const at = Number(parts[i]);
    if (at < PLACES) cell[at] = Number(parts[i + 1]);
  }
  return cell;
}
