// npm run bench:streams [-- --sockets 10000] [--watchers 100] [--rate 1000] [--seconds 10] [--json]
//
// What open streams cost: memory of each, how long one message takes to reach all of them, and how much of a core a
// steady flow to some of them takes. The gateway, its clients and Redis are processes of their own; events are made
// by the store's verbs, as the API's calls make them.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startRedis } from '../processes.mjs';
import { measureFlow, measureJobs, measureSpace } from './measure.mjs';
import { startGateway, startWatchers } from './processes.mjs';

const number = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({
  options: {
    sockets: number(10_000),
    watchers: number(100),
    rate: number(1_000),
    seconds: number(10),
    json: { type: 'boolean' },
  },
});
const [sockets, watchers, rate, seconds] = [values.sockets, values.watchers, values.rate, values.seconds].map(Number);

const redis = await startRedis();
const clients = startWatchers();

async function withGateway(measure) {
  const gateway = await startGateway(redis.url);
  try {
    return await measure({ store: redis.store, gateway, watch: clients.watch, sockets, watchers, rate, seconds });
  } finally {
    gateway.stop();
  }
}

const cost = ({ bytesPerSocket, connectCpuMs }) => [
  `  memory       ${(bytesPerSocket / 1024).toFixed(1)} KB each, resident`,
  `  connecting   ${connectCpuMs.toFixed(2)} ms of CPU each`,
];

function report({ space, jobs, flow }) {
  const { p50, p99, max } = flow.latenessMs;
  return [
    `${sockets} open streams of one space`,
    ...cost(space),
    `  one message  reaches the last after ${space.lastMs.map((ms) => ms.toFixed(0)).join(', ')} ms (five times)`,
    `${sockets} open streams, each of a job of its own`,
    ...cost(jobs),
    `${rate} messages/s to a space with ${watchers} watchers, for ${seconds} s`,
    `  delivered    ${flow.delivered} of ${flow.expected}, made at ${flow.madePerSecond}/s`,
    `  cost         ${flow.cores.toFixed(2)} of a core, ${flow.cpuMicrosPerDelivery.toFixed(1)} µs of CPU per delivery`,
    `  lateness     p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms, from call to client`,
  ].join('\n');
}

try {
  const figures = {
    space: await withGateway(measureSpace),
    jobs: await withGateway(measureJobs),
    flow: await withGateway(measureFlow),
  };
  const machine = { node: process.version, cpu: cpus()[0].model, cores: cpus().length };
  process.stdout.write(`${values.json ? JSON.stringify({ machine, ...figures }) : report(figures)}\n`);
} finally {
  clients.stop();
  await redis.stop();
}
