// npm run bench:memory [-- --jobs 50000] [--json]: bytes of Redis memory per job, all keys counted, as the difference of used_memory.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLogger, createRedis, findRedisServer, PrivateRedis } from '@yardmaster/runtime';
import { ANY_SPACE, ackJob, completeJob, createJob, createStore, pollJobs } from '@yardmaster/store';

const { values } = parseArgs({ options: { jobs: { type: 'string', default: '50000' }, json: { type: 'boolean' } } });
const count = Number(values.jobs);

const say = (line) => process.stdout.write(`${line}\n`);
const cacheDir = fileURLToPath(new URL('../.cache/redis', import.meta.url));
const binary = await findRedisServer(cacheDir, (line) => process.stderr.write(`${line}\n`));
const dir = await mkdtemp(join(tmpdir(), 'yardmaster-bench-'));
const server = new PrivateRedis({ binary, dataDir: dir, settings: { appendonly: 'no' } });
await server.start();
const redis = createRedis(server.url, 'commands', createLogger('bench', 'error'));
await redis.connect();
const store = createStore(redis);

/** Used memory once Redis has freed what clients and the allocator hold for a moment. */
async function usedMemory() {
  await redis.call('MEMORY', 'PURGE');
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))[1]);
}

/** Do `each` for every number below `count`, 500 at a time. */
async function inBatches(each) {
  for (let from = 0; from < count; from += 500) {
    await Promise.all(Array.from({ length: Math.min(500, count - from) }, (_, i) => each(from + i)));
  }
}

// 200 bytes of JSON.
const payload = { text: 'x'.repeat(200 - '{"text":""}'.length) };
const request = {
  name: 'resize',
  payload,
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
};

const empty = await usedMemory();
await inBatches(() => createJob(store, 'bench', request));
const pending = await usedMemory();

for (let left = count; left > 0; ) {
  const jobs = await pollJobs(store, 'bench', { count: 50, names: [] });
  left -= jobs.length;
  await Promise.all(jobs.map(({ id }) => ackJob(store, ANY_SPACE, id)));
  await Promise.all(jobs.map(({ id }) => completeJob(store, ANY_SPACE, id, { ok: true })));
}
const completed = await usedMemory();

const figures = {
  redis: /^redis_version:(\S+)/m.exec(await redis.info('server'))[1],
  jobs: count,
  pendingBytes: Math.round((pending - empty) / count),
  completedBytes: Math.round((completed - empty) / count),
};
if (values.json) {
  say(JSON.stringify(figures));
} else {
  say(`Redis ${figures.redis}, ${count} jobs, payload of 200 bytes, result {"ok":true}`);
  say(`  pending    ${figures.pendingBytes} bytes per job`);
  say(`  completed  ${figures.completedBytes} bytes per job`);
}

redis.disconnect();
await server.stop();
await rm(dir, { recursive: true, force: true });
