import { copyOf, type World } from '../world.js';
import type { Call } from './calls.js';
import { Disagreement, inspected } from './disagreement.js';
import { areEqual, type Outcome, predicted } from './outcome.js';

/** A call and the store's response. */
export type CallResult = { call: Call; response: Outcome };

/**
 * Return the worlds that are possible after concurrent calls: those in which some order of the calls gives each call the
 * response that it got.
 *
 * @throws Disagreement without one: the calls were not atomic, or the model disagrees
 */
export function worldsAfter(worlds: World[], results: readonly CallResult[]): World[] {
  const [one, ...others] = results as [CallResult, ...CallResult[]];
  // The common case, in which the previous world need not be copied.
  if (worlds.length === 1 && others.length === 0) return worldsThatAgree(worlds, one);
  const after = worlds.flatMap((world) => ordersOf(results).flatMap((order) => worldAfter(world, order) ?? []));
  if (after.length === 0) {
    const responses = results
      .map(({ call, response }) => `${inspected(call)}\nreturned ${inspected(response)}`)
      .join('\n');
    throw new Disagreement(`no order of the calls explains all responses:\n${responses}`);
  }
  return [...new Map(after.map((world) => [textOf(world), world])).values()];
}

/**
 * Call the model in each world, and return the worlds in which the response equals the store's.
 *
 * @throws Disagreement without one
 */
export function worldsThatAgree(worlds: World[], { call, response }: CallResult): World[] {
  const responses = worlds.map((world) => predicted(world, call, response));
  const left = worlds.filter((_, i) => areEqual(responses[i] as Outcome, response));
  if (left.length > 0) return left;
  throw new Disagreement(
    `${inspected(call)}\nreturned from the store\n${inspected(response)}\nand from the model\n${inspected(responses[0])}`,
  );
}

function worldAfter(before: World, order: readonly CallResult[]): World | null {
  const world = copyOf(before);
  return order.every(({ call, response }) => areEqual(predicted(world, call, response), response)) ? world : null;
}

function ordersOf<T>(some: readonly T[]): T[][] {
  if (some.length === 0) return [[]];
  return some.flatMap((first, i) => ordersOf(some.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}

const byKey = <V>(map: Map<string, V>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const textOf = ({ jobs, last, messages, paused, tendAt }: World) =>
  JSON.stringify([
    ...[byKey(jobs), byKey(last), byKey(messages), byKey(tendAt)],
    byKey(paused).map(([space, names]) => [space, [...names].sort()]),
  ]);
