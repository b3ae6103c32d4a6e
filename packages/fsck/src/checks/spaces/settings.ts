import { fieldsOf } from '@yardmaster/redis';
import { partitionOf, settingsOfText, storedSettings } from '@yardmaster/store';
import { type CheckContext, faultOf, type Portion } from '../../faults.js';
import { checkRecount } from './bytes.js';

/** Look for space settings that cannot be read, or whose `maxBytes` has no effect. Yields once per portion. */
export async function* checkSettings(checked: CheckContext, partition: string): AsyncGenerator<Portion> {
  const { store } = checked;
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
    for (const [spaceId, text] of fields) {
      if (settingsOfText(text).maxBytes !== undefined) faults.push(...(await checkRecount(checked, spaceId)));
    }
    yield { seen: fields.length, faults };
  }
}

/** Check that stored settings are not empty, and that their numbers match their JSON. */
function isSound(text: string): boolean {
  const settings = settingsOfText(text);
  return Object.keys(settings).length > 0 && storedSettings(settings) === text;
}
