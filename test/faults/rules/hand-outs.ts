import type { DumpedJob } from '../dump.js';
import { type HandOut, linesOf, ruleForEachJob } from './rule.js';

/**
 * No two workers are handed the same attempt (P2): a job comes to a client at most as often as it was delivered, and
 * between two deliveries of one attempt its window was over, which is for the transitions to show. A delivery whose answer
 * was lost comes to nobody.
 */
export const handOuts = ruleForEachJob('hand-outs', 'P2', ({ job, handOuts: all }) => {
  const delivered = deliveriesByAttempt(job);
  return [...byAttempt(all)]
    .filter(([attempt, some]) => some.length > (delivered.get(attempt) ?? 0))
    .map(([attempt, some]) => ({
      damage: 'duplicated' as const,
      says: `attempt ${attempt} was delivered ${delivered.get(attempt) ?? 0} times and handed out ${some.length} times`,
      lines: linesOf(some.map(({ call }) => call)),
    }));
});

/** How often a job was delivered after so many acks. */
function deliveriesByAttempt({ events }: DumpedJob): Map<number, number> {
  const deliveries = new Map<number, number>();
  let attempt = 0;
  for (const { type } of events) {
    if (type === 'acked') attempt++;
    if (type === 'delivered') deliveries.set(attempt, (deliveries.get(attempt) ?? 0) + 1);
  }
  return deliveries;
}

function byAttempt(handOuts: readonly HandOut[]): Map<number, HandOut[]> {
  const sorted = new Map<number, HandOut[]>();
  for (const one of handOuts) sorted.set(one.attempt, [...(sorted.get(one.attempt) ?? []), one]);
  return sorted;
}
