// What Redis and this process spend, and how contestants take turns so that a noisy machine is unfair to none of them.
import { setTimeout as delay } from 'node:timers/promises';

const fieldOf = (info, field) => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)[1]);

/** Used memory once Redis has freed what clients, the allocator and growing tables hold for a moment. */
export async function settledMemory(redis) {
  for (let last = 0; ; ) {
    await redis.call('MEMORY', 'PURGE');
    const now = fieldOf(await redis.info('memory'), 'used_memory');
    if (Math.abs(now - last) < 10_000) return now;
    last = now;
    await delay(1_000);
  }
}

/** CPU that Redis and this process have used, in microseconds. */
async function cpuMicros(redis) {
  const info = await redis.info('cpu');
  const { user, system } = process.cpuUsage();
  return { redis: (fieldOf(info, 'used_cpu_user') + fieldOf(info, 'used_cpu_sys')) * 1e6, client: user + system };
}

/** Time that Redis has spent within scripts, in microseconds, by its own count. */
async function scriptMicros(redis) {
  return Number(/^cmdstat_evalsha:.*?usec=(\d+)/m.exec(await redis.info('commandstats'))?.[1] ?? 0);
}

/**
 * Microseconds per operation of `run`, which does `count` of them: CPU of Redis and of this process, and what of
 * Redis' time was spent within scripts.
 */
export async function measure(redis, count, run) {
  // The counts of scripts are asked outside of the others, so that they are not part of what those cost.
  const scriptsBefore = await scriptMicros(redis);
  const before = await cpuMicros(redis);
  await run();
  const after = await cpuMicros(redis);
  const scriptsAfter = await scriptMicros(redis);
  return {
    redis: (after.redis - before.redis) / count,
    client: (after.client - before.client) / count,
    script: (scriptsAfter - scriptsBefore) / count,
  };
}

/**
 * Do some steps for all items, `atOnce` of them at a time; their commands leave in one write, so that Redis reads them
 * as a pipeline, as it does those of a busy process. ioredis alone would make a write of each.
 */
export async function inBatches(redis, items, atOnce, ...steps) {
  for (let from = 0; from < items.length; from += atOnce) {
    for (const step of steps) {
      const { stream } = redis;
      stream.cork();
      // After the microtasks: a verb may await something before it writes.
      setImmediate(() => stream.uncork());
      await Promise.all(items.slice(from, from + atOnce).map(step));
    }
  }
}

/** The number below which this part of some sorted numbers is. */
export const percentile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

/** Median and quartiles of some numbers. */
export function summary(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return { median: percentile(sorted, 0.5), low: percentile(sorted, 0.25), high: percentile(sorted, 0.75) };
}

/**
 * Let contestants take turns, forwards in one round and backwards in the next.
 *
 * @param options.warming how many rounds warm up first, and are left out
 * @param turn what one turn of a contestant does; its result is kept
 * @returns by name: the results of each round
 */
export async function inTurns(contestants, { rounds, warming = 1 }, turn) {
  const names = Object.keys(contestants);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < warming + rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = await turn(contestants[name]);
      if (round >= warming) results[name].push(result);
    }
  }
  return results;
}

/**
 * Let contestants take turns, each of which is measured as a whole.
 *
 * @param contestants by name: `prepare`, not measured, makes what `run` works on
 * @returns by name: what each round cost, in µs per operation
 */
export function takeTurns(redis, contestants, { rounds, count }) {
  return inTurns(contestants, { rounds }, async ({ prepare, run }) => {
    const prepared = await prepare();
    return measure(redis, count, () => run(prepared));
  });
}

/** The next `count` of some items at each call, over and over: what a turn works on, the turn before did not warm. */
export function nextOf(items, count) {
  let at = 0;
  return () => {
    if (at + count > items.length) at = 0;
    at += count;
    return items.slice(at - count, at);
  };
}
