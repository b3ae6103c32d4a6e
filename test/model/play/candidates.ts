import { copyOf, type World } from '../world.js';
import { type Answer, areEqual, foretold } from './answer.js';
import type { Call } from './calls.js';
import { Disagreement, shown } from './disagreement.js';

/** A call and what the store said to it. */
export type Told = { call: Call; answer: Answer };

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
    const answers = told.map(({ call, answer }) => `${shown(call)}\nis answered with ${shown(answer)}`).join('\n');
    throw new Disagreement(`in no order of the calls would each have got its answer:\n${answers}`);
  }
  return [...new Map(after.map((world) => [textOf(world), world])).values()];
}

/**
 * The worlds, changed, in which a call gets its answer.
 *
 * @throws Disagreement when there is none
 */
export function agreeing(worlds: World[], { call, answer }: Told): World[] {
  const answers = worlds.map((world) => foretold(world, call, answer));
  const left = worlds.filter((_, i) => areEqual(answers[i] as Answer, answer));
  if (left.length > 0) return left;
  throw new Disagreement(
    `${shown(call)}\nis answered by the store with\n${shown(answer)}\nand by the model with\n${shown(answers[0])}`,
  );
}

function worldAfter(before: World, order: readonly Told[]): World | null {
  const world = copyOf(before);
  return order.every(({ call, answer }) => areEqual(foretold(world, call, answer), answer)) ? world : null;
}

function ordersOf<T>(some: readonly T[]): T[][] {
  if (some.length === 0) return [[]];
  return some.flatMap((first, i) => ordersOf(some.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}

const byKey = <V>(map: Map<string, V>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const textOf = ({ jobs, last, news }: World) => JSON.stringify([byKey(jobs), byKey(last), byKey(news)]);
