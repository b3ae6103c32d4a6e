// The life of a job, step by step, in jobs that are spread over places: a space, a name and what the poll asks for.
import { ANY_SPACE, ackJob, completeJob, createJob, pollJobs } from '@yardmaster/store';
import { inBatches, measure } from '../meter.mjs';

/** What travels in one write: as many calls as a busy process has under way. */
const AT_ONCE = 50;

// 200 bytes of JSON, as in the other measurements.
const payload = { text: 'x'.repeat(200 - '{"text":""}'.length) };

export const requestOf = (name) => ({
  name,
  payload,
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
});

const upTo = (count) => Array.from({ length: count }, (_, n) => n);

/** Create `count` pending jobs, the n-th at `placeOf(n)`. */
export async function fill(store, count, placeOf) {
  const create = (n) => createJob(store, placeOf(n).spaceId, requestOf(placeOf(n).name));
  for (let from = 0; from < count; from += 10_000) {
    const numbers = upTo(Math.min(10_000, count - from)).map((n) => from + n);
    await inBatches(store.redis, numbers, 500, create);
  }
}

/** Poll once at each of these places, for `count` jobs; their ids. */
export async function poll(store, places, count) {
  const ids = [];
  await inBatches(store.redis, places, AT_ONCE, async ({ spaceId, asked = [] }) => {
    ids.push(...(await pollJobs(store, spaceId, { count, names: asked })).map(({ id }) => id));
  });
  return ids;
}

/** Create a job at each of these places. */
export const create = (store, places) =>
  inBatches(store.redis, places, AT_ONCE, ({ spaceId, name }) => createJob(store, spaceId, requestOf(name)));

/**
 * A contestant whose jobs are created, polled one by one, acked and completed, so that as many wait afterwards as did
 * before. The places of one turn follow those of the turn before.
 */
export function cycle(store, count, placeOf) {
  let next = 0;
  return {
    redis: store.redis,
    count,
    prepare: () => upTo(count).map(() => placeOf(next++)),
    steps: {
      async create(places) {
        await create(store, places);
        return places;
      },
      async poll(places) {
        const ids = await poll(store, places, 1);
        if (ids.length !== count) throw new Error(`${count} polls found ${ids.length} jobs`);
        return ids;
      },
      async ack(ids) {
        await inBatches(store.redis, ids, AT_ONCE, (id) => ackJob(store, ANY_SPACE, id));
        return ids;
      },
      complete: (ids) => inBatches(store.redis, ids, AT_ONCE, (id) => completeJob(store, ANY_SPACE, id, { ok: true })),
    },
  };
}

/** One turn of a contestant, each step measured and given what the one before has returned; what the steps cost. */
export async function stepByStep({ redis, count, prepare, steps }) {
  let given = await prepare();
  const costs = {};
  for (const [name, step] of Object.entries(steps)) {
    costs[name] = await measure(redis, count, async () => {
      given = await step(given);
    });
  }
  return costs;
}
