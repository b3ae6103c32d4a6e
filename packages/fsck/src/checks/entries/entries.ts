import { fieldsOf, membersOf, retryUnavailable } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, faultOf, type Portion, repairFlagOf } from '../../faults.js';
import type { KeyKind } from '../../key-kinds.js';
import { check_entries, check_unique_entries } from '../../scripts.generated.js';

/** Look for index entries whose job does not exist or belongs elsewhere. Yields once per portion. */
export async function* checkEntries(
  checked: CheckContext,
  key: string,
  { partition, spaceId, name, tag }: Extract<KeyKind, { kind: 'index' }>,
): AsyncGenerator<Portion> {
  const { store } = checked;
  for await (const ids of membersOf(store.redis, key)) {
    const { strays } = await retryUnavailable(() =>
      runScript(store, check_entries, {
        keys: { index: key },
        args: {
          base: store.keys.baseOf(partition),
          isRepairing: repairFlagOf(checked),
          space: spaceId ?? '',
          name: name ?? '',
          tag: tag ?? '',
        },
        rest: ids,
      }),
    );
    yield { seen: ids.length, faults: straysOf(strays, key) };
  }
}

/** Look for entries of unique keys whose job does not have the key. Yields once per portion. */
export async function* checkUniqueEntries(
  checked: CheckContext,
  key: string,
  { spaceId }: Extract<KeyKind, { kind: 'unique' }>,
): AsyncGenerator<Portion> {
  const { store } = checked;
  for await (const entries of fieldsOf(store.redis, key)) {
    const { strays } = await retryUnavailable(() =>
      runScript(store, check_unique_entries, {
        keys: { index: key },
        args: { base: store.keys.baseOfSpace(spaceId), isRepairing: repairFlagOf(checked), space: spaceId },
        rest: entries.flat(),
      }),
    );
    yield { seen: entries.length, faults: straysOf(strays, key) };
  }
}

function straysOf(strays: readonly string[], key: string): Fault[] {
  const faults: Fault[] = [];
  for (let i = 0; i < strays.length; i += 3) {
    const [jobId, detail, outcome] = strays.slice(i, i + 3) as [string, string, string];
    faults.push(faultOf('entry_stray', { jobId, key, detail }, outcome));
  }
  return faults;
}
