import { fieldsOf } from '@yardmaster/redis';
import { partitionOf, settingsOfText, storedSettings } from '@yardmaster/store';
import { type CheckContext, faultOf, type Portion } from '../../faults.js';

/** Look for settings of spaces of a partition that cannot be read. Yields once a portion. */
export async function* checkSettings({ store }: CheckContext, partition: string): AsyncGenerator<Portion> {
  const key = store.keys.settings(partition);
  for await (const fields of fieldsOf(store.redis, key)) {
    const faults = fields
      .filter(
        ([spaceId, text]) =>
          !(spaceId === '' ? /^\d+$/.test(text) : isSound(text) && partitionOf(spaceId) === partition),
      )
      .map(([spaceId]) => {
        const detail = spaceId === '' ? 'the version is not a number' : `settings of ${spaceId}: set them again`;
        return faultOf('settings_broken', { jobId: null, key, detail }, '');
      });
    yield { seen: fields.length, faults };
  }
}

/** Whether the numbers of settings are those of their JSON, which is not empty. */
function isSound(text: string): boolean {
  const settings = settingsOfText(text);
  return Object.keys(settings).length > 0 && storedSettings(settings) === text;
}
