import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@yardmaster/runtime';
import { nextPartition, type Store, stepOperation } from '@yardmaster/store';

/** How long a sweep works on operations. The rest of the time until the next tick is for what is due. */
const WORK_MS = 350;

/** Pause after each step, in times of its duration: so operations use at most a fifth of Redis' time. */
const PAUSE_FACTOR = 4;

export interface OperationsOptions {
  store: Store;
  stopping: AbortSignal;
  log: Logger;
  /** Called after each step. */
  onStep: () => void;
}

/**
 * Carry out running operations for a part of a second, one step after the other, so that other calls come in between.
 * Spaces take turns.
 *
 * @param partitions tags of those in which operations are running
 * @throws the first error, after which nothing more is done
 */
export async function runOperations(
  partitions: readonly string[],
  { store, stopping, log, onStep }: OperationsOptions,
): Promise<void> {
  const until = performance.now() + WORK_MS;
  if (partitions.length === 0) return;
  for (let began = performance.now(); began < until && !stopping.aborted; began = performance.now()) {
    const partition = await nextPartition(store, partitions);
    if (partition === null) return;
    const step = await stepOperation(store, partition);
    onStep();
    if (step?.isDone) log.info({ operationId: step.operationId }, 'operation done');
    const spentMs = performance.now() - began;
    await delay(Math.min(PAUSE_FACTOR * spentMs, Math.max(0, until - performance.now())));
  }
}
