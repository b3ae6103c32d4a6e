// node bench/speed/outliving.mjs [--calls 10000] [--clients 1000]
//
// Bytes for each empty poll that outlive two collections of what is new, and so stay until all of the heap is
// collected. Next to nothing should: a call leaves nothing behind. What is left of it is made among the old to begin
// with, where V8 has seen most of a kind live long; and anything that such an object refers to stays with it. Prints
// JSON. For the guard of test/speed.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ADMIN_API_KEY, startRedis, startServer } from '../processes.mjs';
import { startWorker } from './contestants.mjs';

const text = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({ options: { calls: text(6_000), clients: text(1_000) } });
const [calls, clients] = [values.calls, values.clients].map(Number);

const main = fileURLToPath(new URL('../../apps/api/dist/main.js', import.meta.url));
const redis = await startRedis();
const api = await startServer(main, { REDIS_URL: redis.url }, ['--trace-gc', '--trace-gc-nvp']);
const worker = startWorker('http-load');

const promotedBytes = () =>
  [...api.output().matchAll(/ promoted=(\d+)/g)].reduce((total, [, bytes]) => total + Number(bytes), 0);

try {
  const to = { urls: [api.url], key: ADMIN_API_KEY, spaces: ['outliving'], names: 1 };
  const load = { kind: 'idleFleet', jobs: calls, clients, payloadBytes: 200, ...to };
  await worker.run({ ...load, jobs: 2 * calls }); // What belongs to the connections lives as long as they do.
  const before = promotedBytes();
  await worker.run(load);
  process.stdout.write(`${JSON.stringify({ emptyPoll: Math.round((promotedBytes() - before) / calls) })}\n`);
} finally {
  worker.stop();
  for (const server of [api, redis]) await server.stop();
}
