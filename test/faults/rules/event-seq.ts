import { ruleForEachJob } from './rule.js';

/** The seqs of a job's events are dense, from 1 (P16), as long as none had to be dropped, and their times never go back. */
export const eventSeq = ruleForEachJob('event-seq', 'P16', ({ job: { id, events } }) => {
  const wrong = events.findIndex((event, i) => event.id !== `${id}.${i + 1}`);
  if (wrong >= 0) return [{ says: `event ${events[wrong]?.id} is in place ${wrong + 1}` }];
  const back = events.findIndex(({ createdAt }, i) => i > 1 && createdAt < (events[i - 1]?.createdAt ?? ''));
  return back < 0 ? [] : [{ says: `event ${events[back]?.id} is older than the one before it` }];
});
