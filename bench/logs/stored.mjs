// What a stored entry takes of Redis' memory, against what the worker has sent.
import { createJob } from '@yardmaster/store';
import { mustCall } from '../timers/calls.mjs';
import { plain, realistic } from './bodies.mjs';

/** As many as a job keeps by default. */
const ENTRIES = 10_000;
const BATCH = 500;

const KINDS = {
  'messages of 80 characters': plain,
  'objects of some 150 bytes': realistic,
};

const REQUEST = {
  name: 'bench',
  payload: null,
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
};

/** Bytes per element of a list, with all that Redis needs for it. */
async function bytesEach(redis, key) {
  return Number(await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)) / (await redis.llen(key));
}

/**
 * For each kind of entry: bytes of its message, of its JSON as it was sent, and of memory, as we store it and as that
 * JSON.
 */
export async function measureStored(store, api) {
  const { redis, keys } = store;
  const figures = [];
  for (const [kind, make] of Object.entries(KINDS)) {
    const entries = Array.from({ length: ENTRIES }, (_, n) => make(n));
    const { id } = await createJob(store, 'stored', REQUEST);
    for (let from = 0; from < ENTRIES; from += BATCH) {
      const batch = entries.slice(from, from + BATCH);
      await mustCall(api, 'POST', `/jobs/${id}/logs`, batch);
      await redis.rpush('raw', ...batch.map((entry) => JSON.stringify(entry)));
    }
    const each = (bytesOf) => entries.reduce((sum, entry) => sum + Buffer.byteLength(bytesOf(entry)), 0) / ENTRIES;
    figures.push({
      kind,
      messageBytes: each((entry) => entry.message ?? entry),
      jsonBytes: each((entry) => JSON.stringify(entry)),
      storedBytes: await bytesEach(redis, `${keys.job(id)}:logs`),
      rawBytes: await bytesEach(redis, 'raw'),
    });
    await redis.del('raw');
  }
  return figures;
}
