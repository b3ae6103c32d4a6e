// Who takes part: each with the processes that do its work, and a way to have it do some jobs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createKey } from '@yardmaster/store';
import { settingsOf, startApp, startServer, startTcpRedis } from '../processes.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** A process that does what it is told by messages. */
export function startWorker(name, env = {}) {
  const child = fork(path(`${name}.mjs`), [], { env: { PATH: process.env.PATH, ...env } });
  process.on('exit', () => child.kill());
  child.on('exit', () => child.emit('message', { error: 'has ended' }));
  return {
    pid: child.pid,
    async run(load) {
      child.send(load);
      const [done] = await once(child, 'message');
      if (done.error !== undefined) throw new Error(`${name}: ${done.error}`);
      return done;
    },
    stop: () => child.kill(),
  };
}

const KEY = {
  name: 'bench',
  scopes: ['jobs:create', 'jobs:poll', 'jobs:ack', 'jobs:complete'],
  spaceId: null,
  expiresAt: null,
};

/**
 * Start everybody.
 *
 * @param options.apis how many processes of our API
 * @param options.against another API that takes part as `other`: the folder of its checkout, built, and flags of Node
 * @param options.flags of Node, for our API
 */
export async function startContestants({ persistence, payload, apis = 1, flags = [], against }) {
  const settings = settingsOf(persistence);
  const [ours, bulls, bare] = [
    await startTcpRedis(settings),
    await startTcpRedis(settings),
    await startTcpRedis(settings),
  ];
  const env = { REDIS_URL: ours.url, LOG_LEVEL: 'info' };
  const servers = [];
  for (let n = 0; n < apis; n++) servers.push(await startServer(path('../../apps/api/dist/main.js'), env, flags));
  const scheduler = await startApp('scheduler', env);
  const plain = await startServer(path('plain-express.mjs'), env);
  const others = against && (await startTcpRedis(settings));
  const other =
    against &&
    (await startServer(`${against.folder}/apps/api/dist/main.js`, { ...env, REDIS_URL: others.url }, against.flags));
  const leastRedis = await startTcpRedis(settings);
  const least = await startServer(path('bare-redis.mjs'), { REDIS_URL: leastRedis.url });
  const node = (hasJobs) => startServer(path('bare.mjs'), { PAYLOAD_BYTES: payload, HAS_JOBS: hasJobs });
  const [full, empty] = [await node('true'), await node('false')];
  const { key } = await createKey(ours.store, KEY);
  const otherKey = against && (await createKey(others.store, KEY)).key;
  const load = startWorker('http-load');
  const bullmq = startWorker('bullmq', { REDIS_URL: bulls.url });
  const scripts = startWorker('scripts', { REDIS_URL: bare.url });

  // A server of its own for each: which bodies it answers is not decided by the request.
  const bareOf = ({ kind }) => (kind === 'emptyPoll' || kind === 'idleFleet' ? empty : full);
  const over =
    (urls, as = key) =>
    (options) =>
      load.run({ ...options, urls, key: as });
  let isStopped = false;
  const redisOf = (server) => ({ name: 'redis', pid: server.pid });
  const apiProcesses = servers.map(({ pid }) => ({ name: 'api', pid }));
  return {
    redis: ours.store.redis,
    contestants: {
      yardmaster: {
        processes: [...apiProcesses, redisOf(ours), { name: 'scheduler', pid: scheduler.pid }],
        run: over(servers.map(({ url }) => url)),
      },
      ...(against && {
        other: { processes: [{ name: 'api', pid: other.pid }, redisOf(others)], run: over([other.url], otherKey) },
      }),
      plainExpress: { processes: [{ name: 'api', pid: plain.pid }, redisOf(ours)], run: over([plain.url]) },
      bareRedis: { processes: [{ name: 'api', pid: least.pid }, redisOf(leastRedis)], run: over([least.url]) },
      bareHttp: {
        processes: [full, empty].map(({ pid }) => ({ name: 'api', pid })),
        run: (options) => over([bareOf(options).url])(options),
      },
      bullmq: { processes: [{ name: 'client', pid: bullmq.pid }, redisOf(bulls)], run: bullmq.run },
      scripts: { processes: [{ name: 'client', pid: scripts.pid }, redisOf(bare)], run: scripts.run },
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      for (const child of [load, bullmq, scripts]) child.stop();
      for (const server of [...servers, scheduler, plain, least, full, empty, other]) await server?.stop();
      for (const server of [ours, bulls, bare, leastRedis, others]) await server?.stop();
    },
  };
}
