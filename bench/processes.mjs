// The processes of a run: Redis, the apps, other servers, and workers that generate load. All of them stop with this process.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRedis, findRedisServer, PrivateRedis } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import { createStore } from '@yardmaster/store';
import { freePort } from './free-port.mjs';
import { now } from './load/worker.mjs';

export const ADMIN_API_KEY = 'admin-key-of-the-bench-of-yardmaster';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** Running child processes. They are killed on `exit`, an event that a signal alone does not cause. */
const running = new Set();
process.on('exit', () => {
  for (const child of running) {
    child.kill();
    child.kill('SIGCONT'); // A stopped process ends only once it continues.
  }
});

/** Kill a child process when this process exits. */
export function killOnExit(child) {
  running.add(child);
  child.once('exit', () => running.delete(child));
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Wait until a condition is true. */
export async function until(condition, withinMs = 60_000) {
  for (const end = now() + withinMs; !(await condition()); await delay(20)) {
    if (now() > end) throw new Error(`condition was not true in time: ${condition}`);
  }
}

/** Find the redis-server that `npm start` uses, for all runs. */
export const findRedis = () => findRedisServer(path('../.cache/redis'), (line) => process.stderr.write(`${line}\n`));

/**
 * Start a Redis for this run, with a client and a store.
 *
 * @param options.persistence how the append-only file is written: `off`, `everysec` or `always`. It is never rewritten, because
 *   the pages copied by the fork would slow down one contestant
 * @param options.logLevel log level of the client; 'fatal' for a bench that stops Redis on purpose
 * @param options.overTcp whether contestants use TCP, as in an installation, which costs more than a Unix socket
 * @param options.under command that runs redis-server, as a list of words, such as valgrind with its options
 * @param options.others additional settings of redis-server
 * @param options.commandTimeoutMs timeout of the client's commands. Default: as in an installation
 */
export async function startRedis({
  persistence = 'off',
  overTcp = false,
  logLevel = 'error',
  under = [],
  others = {},
  commandTimeoutMs,
} = {}) {
  const found = await findRedis();
  // The last word is redis-server. An env(1) that sets its environment may precede it.
  const [command, ...args] = [found.command, ...found.args].toSpliced(-1, 0, ...under);
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-bench-'));
  const settings = {
    ...others,
    appendonly: persistence === 'off' ? 'no' : 'yes',
    ...(persistence !== 'off' && { appendfsync: persistence, 'auto-aof-rewrite-percentage': '0' }),
    ...(overTcp && { port: String(await freePort()) }),
  };
  const server = new PrivateRedis({ binary: { command, args }, dataDir: dir, settings });
  await server.start();
  const redis = createRedis(server.url, 'commands', createLogger('bench', logLevel), commandTimeoutMs);
  await redis.connect();
  let isStopped = false;
  return {
    url: overTcp ? `redis://127.0.0.1:${settings.port}` : server.url,
    pid: server.pid,
    redis,
    store: createStore(redis, { eventsPerJob: 100 }),
    cpuMicros: async () => {
      const info = await redis.info('cpu');
      return (infoField(info, 'used_cpu_user') + infoField(info, 'used_cpu_sys')) * 1e6;
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      redis.disconnect();
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Read a number from the reply to INFO. */
export const infoField = (info, field) => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)[1]);

/** Start apps/<name> on a free port, and wait until it is ready. */
export const startApp = (name, settings) => startServer(path(`../apps/${name}/dist/main.js`), settings);

/**
 * Start a server that logs its URL once it is ready.
 *
 * @param main path of its main file
 * @param settings environment variables
 * @param flags Node.js flags
 */
export async function startServer(main, settings, flags = []) {
  const env = { PATH: process.env.PATH, ADMIN_API_KEY, PORT: '0', ...settings };
  const child = spawn(process.execPath, [...flags, main], { env });
  const exited = once(child, 'exit');
  killOnExit(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const url = () => /"url":"(http:[^"]+)"/.exec(output)?.[1];
  await until(() => url() !== undefined || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`${main} did not start: ${output}`);
  return {
    url: url(),
    pid: child.pid,
    cpuMicros: async () => cpuMicrosOf(child.pid),
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/**
 * Start a worker: a script that serves commands (worker.mjs).
 *
 * @param url URL of the script
 * @returns object with `call(command, options)`, which resolves with the result of the command
 */
export function startWorker(url, env = {}) {
  const child = fork(fileURLToPath(url), [], { env: { PATH: process.env.PATH, ...env } });
  killOnExit(child);
  const waiting = new Map();
  let lastId = 0;
  const settle = (id, { value, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(`${url}: ${error}`));
  };
  child.on('message', ({ id, ...outcome }) => settle(id, outcome));
  child.on('exit', () => {
    for (const id of waiting.keys()) settle(id, { error: 'has ended' });
  });
  return {
    pid: child.pid,
    cpuMicros: async () => cpuMicrosOf(child.pid),
    call: (command, options) =>
      new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        child.send({ id: lastId, command, options });
      }),
    stop: async () => child.kill(),
  };
}

/** Read the CPU time of all threads of a process from the kernel's scheduler, in microseconds. */
export function cpuMicrosOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanos = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return nanos.reduce((sum, one) => sum + one, 0) / 1e3;
}

/** Read the resident memory of a process in bytes. */
export function rssBytes(pid) {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}
