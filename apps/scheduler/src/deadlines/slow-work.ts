import { setTimeout as delay } from 'node:timers/promises';

/** How long a sweep works on what may take long. The rest of the time until the next tick is for what is due. */
const WORK_MS = 350;

/** Pause after each step, as a multiple of its duration: with 4, slow work uses at most a fifth of Redis's time. */
const PAUSE_FACTOR = 4;

/** Do one step of operations, or of a recount. @returns whether there may be another */
export type SlowStep = () => Promise<boolean>;

export interface SlowWorkOptions {
  stopping: AbortSignal;
  /** Called after each step. */
  onStep: () => void;
}

/**
 * Work for a part of a second, one step after the other, so that other calls come in between. The kinds of work take turns.
 *
 * @param steps one for all operations, and one for each partition in which there are recounts
 * @throws the first error, after which nothing more is done
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
