import { ruleForEachJob } from './rule.js';

/** A job is delivered to somebody who asked (P3): each delivery that came to no client is one whose answer was lost. */
export const deliveries = ruleForEachJob('deliveries', 'P3', ({ job, handOuts, calls }, evidence) => {
  const delivered = job.events.filter(({ type }) => type === 'delivered').length;
  const lost = [
    ...calls.filter(({ op, outcome }) => op === 'claim' && outcome === 'unknown'),
    ...evidence.calls.filter(
      ({ op, outcome, spaceId }) => op === 'poll' && outcome === 'unknown' && spaceId === job.spaceId,
    ),
  ];
  if (delivered <= handOuts.length + lost.length) return [];
  const says = `${delivered} deliveries, ${handOuts.length} came to clients and ${lost.length} at most were lost`;
  return [{ damage: 'lost', says }];
});
