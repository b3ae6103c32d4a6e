import { membersOf, patiently } from '@yardmaster/redis';
import { check_entries, runScript } from '@yardmaster/store';
import { type Checked, flagOf, type Portion } from '../checked.js';
import { type Fault, faultOf } from '../faults.js';
import type { KeyKind } from '../key-kinds.js';

/** Look for index entries that belong to no job, or to a job that belongs elsewhere. Yields once a portion. */
export async function* checkEntries(
  checked: Checked,
  key: string,
  { partition, spaceId, name }: Extract<KeyKind, { kind: 'index' }>,
): AsyncGenerator<Portion> {
  const { store } = checked;
  for await (const ids of membersOf(store.redis, key)) {
    const [, flat] = (await patiently(() =>
      runScript(store, check_entries, {
        keys: { index: key },
        args: {
          base: store.keys.baseOf(partition),
          isRepairing: flagOf(checked),
          space: spaceId ?? '',
          name: name ?? '',
        },
        rest: ids,
      }),
    )) as ['OK', string[]];
    const faults: Fault[] = [];
    for (let i = 0; i < flat.length; i += 3) {
      const [jobId, detail, outcome] = flat.slice(i, i + 3) as [string, string, string];
      faults.push(faultOf('entry_stray', { jobId, key, detail }, outcome));
    }
    yield { seen: ids.length, faults };
  }
}
