import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { expireDue, findDue, type Store } from '@yardmaster/store';

export interface Sweeper {
  /** Do all that is due by now. Called while a sweep goes on, it waits for the end of that one. */
  sweep(): Promise<void>;
  /** Tell this of each partition in which a sweep finds callbacks owed. */
  onOwed(wake: (partition: string) => void): void;
  /** How long ago a sweep last got on, in milliseconds. */
  idleMs(): number;
}

/** Make what does the work of a tick. */
export function createSweeper(store: Store, log: Logger): Sweeper {
  let wake: (partition: string) => void = () => undefined;
  let gotOnAt = performance.now();
  let sweeping: Promise<void> | null = null;
  let isFailing = false;

  /** Do a step in each partition, and return those in which more is due. A fault in one holds up no other. */
  async function round(partitions: readonly string[], faults: unknown[]): Promise<string[]> {
    const unfinished: string[] = [];
    for (const partition of partitions) {
      try {
        const { isMore, ...done } = await expireDue(store, partition);
        if (isMore) unfinished.push(partition);
        log.debug({ partition, ...done }, 'deadlines met');
      } catch (error) {
        if (error instanceof YardmasterError) throw error; // Redis is away, for all of them.
        faults.push(error);
      }
      gotOnAt = performance.now();
    }
    return unfinished;
  }

  async function sweepOnce(): Promise<void> {
    const due = await findDue(store);
    due.callbacks.forEach(wake);
    gotOnAt = performance.now();
    const faults: unknown[] = [];
    // Round by round, so that a long backlog in one partition holds up no other.
    for (let left = due.deadlines; left.length > 0; ) left = await round(left, faults);
    if (faults.length > 0) throw faults[0];
  }

  async function sweepAndTell(): Promise<void> {
    try {
      await sweepOnce();
      if (isFailing) log.info('sweeping again');
      isFailing = false;
    } catch (err) {
      // One line for an outage, not one for each attempt.
      if (!isFailing) log.warn({ err }, 'sweep failed');
      isFailing = true;
      throw err;
    }
  }

  return {
    sweep() {
      sweeping ??= sweepAndTell().finally(() => {
        sweeping = null;
      });
      return sweeping;
    },
    onOwed(listener) {
      wake = listener;
    },
    idleMs: () => performance.now() - gotOnAt,
  };
}
