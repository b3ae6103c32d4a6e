import type { Step } from './step.js';

/** A sequence that was played. */
export interface Played {
  steps: Step[];
  calls: number;
  /** The first disagreement of store and model; null without one. */
  fault: string | null;
}

/** Sequences tried on the way to the shortest. */
const TRIES = 250;

/**
 * Drop steps of a sequence, and calls of steps, for as long as it still shows a fault.
 *
 * @param replay plays some steps
 * @returns the shortest sequence found; the original one if no shorter one fails, as is possible with concurrent calls
 */
export async function shortest(failed: Played, replay: (steps: Step[]) => Promise<Played>): Promise<Played> {
  let best = failed;
  let tries = TRIES;
  const isBetter = async (steps: Step[]) => {
    if (tries-- <= 0) return false;
    const played = await replay(steps);
    // `played` ends at the step that showed the fault.
    if (played.fault !== null) best = played;
    return played.fault !== null;
  };
  for (let size = Math.ceil(best.steps.length / 2); size > 0 && tries > 0; size = Math.floor(size / 2)) {
    for (let at = best.steps.length - size; at > -size; ) {
      if (await isBetter(best.steps.toSpliced(Math.max(0, at), size))) at = Math.min(at, best.steps.length) - size;
      else at -= size;
    }
  }
  for (let at = best.steps.length - 1; at >= 0; at--) {
    for (let left = withoutOneCall(best.steps[at]); left.length > 0; ) {
      const isShorter = await isBetter(best.steps.toSpliced(at, 1, left.shift() as Step));
      if (isShorter) left = withoutOneCall(best.steps[at]);
    }
  }
  return best;
}

/** List the steps that remain when one call of a step is dropped; none for a step with a single call. */
const withoutOneCall = (step: Step | undefined): Step[] =>
  step && 'calls' in step && step.calls.length > 1
    ? step.calls.map((_, i) => ({ calls: step.calls.toSpliced(i, 1) }))
    : [];
