// Call the store's verbs in pipelines, as a busy process does.
import { createJobRequest } from '@yardmaster/protocol';
import { payloadOf } from './worker.mjs';

export const upTo = (count) => Array.from({ length: count }, (_, n) => n);

/** A request with all defaults, parsed once, because these benchmarks do not measure parsing. */
const DEFAULTS = createJobRequest.parse({ name: 'bench', payload: payloadOf(200) });

/** Create the request for a job. */
export const requestOf = (fields = {}) => ({ ...DEFAULTS, ...fields });

/**
 * Run some steps for all items, `atOnce` items at a time. Their commands are sent in one write, so that Redis reads them as a
 * pipeline, as from a busy process. ioredis alone would write each command separately.
 */
export async function inBatches(redis, items, atOnce, ...steps) {
  for (let from = 0; from < items.length; from += atOnce) {
    for (const step of steps) {
      const { stream } = redis;
      stream.cork();
      // Wait for the microtasks, because a verb may await something before it writes.
      setImmediate(() => stream.uncork());
      await Promise.all(items.slice(from, from + atOnce).map(step));
    }
  }
}
