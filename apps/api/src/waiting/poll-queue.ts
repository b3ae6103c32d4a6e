import type { ClaimedJob } from '@yardmaster/protocol';
import type { Polled } from '@yardmaster/store';

/** A poll that waits for its first job. */
export interface PollWaiter {
  /** Names of jobs to claim; empty for any. */
  names: readonly string[];
  /** Maximum number of jobs to claim. */
  count: number;
  /** Whether jobs start running when they are claimed. */
  autoAck: boolean;
  /** Poll for the caller. */
  poll(): Promise<Polled>;
  resolve(jobs: ClaimedJob[]): void;
  reject(error: unknown): void;
  isPolled: boolean;
  /** Whether its wait is over, so that it gets the result of the poll in flight. */
  isOver: boolean;
}

/** Return whether a poll asks for jobs with a name. */
export const wants = ({ names }: PollWaiter, name: string) => names.length === 0 || names.includes(name);

/** The waiting polls of a space in this process, in order of arrival. */
export class PollQueue {
  readonly #waiters = new Set<PollWaiter>();
  /** Number of polls that ask for each name, so that a message about another name costs one lookup. */
  readonly #byName = new Map<string, number>();
  #ofAnyName = 0;

  get size(): number {
    return this.#waiters.size;
  }

  /** Names that polls ask for; empty if one asks for any. */
  get names(): string[] {
    return this.#ofAnyName > 0 ? [] : [...this.#byName.keys()];
  }

  /** Return whether any poll asks for jobs with a name. */
  wants(name: string): boolean {
    return this.#ofAnyName > 0 || this.#byName.has(name);
  }

  /** Return whether the polls together ask for all of these names, so that any such job has woken one of them. */
  covers(names: readonly string[]): boolean {
    return this.#ofAnyName > 0 || (names.length > 0 && names.every((name) => this.#byName.has(name)));
  }

  add(waiter: PollWaiter): void {
    this.#waiters.add(waiter);
    this.#count(waiter, 1);
  }

  delete(waiter: PollWaiter): void {
    if (this.#waiters.delete(waiter)) this.#count(waiter, -1);
  }

  /** Return the first poll that a function accepts. */
  first(accepts: (waiter: PollWaiter) => boolean): PollWaiter | null {
    for (const waiter of this.#waiters) if (accepts(waiter)) return waiter;
    return null;
  }

  /** Return the first polls that together cover the names of all polls. */
  covering(): PollWaiter[] {
    const ofAny = this.#ofAnyName > 0 ? this.first(({ names }) => names.length === 0) : null;
    if (ofAny !== null) return [ofAny];
    const seen = new Set<string>();
    const isNew = ({ names }: PollWaiter) => {
      const before = seen.size;
      for (const name of names) seen.add(name);
      return seen.size > before;
    };
    return [...this.#waiters].filter(isNew);
  }

  #count({ names }: PollWaiter, change: 1 | -1): void {
    if (names.length === 0) this.#ofAnyName += change;
    for (const name of names) {
      const count = (this.#byName.get(name) ?? 0) + change;
      if (count > 0) this.#byName.set(name, count);
      else this.#byName.delete(name);
    }
  }
}
