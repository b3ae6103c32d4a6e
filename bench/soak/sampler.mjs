// Looks at even times at what the system, the processes and Redis show of themselves.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { infoField, rssBytes } from '../processes.mjs';
import { now } from '../worker.mjs';

/** Times in a run at which what lives on the heap is looked at, besides its beginning. */
const COLLECTIONS = 20;

const sampleApp = async ({ pid, cpuMicros }) => ({
  at: now(),
  rssBytes: rssBytes(pid),
  fds: readdirSync(`/proc/${pid}/fd`).length,
  cpuMicros: await cpuMicros(),
});

/** Redis, and the jobs that are kept in some spaces. */
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
 * Make what takes samples of a Redis and of apps, which have an `inspector`, by name.
 *
 * @param spaces whose jobs are counted
 */
export function createSampler({ redis, apps, spaces }) {
  /** What is there just now, by name. */
  async function sample() {
    const taken = Object.entries(apps).map(async ([name, app]) => [name, await sampleApp(app)]);
    return Object.fromEntries([...(await Promise.all(taken)), ['redis', await sampleRedis(redis, spaces)]]);
  }

  /** What lives on the heaps, one process after the other, so that not all stand still at once. */
  async function live() {
    const found = {};
    for (const [name, { inspector }] of Object.entries(apps)) found[name] = { at: now(), ...(await inspector.read()) };
    return found;
  }

  return {
    sample,
    /** @returns lists by name: `samples`, and `lives`, of what is on the heap once it is collected */
    async run({ seconds, everyMs }) {
      const samples = [];
      const lives = [];
      const began = now();
      for (let n = 0; n * everyMs <= seconds * 1000; n++) {
        await delay(Math.max(0, began + n * everyMs - now()));
        samples.push(await sample());
        if (n * everyMs >= (lives.length * seconds * 1000) / COLLECTIONS) lives.push(await live());
      }
      const byName = (list) =>
        Object.fromEntries(Object.keys(list[0]).map((name) => [name, list.map((one) => one[name])]));
      return { samples: byName(samples), lives: byName(lives) };
    },
  };
}
