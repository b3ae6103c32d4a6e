import { keysOf, membersOf, retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { PARTITION_TAGS, partitionOf } from '@yardmaster/store';
import { checkKeys, type Step, stepOver } from './check-keys.js';
import { JobBatches } from './checks/jobs.js';
import { checkNames } from './checks/names.js';
import { checkLeftNames } from './checks/orphans.js';
import { checkSum } from './checks/spaces/bytes.js';
import { checkSpaces } from './checks/spaces/spaces.js';
import type { CheckContext, FaultKind } from './faults.js';

/** Results of the scan of all keys, for the checks that follow. */
interface Remains {
  /**
   * Partitions with unrepaired faults. Their jobs are not counted, because counting by their indexes would report the same
   * faults again.
   */
  doubtful: Set<string>;
  /** Spaces with name counts that are not listed; normally empty. */
  unlisted: string[];
}

/** Faults that make it uncertain which jobs a space has. */
const DOUBTS: ReadonlySet<FaultKind> = new Set([
  'entry_missing',
  'entry_misplaced',
  'entry_stray',
  'space_missing',
  'record_broken',
  'job_unreadable',
  'key_wrong_type',
]);

/** Run the steps of a check in order. */
export async function* steps(checked: CheckContext): AsyncGenerator<Step> {
  const remains: Remains = { doubtful: new Set(), unlisted: [] };
  for await (const step of stepsOverKeys(checked)) {
    yield step;
    await note(checked, step, remains);
  }
  // This comes after the jobs, because their repair can list a space, or leave it without jobs.
  for (const spaceId of remains.unlisted) yield { of: 'keys', seen: 0, faults: await checkLeftNames(checked, spaceId) };
  for (const partition of PARTITION_TAGS) {
    yield { of: 'keys', seen: 0, faults: await checkSpaces(checked, partition) };
    if (!remains.doubtful.has(partition)) yield* countNames(checked, partition);
  }
}

async function note({ store }: CheckContext, { faults, namesOf = [] }: Step, { doubtful, unlisted }: Remains) {
  for (const { kind, key, repair } of faults) {
    if (DOUBTS.has(kind) && repair !== 'done') doubtful.add(/\{(..)\}:/.exec(key)?.[1] ?? '');
  }
  for (const spaceId of namesOf) {
    const spaces = store.keys.spaces(partitionOf(spaceId));
    if ((await retryUnavailable(() => withRedisErrors(store.redis.zscore(spaces, spaceId)))) === null)
      unlisted.push(spaceId);
  }
}

async function* stepsOverKeys(checked: CheckContext): AsyncGenerator<Step> {
  const { store } = checked;
  const waiting = new JobBatches();
  for await (const keys of keysOf(store.redis, store.settings.keyPrefix)) yield* checkKeys(checked, keys, waiting);
  for (const jobIds of waiting.rest()) yield* stepOver(checked, jobIds);
}

async function* countNames(checked: CheckContext, partition: string): AsyncGenerator<Step> {
  const { store } = checked;
  for await (const spaceIds of membersOf(store.redis, store.keys.spaces(partition))) {
    for (const spaceId of spaceIds) {
      const faults = await checkNames(checked, spaceId);
      yield { of: 'keys', seen: 0, faults: await checkSum(checked, spaceId) };
      yield faults === null ? { of: 'uncounted', seen: 1, faults: [] } : { of: 'spaces', seen: 1, faults };
    }
  }
}
