// The contestants: a worker in a separate process, which stays until the end of the run, and another process that adds jobs.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ANY_SPACE, getStats } from '@yardmaster/store';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { python } from '../../scripts/sdk/test.mjs';
import { atEvenRate, payloadOf } from '../load/worker.mjs';
import { ADMIN_API_KEY, startRedis, startServer, until } from '../processes.mjs';
import { build, hasGo, start, startTurns } from '../speed/go-contestants.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** Maximum number of jobs in one API call. */
const MOST_JOBS = 1_000;
/** Connections over which the Asynq producer fills a queue. */
const PRODUCERS = 16;

function hasPython() {
  try {
    execFileSync('python3', ['-c', 'import ensurepip, venv'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Start a worker whose process can be paused. */
function startPausable([command, ...args], env) {
  const program = start(command, args, env);
  return {
    ...program,
    stop() {
      program.child.kill('SIGCONT'); // A stopped process ends only once it continues.
      return program.stop();
    },
  };
}

/**
 * Create a contestant.
 *
 * @param queue.others other processes than the worker, by kind
 * @param queue.add `(count)` adds this number of jobs
 * @param queue.completed returns the total number of completed jobs
 * @param queue.claims returns the total number of claims; absent for workers that claim jobs one at a time
 */
function contestantOf(worker, { others, add, completed, claims = completed }) {
  let expected = 0;
  let before;
  async function hasCompletedAll() {
    if (worker.child.exitCode !== null) throw new Error(`a worker has ended with ${worker.child.exitCode}`);
    return (await completed()) === expected;
  }
  return {
    processes: { worker: [worker], ...others },
    /** Fill the queue while the worker is stopped, unless jobs arrive at a rate. */
    async prepare({ jobs, rate }) {
      before = await claims();
      if (rate !== undefined) return;
      worker.child.kill('SIGSTOP');
      await add(jobs);
    },
    async run({ jobs, rate }) {
      const began = performance.now();
      expected += jobs;
      if (rate === undefined) worker.child.kill('SIGCONT');
      else {
        const added = [];
        await atEvenRate({ rate, seconds: jobs / rate }, () => added.push(add(1)));
        await Promise.all(added);
      }
      await until(hasCompletedAll);
      const seconds = (performance.now() - began) / 1000;
      return { seconds, jobsPerClaim: jobs / ((await claims()) - before) };
    },
  };
}

/** Start the whole service in one process, because the worker of an SDK also opens a stream at the same address. */
async function startService({ own, redis }) {
  const server = await redis();
  const env = { REDIS_URL: server.url, LOG_LEVEL: 'info' };
  return { server, api: await own(startServer(path('../../apps/standalone/dist/main.js'), env)) };
}

/** Create a starter for the worker of an SDK in its own space. */
const ofSdk = (space, commandOf, env) => async (run) => {
  const { server, api } = await run.once('service', () => startService(run));
  const { concurrency, payload, own } = run;
  const target = { YARDMASTER_URL: api.url, YARDMASTER_API_KEY: ADMIN_API_KEY, YARDMASTER_SPACE: space };
  const worker = await own(startPausable(commandOf(), { ...target, CONCURRENCY: concurrency, ...env }));
  const headers = { 'x-api-key': ADMIN_API_KEY, 'content-type': 'application/json' };
  async function create(jobs) {
    const body = JSON.stringify(jobs);
    const response = await fetch(`${api.url}/api/v1/spaces/${space}/jobs`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
  return contestantOf(worker, {
    others: { api: [api], redis: [server] },
    async add(count) {
      const job = { name: 'bench', payload: payloadOf(payload) };
      for (let left = count; left > 0; left -= MOST_JOBS) await create(Array(Math.min(left, MOST_JOBS)).fill(job));
    },
    completed: async () => (await getStats(server.store, ANY_SPACE, space, { limit: 0, names: [] })).jobs.completed,
    // This counts all spaces, but only one of them is active.
    async claims() {
      const metrics = await (await fetch(`${api.url}/metrics`)).text();
      return Number(/^yardmaster_polls_total\{outcome="claimed"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
    },
  });
};

/** Starters by name. */
const STARTERS = {
  typescript: ofSdk('typescript', () => [process.execPath, path('worker.mjs')]),
  async bullmq({ own, redis, concurrency, payload }) {
    const server = await redis();
    const env = { REDIS_URL: server.url, CONCURRENCY: concurrency };
    const worker = await own(startPausable([process.execPath, path('bullmq.mjs')], env));
    const connection = new Redis(server.url, { maxRetriesPerRequest: null });
    const queue = new Queue('bench', { connection });
    await own({ stop: () => connection.disconnect() });
    return contestantOf(worker, {
      others: { redis: [server] },
      add: (count) => queue.addBulk(Array(count).fill({ name: 'bench', data: payloadOf(payload) })),
      completed: () => queue.getCompletedCount(),
    });
  },
  go: ofSdk('go', () => [build('sdkworker')]),
  async asynq({ own, redis, concurrency, payload }) {
    const server = await redis();
    const env = { REDIS_URL: server.url };
    const worker = await own(startPausable([build('asynqworker')], { ...env, CONCURRENCY: concurrency }));
    const producer = await own(startTurns('asynqproducer', env));
    let before;
    return contestantOf(worker, {
      others: { redis: [server] },
      // Sequentially, because the producer replies in the order of its lines.
      add(count) {
        const load = { jobs: count, clients: Math.min(count, PRODUCERS), payloadBytes: payload };
        before = Promise.resolve(before).then(() => producer.run(load));
        return before;
      },
      completed: async () => Number(await server.redis.get('asynq:{default}:processed')),
    });
  },
  // Use the SDK of this checkout, not one that may be installed there.
  python: ofSdk('python', () => [`${python()}python`, path('worker.py')], { PYTHONPATH: path('../../sdk/python/src') }),
};

export const CONTESTANTS = Object.keys(STARTERS);

/** List the contestants that cannot run on this machine. */
export const missing = () => [...(hasGo() ? [] : ['go', 'asynq']), ...(hasPython() ? [] : ['python'])];

/**
 * Start contestants.
 *
 * @param names names of CONTESTANTS
 * @param options.concurrency number of concurrent jobs
 * @param options.payload size of a payload in bytes
 * @returns contestants by name, `{processes, prepare(load), run(load)}`; `stop`
 */
export async function startContestants(names, options) {
  const started = [];
  const own = async (starting) => {
    started.push(await starting);
    return started.at(-1);
  };
  const made = {};
  const once = (name, make) => (made[name] ??= make());
  const redis = () => own(startRedis({ persistence: 'everysec', overTcp: true }));
  const stop = async () => {
    for (const one of started.toReversed()) await one.stop();
  };
  try {
    const contestants = {};
    for (const name of names) contestants[name] = await STARTERS[name]({ ...options, own, redis, once });
    return { contestants, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
