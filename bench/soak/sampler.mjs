// Take samples of the processes and of Redis at an even rate.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../load/worker.mjs';
import { infoField, rssBytes } from '../processes.mjs';

/** Measurements after garbage collection in a run, besides the first one. */
const COLLECTIONS = 20;

const sampleApp = async ({ pid, cpuMicros }) => ({
  at: now(),
  rssBytes: rssBytes(pid),
  fds: readdirSync(`/proc/${pid}/fd`).length,
  cpuMicros: await cpuMicros(),
});

/** Take a sample of Redis, with the number of jobs in some spaces. */
async function sampleRedis({ pid, cpuMicros, redis, store: { keys } }, spaces) {
  const [memory, clients, count, jobs] = await Promise.all([
    redis.info('memory'),
    redis.info('clients'),
    redis.dbsize(),
    Promise.all(spaces.map((space) => redis.zcard(keys.jobs(space)))),
  ]);
  return {
    at: now(),
    rssBytes: rssBytes(pid),
    cpuMicros: await cpuMicros(),
    usedBytes: infoField(memory, 'used_memory'),
    keys: count,
    clients: infoField(clients, 'connected_clients'),
    jobs: jobs.reduce((sum, n) => sum + n, 0),
  };
}

/**
 * Make a sampler of a Redis and of apps by name, which have an `inspector`.
 *
 * @param spaces whose jobs are counted
 */
export function createSampler({ redis, apps, spaces }) {
  /** Take a sample of each process, by name. */
  async function sample() {
    const taken = Object.entries(apps).map(async ([name, app]) => [name, await sampleApp(app)]);
    return Object.fromEntries([...(await Promise.all(taken)), ['redis', await sampleRedis(redis, spaces)]]);
  }

  /** Measure memory after garbage collection, one process after the other, so that they do not all pause at once. */
  async function collect() {
    const found = {};
    for (const [name, { inspector }] of Object.entries(apps)) found[name] = { at: now(), ...(await inspector.read()) };
    return found;
  }

  return {
    sample,
    /** @returns lists by name: `samples`, and `collected`, the memory after garbage collection */
    async run({ seconds, everyMs }) {
      const samples = [];
      const collected = [];
      const began = now();
      for (let n = 0; n * everyMs <= seconds * 1000; n++) {
        await delay(Math.max(0, began + n * everyMs - now()));
        samples.push(await sample());
        if (n * everyMs >= (collected.length * seconds * 1000) / COLLECTIONS) collected.push(await collect());
      }
      const byName = (list) =>
        Object.fromEntries(Object.keys(list[0]).map((name) => [name, list.map((one) => one[name])]));
      return { samples: byName(samples), collected: byName(collected) };
    },
  };
}
