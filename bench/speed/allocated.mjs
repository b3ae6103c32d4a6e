// node bench/speed/allocated.mjs [--calls 700] [--rounds 5] [--clients 16]
//
// Bytes that the API takes from its heap for a call, and for the four calls of a job's life. Prints JSON: the median of the
// rounds in which nothing was collected, so that what is used only grew. For the guard of test/speed.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { summary } from '../meter.mjs';
import { ADMIN_API_KEY, startRedis, startServer } from '../processes.mjs';
import { startWorker } from './contestants.mjs';

const text = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({ options: { calls: text(700), rounds: text(5), clients: text(16) } });
const [calls, rounds, clients] = [values.calls, values.rounds, values.clients].map(Number);

/** Room for new objects, in MB: several rounds have it before there is a collection. */
const ROOM = 192;
const FLAGS = [`--min-semi-space-size=${ROOM}`, `--max-semi-space-size=${ROOM}`];

const main = fileURLToPath(new URL('../../apps/api/dist/main.js', import.meta.url));
const redis = await startRedis();
const api = await startServer(main, { REDIS_URL: redis.url }, FLAGS);
const worker = startWorker('http-load');

async function scrape() {
  const metrics = await (await fetch(`${api.url}/metrics`)).text();
  const sum = (pattern) => [...metrics.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    usedBytes: sum(/^nodejs_heap_size_used_bytes (\S+)/gm),
    collections: sum(/^nodejs_gc_duration_seconds_count\{[^}]*\} (\S+)/gm),
  };
}

/** Bytes that were taken, less what a scrape takes itself; null when something was collected. */
async function takenDuring(act) {
  const [first, before] = [await scrape(), await scrape()];
  await act();
  const after = await scrape();
  if (after.collections !== first.collections) return null;
  return after.usedBytes - before.usedBytes - (before.usedBytes - first.usedBytes);
}

async function measure(kind) {
  const to = { urls: [api.url], key: ADMIN_API_KEY, spaces: [kind], names: 1 };
  const load = { kind, jobs: calls, clients, payloadBytes: 200, ...to };
  await worker.run({ ...load, jobs: 3_000 }); // Code that is not compiled yet takes more.
  const taken = [];
  for (let round = 0; round < rounds; round++) taken.push(await takenDuring(() => worker.run(load)));
  return Math.round(summary(taken.filter((bytes) => bytes !== null)).median / calls);
}

try {
  const figures = {
    emptyPoll: await measure('emptyPoll'),
    create: await measure('create'),
    cycle: await measure('cycle'),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  worker.stop();
  for (const server of [api, redis]) await server.stop();
}
