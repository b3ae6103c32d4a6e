// The contestants: a worker in a process of its own, which stays until the end of the run, and another process that adds jobs.
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

/** Most jobs in one call of the API. */
const MOST_JOBS = 1_000;
/** Connections over which the producer of Asynq fills a queue. */
const PRODUCERS = 16;

function hasPython() {
  try {
    execFileSync('python3', ['-c', 'import ensurepip, venv'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Start a worker, whose process can be stopped for a while. */
function startPausable([command, ...args], env) {
  const program = start(command, args, env);
  return {
    ...program,
    stop() {
      program.child.kill('SIGCONT'); // A process that is stopped ends only once it continues.
      return program.stop();
    },
  };
}

/**
 * Make a contestant.
 *
 * @param queue.others processes by kind, besides the worker
 * @param queue.add `(count)` adds so many jobs
 * @param queue.completed returns the number of all jobs that were ever completed
 * @param queue.claims returns the number of all claims; absent for workers that claim each job alone
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

/** Start the whole service in one process, because the worker of an SDK also has a stream, from the same address. */
async function startService({ own, redis }) {
  const server = await redis();
  const env = { REDIS_URL: server.url, LOG_LEVEL: 'info' };
  return { server, api: await own(startServer(path('../../apps/standalone/dist/main.js'), env)) };
}

/** Make a starter of an SDK's worker, which has a space of its own. */
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
    // Of all spaces, but only one has its turn.
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
      // One after the other, because the producer answers in the order of its lines.
      add(count) {
        const load = { jobs: count, clients: Math.min(count, PRODUCERS), payloadBytes: payload };
        before = Promise.resolve(before).then(() => producer.run(load));
        return before;
      },
      completed: async () => Number(await server.redis.get('asynq:{default}:processed')),
    });
  },
  // Not the SDK that may be installed there, but that of this checkout.
  python: ofSdk('python', () => [`${python()}python`, path('worker.py')], { PYTHONPATH: path('../../sdk/python/src') }),
};

export const CONTESTANTS = Object.keys(STARTERS);

/** List the contestants that cannot run on this machine. */
export const missing = () => [...(hasGo() ? [] : ['go', 'asynq']), ...(hasPython() ? [] : ['python'])];

/**
 * Start contestants.
 *
 * @param names of CONTESTANTS
 * @param options.concurrency jobs at once
 * @param options.payload bytes
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
