// node bench/speed/against-bare.mjs [--calls 1000] [--rounds 9] [--clients 16]
//
// What a call takes of the API's CPU, and what of a bare node:http server's that takes turns with it. Prints JSON: µs per
// call of both, by kind of call. For the guard of test/speed, and so no more than needs be.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ADMIN_API_KEY, startRedis, startServer } from '../processes.mjs';
import { startWorker } from './contestants.mjs';
import { summaryOf, takeTurns } from './turns.mjs';

const text = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({ options: { calls: text(1_000), rounds: text(9), clients: text(16) } });
const [calls, rounds, clients] = [values.calls, values.rounds, values.clients].map(Number);

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const PAYLOAD_BYTES = 200;

const redis = await startRedis();
const ours = await startServer(path('../../apps/api/dist/main.js'), { REDIS_URL: redis.url });
const bare = await startServer(path('bare.mjs'), { PAYLOAD_BYTES: String(PAYLOAD_BYTES), HAS_JOBS: 'false' });
const worker = startWorker('http-load');

const contestant = ({ pid, url }) => ({
  processes: [{ name: 'server', pid }],
  run: (load) => worker.run({ ...load, urls: [url] }),
});
const contestants = { ours: contestant(ours), bare: contestant(bare) };

async function measure(kind) {
  // A space for each kind, so that a poll is empty.
  const to = { key: ADMIN_API_KEY, spaces: [kind], names: 1 };
  const load = { kind, jobs: calls, clients, payloadBytes: PAYLOAD_BYTES, ...to };
  // Until V8 has compiled what it will, which takes a server longer that does more.
  for (const { run } of Object.values(contestants)) await run({ ...load, jobs: 8_000 });
  const turns = await takeTurns(contestants, rounds, load);
  // The lower quartile: what else runs on a machine makes a turn dearer, and never cheaper.
  const microsOf = (name) => summaryOf(turns[name]).cpuMicros.server.low;
  return { ours: microsOf('ours'), bare: microsOf('bare') };
}

try {
  const figures = { emptyPoll: await measure('emptyPoll'), create: await measure('create') };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  worker.stop();
  for (const server of [ours, bare, redis]) await server.stop();
}
