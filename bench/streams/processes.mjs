// The processes of a run: Redis, gateways, clients; and what the system tells of them.
import { fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLogger, createRedis, findRedisServer, PrivateRedis } from '@yardmaster/runtime';
import { createStore } from '@yardmaster/store';

export const ADMIN_API_KEY = 'admin-key-of-the-bench';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** Milliseconds since the epoch, comparable between the processes of one machine. */
export const now = () => performance.timeOrigin + performance.now();

export async function until(condition, withinMs = 60_000) {
  for (const end = now() + withinMs; !(await condition()); await delay(20)) {
    if (now() > end) throw new Error(`waited in vain for: ${condition}`);
  }
}

/** A Redis of this run's own, and a store on it that makes the events. */
export async function startRedis() {
  const binary = await findRedisServer(path('../../.cache/redis'), (line) => process.stderr.write(`${line}\n`));
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-bench-'));
  const server = new PrivateRedis({ binary, dataDir: dir, settings: { appendonly: 'no' } });
  await server.start();
  const redis = createRedis(server.url, 'commands', createLogger('bench', 'error'));
  await redis.connect();
  return {
    url: server.url,
    store: createStore(redis, { eventsPerJob: 100 }),
    async stop() {
      redis.disconnect();
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A gateway of its own for each measurement: one that has served before has memory to spare. */
export async function startGateway(redisUrl) {
  const env = { PATH: process.env.PATH, REDIS_URL: redisUrl, ADMIN_API_KEY, PORT: '0', STREAMS_PER_KEY: '1000000' };
  const child = spawn(process.execPath, [path('../../apps/gateway/dist/main.js')], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const port = () => /"url":"http:\/\/[^"]+:(\d+)"/.exec(output)?.[1];
  await until(() => port() !== undefined);
  return { pid: child.pid, port: Number(port()), stop: () => child.kill() };
}

/** Clients in another process, by the commands of watchers.mjs. */
export function startWatchers() {
  const child = fork(path('watchers.mjs'));
  const waiting = new Map();
  let lastId = 0;
  child.on('message', ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(value);
  });
  const watch = (command, options) =>
    new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve, reject });
      child.send({ id: lastId, command, options });
    });
  return { watch, stop: () => child.kill() };
}

const residentBytes = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

/** Resident memory once it does not fall any more: garbage of the handshakes is gone. */
export async function settledBytes(pid) {
  let lowest = residentBytes(pid);
  for (let quiet = 0; quiet < 10; quiet++) {
    await delay(300);
    if (residentBytes(pid) < lowest * 0.995) quiet = 0;
    lowest = Math.min(lowest, residentBytes(pid));
  }
  return lowest;
}

/** CPU time a process has used, in milliseconds. */
export function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
