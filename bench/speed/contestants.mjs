// The contestants: their processes, and how each is loaded.
import { fileURLToPath } from 'node:url';
import { ADMIN_API_KEY, startRedis, startServer, startWorker } from '../processes.mjs';
import { startAsynq, startFaktory } from './go-contestants.mjs';

const url = (relative) => new URL(relative, import.meta.url);
const path = (relative) => fileURLToPath(url(relative));

const KEY = { name: 'bench', scopes: ['jobs:create', 'jobs:poll', 'jobs:ack', 'jobs:progress', 'jobs:complete'] };

/** Create a worker's key, because the API does not look up ADMIN_API_KEY in Redis. */
async function keyOf(api) {
  const headers = { 'x-api-key': ADMIN_API_KEY, 'content-type': 'application/json' };
  const response = await fetch(`${api.url}/api/v1/keys`, { method: 'POST', headers, body: JSON.stringify(KEY) });
  return (await response.json()).key;
}

/** Start the API and the scheduler of a built checkout. */
async function startYardmaster(folder, { own, redis, load, apis = 1, flags = [] }) {
  const server = await redis();
  const env = { REDIS_URL: server.url, LOG_LEVEL: 'info' };
  const api = [];
  for (let n = 0; n < apis; n++) api.push(await own(startServer(`${folder}/apps/api/dist/main.js`, env, flags)));
  const scheduler = await own(startServer(`${folder}/apps/scheduler/dist/main.js`, env));
  const to = { urls: api.map((one) => one.url), key: await keyOf(api[0]) };
  const run = (options) => load.call('run', { ...options, ...to });
  return { processes: { api, redis: [server], scheduler: [scheduler], generator: [load] }, run };
}

/** Start a worker that generates the load itself, on its own Redis. */
async function startInProcess(name, { own, redis }) {
  const server = await redis();
  const client = await own(startWorker(url(`${name}.mjs`), { REDIS_URL: server.url }));
  return { processes: { client: [client], redis: [server] }, run: (options) => client.call('run', options) };
}

/** Starters by name. Contestants stay until the end of a run, and use almost no CPU between their turns. */
const STARTERS = {
  yardmaster: (run) => startYardmaster(path('../..'), run),
  /** Another checkout, such as the commit before a change. */
  other: ({ against, ...run }) => startYardmaster(against.folder, { ...run, flags: against.flags }),
  bullmq: (run) => startInProcess('bullmq', run),
  asynq: startAsynq,
  faktory: startFaktory,
  async bareRedis({ own, redis, load }) {
    const server = await redis();
    const api = await own(startServer(path('bare-redis.mjs'), { REDIS_URL: server.url }));
    const run = (options) => load.call('run', { ...options, urls: [api.url], key: 'none' });
    return { processes: { api: [api], redis: [server], generator: [load] }, run };
  },
  async bareHttp({ own, load, payload }) {
    const start = (hasJobs) => own(startServer(path('bare.mjs'), { PAYLOAD_BYTES: payload, HAS_JOBS: hasJobs }));
    // One server per response to a poll, because the request does not determine the response.
    const [full, empty] = [await start('true'), await start('false')];
    const urlFor = ({ kind }) => (kind === 'cycle' || kind === 'create' ? full.url : empty.url);
    const run = (options) => load.call('run', { ...options, urls: [urlFor(options)], key: 'none' });
    return { processes: { api: [full, empty], generator: [load] }, run };
  },
};

/** Contestants that are another contestant with a different kind of load. */
const VARIANTS = {
  turn: ['yardmaster', 'turn'],
  turnWithProgress: ['yardmaster', 'turnWithProgress'],
  batch10: ['yardmaster', 'batch10'],
  batch10WithProgress: ['yardmaster', 'batch10WithProgress'],
  batch50: ['yardmaster', 'batch50'],
  batch50WithProgress: ['yardmaster', 'batch50WithProgress'],
  withProgress: ['yardmaster', 'cycleWithProgress'],
  bullmqBulk: ['bullmq', 'batch50'],
};

/** Start a contestant, or create a variant of one that is running. */
async function contestantOf(name, options, started) {
  const [of, kind] = VARIANTS[name] ?? [name];
  started[of] ??= await STARTERS[of](options);
  return kind === undefined ? started[of] : { ...started[of], run: (load) => started[of].run({ ...load, kind }) };
}

/**
 * Start contestants.
 *
 * @param names names of STARTERS and VARIANTS
 * @param options.persistence persistence of each contestant's Redis
 * @param options.payload size of a payload in bytes
 * @param options.apis number of API processes; `flags`: their Node.js flags
 * @param options.against contestant `other`: the `folder` of its built checkout, and its Node.js `flags`
 * @returns contestants by name, `{processes, run(load)}` with lists of processes by kind; `redis`, a client; `stop`
 */
export async function startContestants(names, { persistence, ...options }) {
  const started = [];
  const own = async (starting) => {
    started.push(await starting);
    return started.at(-1);
  };
  const redis = () => own(startRedis({ persistence, overTcp: true }));
  const load = await own(startWorker(url('../load/http-load.mjs')));
  const stop = async () => {
    for (const one of started.toReversed()) await one.stop();
  };
  try {
    const [contestants, origins] = [{}, {}];
    for (const name of names) contestants[name] = await contestantOf(name, { ...options, own, redis, load }, origins);
    return { contestants, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
