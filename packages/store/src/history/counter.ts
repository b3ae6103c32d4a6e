import { OTHER_NAMES } from '@yardmaster/protocol';
import { partitionOf, randomBase32 } from '../keys.js';
import type { Change, StoreObserver } from '../observer.js';

/** Names of a space that are counted one by one; the others are counted together. */
const NAMES = 100;

/** Pairs of space and name for which a process keeps counts. */
const CELLS = 10_000;

/** Counts of less than this time, in milliseconds, are added together while Redis does not take them. */
const TOGETHER_MS = 60_000;

/** Portions that wait for one partition; more are added to the last one. */
const PORTIONS = 120;

type Names = Map<string, Cell>;
type Spaces = Map<string, Names>;

/** Counts that one script adds. */
export interface Step {
  /** Number of the step in this process, by which Redis knows one that it has had. */
  seq: number;
  /** Space, name and text of each cell. */
  cells: string[];
  /** When it was first sent, milliseconds of this process' monotonic clock; null before. */
  firstSentAt: number | null;
}

/** Counts of one partition that Redis gets in order, each portion once. */
export interface Portion {
  /** Middle of the time in which they were counted, milliseconds of this process' monotonic clock. */
  countedAt: number;
  spaces: Spaces;
  cells: number;
  /** Steps in which Redis gets it, from the first attempt on, because no step may change after that; null before. */
  steps: Step[] | null;
}

/**
 * Counts what this process has done to jobs, for the histories of their spaces, until `flushHistory` has added it to
 * Redis. Its memory is bounded: beyond 100 names of a space the others are counted as `*`, and beyond 10,000 pairs of
 * space and name, which only a Redis that takes nothing for long brings about, counts of further pairs are lost.
 */
export class SpaceHistoryCounter {
  /** Counts since the last `close`. */
  #current: Spaces = new Map();
  #openedAt = performance.now();
  /** Names this process in the numbers of its steps. */
  readonly id = randomBase32(16);
  /** Number of the last step. */
  seq = 0;
  /** Portions by partition, the oldest first. */
  readonly portions = new Map<string, Portion[]>();
  #cells = 0;
  /** Cell that takes what is lost. */
  #lost = newCell();
  #hasLost = false;

  /** Number of pairs of space and name that are kept. */
  get cells(): number {
    return this.#cells;
  }

  /** Return the cell of a name. It must be used at once: a flush takes it away. */
  #cellOf(spaceId: string, name: string): Cell {
    const names = this.#current.get(spaceId);
    return names?.get(name) ?? this.#newCell(spaceId, names, name);
  }

  #newCell(spaceId: string, names: Names | undefined, name: string): Cell {
    if (names !== undefined && names.size >= NAMES && name !== OTHER_NAMES) return this.#cellOf(spaceId, OTHER_NAMES);
    if (this.#cells >= CELLS) {
      this.#hasLost = true;
      return this.#lost;
    }
    const cell = newCell();
    if (names === undefined) this.#current.set(spaceId, new Map([[name, cell]]));
    else names.set(name, cell);
    this.#cells++;
    return cell;
  }

  /** Count a change. */
  add(change: Change): void {
    const { jobs = 1, spaceId, name, waitMs, runMs } = change;
    const counters = countersOf(change);
    if (spaceId === undefined || name === undefined || (counters.length === 0 && waitMs === undefined)) return;
    const cell = this.#cellOf(spaceId, name);
    for (const counter of counters) count(cell, counter, jobs);
    if (waitMs !== undefined) observe(cell, DURATIONS.wait, waitMs);
    if (runMs !== undefined) observe(cell, DURATIONS.run, runMs);
  }

  /**
   * Divide what was counted since the last call into portions of one partition each.
   *
   * @returns whether counts were lost since then
   */
  close(now = performance.now()): boolean {
    const countedAt = (this.#openedAt + now) / 2;
    for (const [spaceId, names] of this.#current) this.#keep(partitionOf(spaceId), spaceId, names, countedAt);
    this.#current = new Map();
    this.#openedAt = now;
    const hasLost = this.#hasLost;
    this.#hasLost = false;
    return hasLost;
  }

  #keep(partition: string, spaceId: string, names: Names, countedAt: number): void {
    const portions = this.portions.get(partition) ?? [];
    this.portions.set(partition, portions);
    const last = portions.at(-1);
    const isOpen = last !== undefined && last.steps === null;
    if (isOpen && (countedAt - last.countedAt < TOGETHER_MS || portions.length >= PORTIONS)) {
      this.#merge(last, spaceId, names);
    } else {
      portions.push({ countedAt, spaces: new Map([[spaceId, names]]), cells: names.size, steps: null });
    }
  }

  #merge(portion: Portion, spaceId: string, names: Names): void {
    const kept = portion.spaces.get(spaceId);
    if (kept === undefined) {
      portion.spaces.set(spaceId, names);
      portion.cells += names.size;
      return;
    }
    for (const [name, cell] of names) {
      const same = kept.get(name) ?? (kept.size >= NAMES ? kept.get(OTHER_NAMES) : undefined);
      if (same !== undefined) {
        addCell(same, cell);
        this.#cells--;
      } else {
        kept.set(kept.size >= NAMES ? OTHER_NAMES : name, cell);
        portion.cells++;
      }
    }
  }

  /** Forget the oldest portion of a partition, which Redis has. */
  drop(partition: string): void {
    const portions = this.portions.get(partition) as Portion[];
    this.#cells -= portions.shift()?.cells ?? 0;
    if (portions.length === 0) this.portions.delete(partition);
  }
}

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

/** Return an observer that also adds each change to a counter. */
export const countedBy = (counter: SpaceHistoryCounter, observer: StoreObserver): StoreObserver => ({
  ...observer,
  changed(change) {
    observer.changed(change);
    counter.add(change);
  },
});
