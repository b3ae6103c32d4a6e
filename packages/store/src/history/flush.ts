import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';
import { onBulk, runScript } from '../script/run-script.js';
import { add_history } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { type Portion, type SpaceHistoryCounter, type Step, textOfCell } from './counter.js';

/** Cells per script, which take Redis about 1 ms. */
const STEP_CELLS = 50;

/** Number of partitions to flush at once. */
const PARTITIONS_AT_ONCE = 4;

/**
 * How long to retry a step, in milliseconds. Redis remembers the number of the last step for a day; later, a repeated step
 * would be counted twice.
 */
const RESEND_MS = 12 * 3_600_000;

/** Result of a flush. */
export interface Flushed {
  /** Whether counts were lost since the last flush, because too many were waiting for Redis. */
  hasLost: boolean;
  /** Why some counts are still waiting; empty if none are. */
  faults: unknown[];
}

/**
 * Add the counts of this process to the histories of the spaces. Counts that Redis does not accept are kept for the next
 * flush. A step whose reply is lost is retried with the same number, so Redis adds it once. Two flushes must not run at the
 * same time.
 */
export async function flushHistory(store: Store, counter: SpaceHistoryCounter): Promise<Flushed> {
  const flushed: Flushed = { hasLost: counter.close(), faults: [] };
  const abreast = pLimit(PARTITIONS_AT_ONCE);
  const flushOne = async (partition: string) => {
    try {
      await flushPartition(store, counter, partition);
    } catch (error) {
      flushed.faults.push(error);
    }
  };
  await Promise.all([...counter.portions.keys()].map((partition) => abreast(flushOne, partition)));
  return flushed;
}

async function flushPartition(store: Store, counter: SpaceHistoryCounter, partition: string): Promise<void> {
  const { keys } = store;
  for (let portion = counter.portions.get(partition)?.[0]; portion; portion = counter.portions.get(partition)?.[0]) {
    portion.steps ??= stepsOf(counter, portion);
    for (let step = portion.steps[0]; step; step = portion.steps[0]) {
      const now = performance.now();
      step.firstSentAt ??= now;
      if (now - step.firstSentAt < RESEND_MS) {
        await runScript(onBulk(store), add_history, {
          keys: { counted: keys.counted(partition, counter.id) },
          args: { base: keys.baseOf(partition), seq: step.seq, agoMs: Math.round(now - portion.countedAt) },
          rest: step.cells,
        });
      }
      portion.steps.shift();
    }
    counter.drop(partition);
  }
}

function stepsOf(counter: SpaceHistoryCounter, { spaces }: Portion): Step[] {
  const steps: Step[] = [];
  for (const [spaceId, names] of spaces) {
    for (const [name, cell] of names) {
      let step = steps.at(-1);
      if (step === undefined || step.cells.length >= 3 * STEP_CELLS) {
        step = { seq: ++counter.seq, cells: [], firstSentAt: null };
        steps.push(step);
      }
      step.cells.push(spaceId, name, textOfCell(cell));
    }
  }
  return steps;
}

/** Check whether an error of a flush means that Redis is unavailable, full or busy, which is reported elsewhere. */
export const isOutage = (error: unknown) => error instanceof YardmasterError;
