import { setTimeout as delay } from 'node:timers/promises';

/** How long a sweep spends on slow work, milliseconds. The rest of the time until the next tick is for what is due. */
const WORK_MS = 350;

/** Pause after each step, as a multiple of its duration: with 4, slow work uses at most a fifth of Redis's time. */
const PAUSE_FACTOR = 4;

/** Does one step of operations or of a recount. Returns whether there may be another. */
export type SlowStep = () => Promise<boolean>;

export interface SlowWorkOptions {
  stopping: AbortSignal;
  /** Called after each step. */
  onStep: () => void;
}

/**
 * Do slow work for a fraction of a second, one step at a time, so that other calls can run in between. The kinds of work
 * take turns.
 *
 * @param steps one for all operations, and one for each partition with recounts
 * @throws the first error, at which the work stops
 */
export async function doSlowWork(steps: readonly SlowStep[], { stopping, onStep }: SlowWorkOptions): Promise<void> {
  const until = performance.now() + WORK_MS;
  for (let left = [...steps]; left.length > 0; ) {
    const [step, ...others] = left as [SlowStep, ...SlowStep[]];
    const began = performance.now();
    if (began >= until || stopping.aborted) return;
    const isMore = await step();
    onStep();
    const spentMs = performance.now() - began;
    left = isMore ? [...others, step] : others;
    if (isMore) await delay(Math.min(PAUSE_FACTOR * spentMs, Math.max(0, until - performance.now())));
  }
}
