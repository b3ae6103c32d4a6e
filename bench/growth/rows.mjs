// What turns have cost, as rows of plain numbers.
import { summary } from '../meter.mjs';

const KINDS = ['redis', 'script', 'client'];

/** All steps of a turn together. */
const whole = (steps) =>
  Object.fromEntries(KINDS.map((kind) => [kind, Object.values(steps).reduce((sum, cost) => sum + cost[kind], 0)]));

/** Median and quartiles of each kind of cost, under names that say the unit. */
function fieldsOf(costs) {
  const fields = KINDS.map((kind) => {
    const { median, low, high } = summary(costs.map((cost) => cost[kind]));
    return [
      [`${kind}Micros`, median],
      [`${kind}MicrosLow`, low],
      [`${kind}MicrosHigh`, high],
    ];
  });
  return Object.fromEntries(fields.flat());
}

/** How many times as much as another contestant: the median of what it was in each round, where the machine was the same. */
const timesAsMuch = (kind, costs, others) =>
  summary(costs.map((cost, round) => cost[kind] / others[round][kind])).median;

/**
 * A row for each contestant in each step, and in all steps together when there are several.
 *
 * @param labels by the name of a contestant: what its rows say of it. The first of these is what all are compared to
 * @param turns by the name of a contestant: for each round, what each step has cost
 */
export function rowsOf(labels, turns) {
  const names = Object.keys(labels);
  const steps = Object.keys(turns[names[0]][0]).map((step) => [step, (turn) => turn[step]]);
  if (steps.length > 1) steps.push(['all', whole]);
  return steps.flatMap(([step, costOf]) => {
    const first = turns[names[0]].map(costOf);
    return names.map((name) => {
      const costs = turns[name].map(costOf);
      return {
        ...labels[name],
        step,
        ...fieldsOf(costs),
        redisTimesFirst: timesAsMuch('redis', costs, first),
        scriptTimesFirst: timesAsMuch('script', costs, first),
      };
    });
  });
}
