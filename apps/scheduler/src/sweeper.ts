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

  async function sweepOnce(): Promise<void> {
    const due = await findDue(store);
    due.callbacks.forEach(wake);
    gotOnAt = performance.now();
    // One step of each partition in turn, so that a long backlog in one holds up no other.
    for (let left = due.deadlines; left.length > 0; ) {
      const unfinished: string[] = [];
      for (const partition of left) {
        const { isMore, ...done } = await expireDue(store, partition);
        if (isMore) unfinished.push(partition);
        log.debug({ partition, ...done }, 'deadlines met');
        gotOnAt = performance.now();
      }
      left = unfinished;
    }
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
