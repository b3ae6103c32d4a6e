// One, two and four API processes on one Redis: the CPU of a job, and how many jobs the machine completes.

import { upTo } from '../load/verbs.mjs';
import { inTurns, median, ratios, spreadOf, startMeter } from '../meter.mjs';
import { ADMIN_API_KEY, startApp, startWorker } from '../processes.mjs';

const APIS = [1, 2, 4];

/** Clients of each process, each of which sends a request after the response to the last one. */
const CLIENTS = 32;

/** Jobs that warm the processes up. */
const WARMING_JOBS = 12_000;

/** Measure one turn: µs of CPU per job by kind of process, jobs per second, and busy cores. */
async function turn({ processes, jobs, run }) {
  const spent = await startMeter(processes);
  const { seconds } = await run(jobs);
  const micros = await spent();
  const cores = Object.values(micros).reduce((sum, each) => sum + each, 0) / 1e6 / seconds;
  return { api: micros.api / jobs, redis: micros.redis / jobs, cores, perSecond: jobs / seconds };
}

/**
 * Measure jobs from create to complete over HTTP through one, two and four API processes. All of them run all the time; those
 * without requests take a thousandth of a core.
 */
export async function byApis(redis, { operations, rounds }) {
  const load = startWorker(new URL('../load/http-load.mjs', import.meta.url));
  const apis = [];
  for (let n = 0; n < Math.max(...APIS); n++) apis.push(await startApp('api', { REDIS_URL: redis.url }));
  const spaces = upTo(50).map((n) => `apis-${n}`);
  const common = { kind: 'cycle', key: ADMIN_API_KEY, spaces, payloadBytes: 200, names: 1 };
  const contestants = APIS.map((count) => {
    const api = apis.slice(0, count);
    const to = { ...common, urls: api.map(({ url }) => url), clients: CLIENTS * count };
    const processes = { api, redis: [redis], load: [load] };
    return { processes, jobs: operations * 4, run: (jobs) => load.call('run', { ...to, jobs }) };
  });
  try {
    // V8 must first compile the code in all processes. Otherwise the first one would be faster than the others.
    await contestants.at(-1).run(WARMING_JOBS);
    const turns = await inTurns(contestants, { rounds }, turn);
    return APIS.map((count, i) => {
      const row = (kind) => spreadOf(turns[i].map((each) => each[kind]));
      const times = (kind) => median(ratios(turns[i], turns[0], (each) => each[kind]));
      const medians = { cores: row('cores')[0], perSecond: row('perSecond')[0] };
      return {
        apis: count,
        api: row('api'),
        apiTimes: times('api'),
        redis: row('redis'),
        redisTimes: times('redis'),
        ...medians,
      };
    });
  } finally {
    for (const one of [load, ...apis]) await one.stop();
  }
}
