import { copyOf, type World } from '../world.js';
import type { Call } from './calls.js';
import { Disagreement, shown } from './disagreement.js';
import { areEqual, foretold, type Outcome } from './outcome.js';

/** A call and what the store said to it. */
export type Told = { call: Call; response: Outcome };

/**
 * The worlds that there can be after some calls at once: those in which some order of the calls, one after the other, gives
 * each the answer that it got.
 *
 * @throws Disagreement when there is none: the calls were not atomic, or the model says otherwise
 */
export function worldsAfter(worlds: World[], told: readonly Told[]): World[] {
  const [one, ...others] = told as [Told, ...Told[]];
  // As nearly always; nobody needs the world before.
  if (worlds.length === 1 && others.length === 0) return agreeing(worlds, one);
  const after = worlds.flatMap((world) => ordersOf(told).flatMap((order) => worldAfter(world, order) ?? []));
  if (after.length === 0) {
    const responses = told
      .map(({ call, response }) => `${shown(call)}\nis answered with ${shown(response)}`)
      .join('\n');
    throw new Disagreement(`in no order of the calls would each have got its answer:\n${responses}`);
  }
  return [...new Map(after.map((world) => [textOf(world), world])).values()];
}

/**
 * The worlds, changed, in which a call gets its answer.
 *
 * @throws Disagreement when there is none
 */
export function agreeing(worlds: World[], { call, response }: Told): World[] {
  const responses = worlds.map((world) => foretold(world, call, response));
  const left = worlds.filter((_, i) => areEqual(responses[i] as Outcome, response));
  if (left.length > 0) return left;
  throw new Disagreement(
    `${shown(call)}\nis answered by the store with\n${shown(response)}\nand by the model with\n${shown(responses[0])}`,
  );
}

function worldAfter(before: World, order: readonly Told[]): World | null {
  const world = copyOf(before);
  return order.every(({ call, response }) => areEqual(foretold(world, call, response), response)) ? world : null;
}

function ordersOf<T>(some: readonly T[]): T[][] {
  if (some.length === 0) return [[]];
  return some.flatMap((first, i) => ordersOf(some.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}

const byKey = <V>(map: Map<string, V>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const textOf = ({ jobs, last, news }: World) => JSON.stringify([byKey(jobs), byKey(last), byKey(news)]);
