// Measure calls of the store's verbs in pipelines: contestants take turns, step by step.
import { ANY_SPACE, ackJob, completeJob, createJob, pollJobs } from '@yardmaster/store';
import { inBatches, requestOf, upTo } from '../load/verbs.mjs';
import { inTurns, median, ratios, spreadOf, startMeter } from '../meter.mjs';

/** Calls in one write: as many as a busy process makes at once. */
const AT_ONCE = 50;

export const scaled = (number, scale) => Math.max(1, Math.round(number * scale));

/** Create a job at each of these places: a space, a name, and the names for polls. */
export const create = ({ store }, places, atOnce = AT_ONCE) =>
  inBatches(store.redis, places, atOnce, ({ spaceId, name }) => createJob(store, spaceId, requestOf({ name })));

/** Create `count` pending jobs, the n-th at `placeOf(n)`. */
export async function fill(redis, count, placeOf) {
  for (let from = 0; from < count; from += 10_000) {
    const places = upTo(Math.min(10_000, count - from)).map((n) => placeOf(from + n));
    await create(redis, places, 500);
  }
}

/** Poll once at each of these places, for `count` jobs. @returns their ids */
export async function poll({ store }, places, count) {
  const ids = [];
  await inBatches(store.redis, places, AT_ONCE, async ({ spaceId, asked = [] }) => {
    ids.push(...(await pollJobs(store, spaceId, { count, names: asked })).jobs.map(({ id }) => id));
  });
  return ids;
}

/**
 * Make a contestant whose jobs are created, polled one by one, acked and completed, so that the queue stays as long as it was.
 * The places of one turn follow those of the turn before.
 */
export function cycle(redis, count, placeOf) {
  const { store } = redis;
  let next = 0;
  return {
    redis,
    count,
    prepare: () => upTo(count).map(() => placeOf(next++)),
    steps: {
      async create(places) {
        await create(redis, places);
        return places;
      },
      async poll(places) {
        const ids = await poll(redis, places, 1);
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

/** Read the time that Redis has spent in scripts, microseconds. */
const scriptMicros = async ({ redis }) =>
  Number(/^cmdstat_evalsha:.*?usec=(\d+)/m.exec(await redis.info('commandstats'))?.[1] ?? 0);

/** Measure one turn: µs of Redis' CPU per call by step, and in scripts. Each step gets the result of the step before it. */
async function turn({ redis, count, prepare, steps }) {
  let given = await prepare();
  const costs = {};
  const scriptsBefore = await scriptMicros(redis);
  for (const [name, step] of Object.entries(steps)) {
    const spent = await startMeter({ redis: [redis] });
    given = await step(given);
    costs[name] = (await spent()).redis / count;
  }
  return { costs, inScripts: ((await scriptMicros(redis)) - scriptsBefore) / count };
}

const together = ({ costs }) => Object.values(costs).reduce((sum, cost) => sum + cost, 0);

/**
 * Let contestants take turns.
 *
 * @param groups lists of contestants, each with a `label` of fields for its row. Each is compared with the first of its list
 * @returns a row for each: medians of each step, and of all steps together with quartiles, in µs of Redis' CPU per call
 */
export async function compare(groups, { rounds }) {
  const turns = await inTurns(groups.flat(), { rounds }, turn);
  let at = 0;
  return groups.flatMap((group) => {
    const first = turns[at];
    return group.map(({ label, steps }) => {
      const own = turns[at++];
      const names = Object.keys(steps);
      const each = names.map((name) => [name, median(own.map(({ costs }) => costs[name]))]);
      return {
        ...label,
        ...(names.length > 1 && Object.fromEntries(each)),
        redis: spreadOf(own.map(together)),
        inScripts: median(own.map(({ inScripts }) => inScripts)),
        timesFirst: median(ratios(own, first, together)),
      };
    });
  });
}
