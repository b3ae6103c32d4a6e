import { OTHER_NAMES } from '@yardmaster/protocol';
import { partitionOf, randomBase32 } from '../keys.js';
import type { Change, StoreObserver } from '../observer.js';

/** Maximum number of names per space that are counted separately; the others are counted together. */
const NAMES = 100;

/** Maximum number of cells that a process keeps. */
const CELLS = 10_000;

/** Counts within this time, in milliseconds, are merged while Redis does not accept them. */
const TOGETHER_MS = 60_000;

/** Maximum number of waiting portions per partition; further counts are merged with the last. */
const PORTIONS = 120;

type Names = Map<string, Cell>;
type Spaces = Map<string, Names>;

/** Counts that one script adds. */
export interface Step {
  /** Number of the step in this process, by which Redis recognizes a repeated step. */
  seq: number;
  /** Space, name and text of each cell. */
  cells: string[];
  /** When it was first sent, by the monotonic clock of this process, in milliseconds; null if it was not sent yet. */
  firstSentAt: number | null;
}

/** Counts of one partition. Portions are sent to Redis in order, each exactly once. */
export interface Portion {
  /** Middle of the time in which they were counted, by the monotonic clock of this process, in milliseconds. */
  countedAt: number;
  spaces: Spaces;
  cells: number;
  /** Steps of the portion, which must not change once one was sent; null before the first attempt. */
  steps: Step[] | null;
}

/**
 * Count what this process has done to jobs, for the histories of their spaces, until `flushHistory` adds the counts to
 * Redis. Its memory is bounded: beyond 100 names per space, further names are counted as `*`. Beyond 10,000 cells, further
 * counts are lost, which happens only if Redis accepts nothing for a long time.
 */
export class SpaceHistoryCounter {
  /** Counts since the last `close`. */
  #current: Spaces = new Map();
  #openedAt = performance.now();
  /** Identifies this process and the numbers of its steps. */
  readonly id = randomBase32(16);
  /** Number of the last step. */
  seq = 0;
  /** Portions by partition, oldest first. */
  readonly portions = new Map<string, Portion[]>();
  #cells = 0;
  /** Cell for counts that are lost. */
  #lost = newCell();
  #hasLost = false;

  /** Number of cells, one per pair of space and name. */
  get cells(): number {
    return this.#cells;
  }

  /** Return the cell of a name. Use it immediately, because a flush replaces it. */
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
   * Divide the counts since the last call into portions of one partition each.
   *
   * @returns whether counts were lost since the last call
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

  /** Drop the oldest portion of a partition, once Redis has it. */
  drop(partition: string): void {
    const portions = this.portions.get(partition) as Portion[];
    this.#cells -= portions.shift()?.cells ?? 0;
    if (portions.length === 0) this.portions.delete(partition);
  }
}

/** The counters of a history, at their places in a cell. */
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

/** Return the counters that a change increments. */
export function countersOf({ from, to, by, runMs }: Change): Counter[] {
  const timedOut: Counter[] = by === 'timeout' && from === 'running' ? ['runTimeouts'] : [];
  if (from === 'none') return ['created'];
  if (to === 'completed' || to === 'dead' || to === 'killed') return [to, ...timedOut];
  if (runMs !== undefined) return ['retried', ...timedOut];
  return by === 'timeout' && from === 'delivered' ? ['deliveryTimeouts'] : [];
}

/** Upper bounds of the buckets of a duration, in seconds. One more bucket is for longer durations. */
export const BUCKET_SECONDS = [
  0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400,
] as const;

/** First places of the durations in a cell: the sum in milliseconds, followed by the number of durations per bucket. */
export const DURATIONS = { wait: 16, run: 48 } as const;

const PLACES = 80;

/**
 * The counts of one name in a space: a number at each place. Cells are stored in Redis, so the places must not change.
 * There is room for 16 COUNTERS and 30 BUCKET_SECONDS.
 */
export type Cell = number[];

export const newCell = (): Cell => new Array<number>(PLACES).fill(0);

/** Increment a counter of a cell. */
export function count(cell: Cell, counter: Counter, jobs = 1): void {
  (cell[PLACE_OF[counter]] as number) += jobs;
}

const PLACE_OF = Object.fromEntries(COUNTERS.map((counter, i) => [counter, i])) as Record<Counter, number>;

/** Add a duration to a cell. A negative one, after the clock has stepped back, counts as 0. */
export function observe(cell: Cell, at: (typeof DURATIONS)[keyof typeof DURATIONS], ms: number): void {
  if (ms > 0) (cell[at] as number) += ms;
  let bucket = 0;
  while (bucket < BUCKET_SECONDS.length && ms > (BUCKET_SECONDS[bucket] as number) * 1000) bucket++;
  (cell[at + 1 + bucket] as number)++;
}

/** Add another cell to a cell. */
export function addCell(cell: Cell, other: Cell): void {
  for (let at = 0; at < PLACES; at++) (cell[at] as number) += other[at] as number;
}

/** Format a cell for Redis: each place that is not 0, and its number. */
export function textOfCell(cell: Cell): string {
  const parts: number[] = [];
  cell.forEach((number, at) => {
    if (number !== 0) parts.push(at, number);
  });
  return parts.join(' ');
}

/** Parse the text of a cell. A place from a newer release is ignored. */
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
