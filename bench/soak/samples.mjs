// What the system, the processes and Redis tell of themselves.
import { readdirSync } from 'node:fs';
import { cpuMs, now, rssBytes } from '../processes.mjs';

/** One process of ours. Its metrics are read as a Prometheus would read them. */
export async function sampleApp({ pid, url }) {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return {
    at: now(),
    rssBytes: rssBytes(pid),
    fds: readdirSync(`/proc/${pid}/fd`).length,
    cpuMs: cpuMs(pid),
    heapBytes: Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)[1]),
  };
}

/** Redis, and the jobs that are kept in some spaces. */
export async function sampleRedis({ pid, store: { redis, keys } }, spaces) {
  const fieldOf = (info, field) => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)[1]);
  const [memory, clients, count, jobs] = await Promise.all([
    redis.info('memory'),
    redis.info('clients'),
    redis.dbsize(),
    Promise.all(spaces.map((space) => redis.zcard(keys.jobs(space)))),
  ]);
  return {
    at: now(),
    rssBytes: rssBytes(pid),
    cpuMs: cpuMs(pid),
    usedBytes: fieldOf(memory, 'used_memory'),
    keys: count,
    clients: fieldOf(clients, 'connected_clients'),
    jobs: jobs.reduce((sum, n) => sum + n, 0),
  };
}
