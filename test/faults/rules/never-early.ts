import type { Rule } from './rule.js';
import { timeOutsOf } from './time-outs.js';

/** No job is taken from its worker before the whole of its window has passed (P4). */
export const neverEarly: Rule = {
  name: 'never-early',
  promise: 'P4',
  check: (evidence) =>
    timeOutsOf(evidence)
      .filter(({ at, notBefore }) => at <= notBefore)
      .map(({ jobId, event, at, notBefore }) => ({
        jobId,
        says: `${event.type} (${event.id}) came ${notBefore - at + 1} ms early`,
      })),
};
