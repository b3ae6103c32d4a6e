// npm run bench:sizing [-- --rate 300] [--seconds 20] [--apis 1] [--json]
//
// What a flow of jobs takes of each process, to size an installation by: each job is created with a payload of 200
// bytes, polled, acked, reports progress once and completes. One Redis with an append-only file (everysec), API
// processes, one scheduler, each a process of its own, and the load another. Memory is at rest, under load and of what
// is stored.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { ADMIN_API_KEY, cpuMs, rssBytes, startApp, startRedis } from '../processes.mjs';

const number = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({
  options: { rate: number(300), seconds: number(20), apis: number(1), json: { type: 'boolean' } },
});
const [rate, seconds, apis] = [values.rate, values.seconds, values.apis].map(Number);

const redis = await startRedis({ appendonly: 'yes', appendfsync: 'everysec' });
const env = { REDIS_URL: redis.url, LOG_LEVEL: 'warn' };
const processes = [{ name: 'redis', pid: redis.pid }];
const started = [];
for (let n = 1; n <= apis; n++) started.push(await start('api', n));
await start('scheduler', 1);

async function start(name, n) {
  const app = await startApp(name, { ...env, LOG_LEVEL: 'info' });
  processes.push({ name: `${name} ${n}`, pid: app.pid, stop: app.stop });
  return app;
}

/** Send the load from a process of its own, and return what it counted. */
async function load(forSeconds) {
  const script = new URL('load.mjs', import.meta.url).pathname;
  const args = [script, String(rate), String(forSeconds), ADMIN_API_KEY, ...started.map(({ url }) => url)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the load ended with ${code}`);
  return JSON.parse(output);
}

const memoryOf = async () => Number(/used_memory:(\d+)/.exec(await redis.store.redis.info('memory'))[1]);
const megabytes = (bytes) => bytes / 1_048_576;

try {
  const atRest = processes.map(({ pid }) => rssBytes(pid));
  await load(5); // warm
  const storedBefore = await memoryOf();
  const before = processes.map(({ pid }) => cpuMs(pid));
  const { jobs, failed, elapsedMs, p50, p99 } = await load(seconds);
  const figures = {
    machine: `${cpus().length} × ${cpus()[0].model}`,
    node: process.version,
    wantedPerSecond: rate,
    jobsPerSecond: (jobs / elapsedMs) * 1000,
    failed,
    cycleMs: { p50, p99 },
    bytesPerStoredJob: ((await memoryOf()) - storedBefore) / jobs,
    processes: processes.map(({ name, pid }, i) => ({
      name,
      cpuMicrosPerJob: ((cpuMs(pid) - before[i]) * 1000) / jobs,
      restMb: megabytes(atRest[i]),
      loadMb: megabytes(rssBytes(pid)),
    })),
  };
  process.stdout.write(`${values.json ? JSON.stringify(figures) : report(figures)}\n`);
} finally {
  for (const { stop } of processes) await stop?.();
  await redis.stop();
}

function report({ machine, node, jobsPerSecond, failed, cycleMs, bytesPerStoredJob, processes: all }) {
  const rows = all.map(
    ({ name, cpuMicrosPerJob, restMb, loadMb }) =>
      `${name.padEnd(12)} ${cpuMicrosPerJob.toFixed(0).padStart(6)} µs/job = ${(cpuMicrosPerJob / 1000).toFixed(2)} cores at 1 000 jobs/s   ` +
      `${restMb.toFixed(0)} MB at rest, ${loadMb.toFixed(0)} MB under load`,
  );
  return [
    `${machine}, Node ${node}`,
    `${jobsPerSecond.toFixed(0)} jobs/s of five calls each, ${failed} calls failed; a whole cycle p50 ${cycleMs.p50.toFixed(1)} ms, p99 ${cycleMs.p99.toFixed(1)} ms`,
    ...rows,
    `${bytesPerStoredJob.toFixed(0)} bytes of Redis for each job kept`,
  ].join('\n');
}
