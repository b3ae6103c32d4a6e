// The processes of a run: Redis, our apps; and what the system tells of them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLogger, createRedis, findRedisServer, PrivateRedis } from '@yardmaster/runtime';
import { createStore } from '@yardmaster/store';

export const ADMIN_API_KEY = 'admin-key-of-the-bench';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

process.setMaxListeners(50); // One for each process of a run.

// Whatever ends this process takes along what it has started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Milliseconds since the epoch, comparable between the processes of one machine. */
export const now = () => performance.timeOrigin + performance.now();

export async function until(condition, withinMs = 60_000) {
  for (const end = now() + withinMs; !(await condition()); await delay(20)) {
    if (now() > end) throw new Error(`waited in vain for: ${condition}`);
  }
}

/**
 * Settings of a Redis whose append-only file is written as told: `off`, `everysec` or `always`. It is never rewritten, since
 * the fork for that makes whoever has his turn just then pay for the copied pages.
 */
export const settingsOf = (persistence) =>
  persistence === 'off'
    ? { appendonly: 'no' }
    : { appendonly: 'yes', appendfsync: persistence, 'auto-aof-rewrite-percentage': '0' };

/** A port that nobody listens on. */
export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** The same Redis over TCP, as an installation has it: each read and write costs more than over a Unix socket. */
export const startTcpRedis = async (settings) => startRedis({ ...settings, port: String(await freePort()) });

/** A Redis of this run's own, and a store on it that makes the events. It keeps no file unless told. */
export async function startRedis(settings = { appendonly: 'no' }) {
  const binary = await findRedisServer(path('../.cache/redis'), (line) => process.stderr.write(`${line}\n`));
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-bench-'));
  const server = new PrivateRedis({ binary, dataDir: dir, settings });
  await server.start();
  const redis = createRedis(server.url, 'commands', createLogger('bench', 'error'));
  await redis.connect();
  return {
    url: settings.port === undefined ? server.url : `redis://127.0.0.1:${settings.port}`,
    pid: server.pid,
    store: createStore(redis, { eventsPerJob: 100 }),
    async stop() {
      redis.disconnect();
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Start apps/<name> on a free port, and wait until it is ready. */
export const startApp = (name, settings) => startServer(path(`../apps/${name}/dist/main.js`), settings);

/**
 * Start a server, which logs its url once it is ready.
 *
 * @param main path of the file
 * @param flags of Node
 */
export async function startServer(main, settings, flags = []) {
  const env = { PATH: process.env.PATH, ADMIN_API_KEY, PORT: '0', ...settings };
  const child = spawn(process.execPath, [...flags, main], { env });
  const exited = once(child, 'exit');
  process.on('exit', () => child.kill());
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const url = () => /"url":"(http:[^"]+)"/.exec(output)?.[1];
  await until(() => url() !== undefined || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`${main} did not start: ${output}`);
  return {
    url: url(),
    pid: child.pid,
    /** All that it has written so far. */
    output: () => output,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/** CPU time a process has used, in milliseconds: of all its threads, by the scheduler's clock of nanoseconds. */
export function cpuMs(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanos = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return nanos.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Memory of a process that is resident, in bytes. */
export function rssBytes(pid) {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}
