import type { Paused, PauseRequest } from '@yardmaster/protocol';
import { partitionOf } from '@yardmaster/store';
import type { ModelJob, World } from './world.js';

// Pause and resume. Which queues the jobs of a paused name are in cannot be seen from outside, only that
// no call claims them.

/** Names of a space that are paused; '' for the whole space. */
const pausedIn = ({ paused }: World, space: string) => paused.get(space) ?? new Set<string>();

export function isPaused(world: World, { spaceId, request }: ModelJob): boolean {
  const names = pausedIn(world, spaceId);
  return names.has('') || names.has(request.name);
}

/** Return what is paused, as responses show it. */
export function shownPaused(world: World, space: string): { paused?: NonNullable<Paused> } {
  const names = [...pausedIn(world, space)].sort();
  if (names.length === 0) return {};
  return { paused: names.includes('') ? true : names };
}

/** Return whether something was not paused before. */
export function pause(world: World, { space, names }: { space: string } & PauseRequest): boolean {
  const before = pausedIn(world, space);
  const all = new Set([...before, ...(names ?? [''])]);
  world.paused.set(space, all);
  if (hasNames(all)) world.tendAt.set(space, world.now);
  return all.size > before.size;
}

/** Return whether something was paused before. */
export function resume(world: World, { space, names }: { space: string } & PauseRequest): boolean {
  const before = pausedIn(world, space);
  const left = new Set([...before].filter((name) => names !== null && !names.includes(name)));
  world.paused.set(space, left);
  if (left.size < before.size && left.size > 0) world.tendAt.set(space, world.now);
  return left.size < before.size;
}

const hasNames = (names: Set<string>) => [...names].some((name) => name !== '');

/** Look after the pauses of the space of a partition that has waited the longest. */
export function tend(world: World, { partition }: { partition: string }): { isMore: boolean; broken: string[] } {
  const [next] = [...world.tendAt]
    .filter(([space, at]) => partitionOf(space) === partition && at <= world.now)
    .sort(([a, aAt], [b, bAt]) => aAt - bAt || (a < b ? -1 : 1));
  if (next) {
    const [space] = next;
    if (hasNames(pausedIn(world, space))) world.tendAt.set(space, world.now + 1_000);
    else world.tendAt.delete(space);
  }
  return { isMore: false, broken: [] };
}
