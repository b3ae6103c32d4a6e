// npm run bench:streams [-- --sockets 10000] [--watchers 100] [--rate 1000] [--seconds 10] [--json]
//
// What open streams cost: memory of each, how long one message takes to reach all of them, and how much of a core a
// steady flow to some of them takes. The gateway, its clients and Redis are processes of their own; events are made
// by the store's verbs, as the API's calls would make them.
import { fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLogger, createRedis, findRedisServer, PrivateRedis } from '@yardmaster/runtime';
import { ANY_SPACE, ackJob, claimJob, createJob, createStore, heartbeatJob } from '@yardmaster/store';

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

const ADMIN_API_KEY = 'admin-key-of-the-bench';
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const say = (line) => process.stdout.write(`${line}\n`);
const now = () => performance.timeOrigin + performance.now();

async function until(condition, withinMs = 60_000) {
  for (const end = now() + withinMs; !(await condition()); await delay(20)) {
    if (now() > end) throw new Error(`waited in vain for: ${condition}`);
  }
}

/** The processes that this run has started. */
const children = [];

async function startGateway(redisUrl) {
  const env = { PATH: process.env.PATH, REDIS_URL: redisUrl, ADMIN_API_KEY, PORT: '0', STREAMS_PER_KEY: '1000000' };
  const child = spawn(process.execPath, [path('../../apps/gateway/dist/main.js')], { env });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const url = () => /"url":"http:\/\/[^"]+:(\d+)"/.exec(output)?.[1];
  await until(() => url() !== undefined);
  return { pid: child.pid, port: Number(url()) };
}

/** Clients in another process, by the commands of watchers.mjs. */
function startWatchers() {
  const child = fork(path('watchers.mjs'));
  children.push(child);
  const waiting = new Map();
  let lastId = 0;
  child.on('message', ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(value);
  });
  return (command, options) =>
    new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve, reject });
      child.send({ id: lastId, command, options });
    });
}

const status = (pid, field) =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
const residentBytes = (pid) => status(pid, 'VmRSS') * 1024;

/** CPU time a process has used, in milliseconds. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory once it does not fall any more: garbage of the handshakes is gone. */
async function settledBytes(pid) {
  let lowest = residentBytes(pid);
  for (let quiet = 0; quiet < 10; quiet++) {
    await delay(300);
    if (residentBytes(pid) < lowest * 0.995) quiet = 0;
    lowest = Math.min(lowest, residentBytes(pid));
  }
  return lowest;
}

const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];

const binary = await findRedisServer(path('../../.cache/redis'), (line) => process.stderr.write(`${line}\n`));
const dir = await mkdtemp(join(tmpdir(), 'yardmaster-bench-'));
const server = new PrivateRedis({ binary, dataDir: dir, settings: { appendonly: 'no' } });
await server.start();
const redis = createRedis(server.url, 'commands', createLogger('bench', 'error'));
await redis.connect();
const store = createStore(redis, { eventsPerJob: 100 });

async function runningJob(spaceId) {
  const request = {
    name: 'bench',
    payload: null,
    maxRetries: 3,
    timeoutSeconds: 300,
    callbackUrl: null,
    callbackHeaders: null,
  };
  const { id } = await createJob(store, spaceId, request);
  await claimJob(store, ANY_SPACE, id);
  await ackJob(store, ANY_SPACE, id);
  return id;
}

/** Events at an even rate, each with the time it was made at. */
async function publishSteadily(jobId) {
  const began = now();
  const text = 'x'.repeat(100);
  const calls = [];
  for (let sent = 0; sent < rate * seconds; ) {
    const due = Math.min(rate * seconds, Math.floor(((now() - began) / 1000) * rate));
    for (; sent < due; sent++)
      calls.push(heartbeatJob(store, ANY_SPACE, jobId, { kind: 'event', data: { sentAt: now(), text } }));
    await delay(1);
  }
  await Promise.all(calls);
  return (now() - began) / 1000;
}

async function measureMany(gateway, watch) {
  const url = `/api/v1/realtime/spaces/many?token=${ADMIN_API_KEY}`;
  const jobId = await runningJob('many');
  // Once open and close some: what the first sockets make Node load is not what sockets cost.
  await watch('open', { count: Math.min(500, sockets), port: gateway.port, path: url });
  await watch('close');
  const before = await settledBytes(gateway.pid);
  const cpuBefore = cpuMs(gateway.pid);
  await watch('open', { count: sockets, port: gateway.port, path: url });
  const connectCpuMs = (cpuMs(gateway.pid) - cpuBefore) / sockets;
  const after = await settledBytes(gateway.pid);
  const lastMs = [];
  for (let run = 0; run < 5; run++) {
    await watch('take');
    const sentAt = now();
    await heartbeatJob(store, ANY_SPACE, jobId, { kind: 'event', data: 'one message' });
    await until(async () => (await watch('frames')) >= sockets);
    lastMs.push((await watch('take')).lastAt - sentAt);
  }
  await watch('close');
  return { bytesPerSocket: Math.round((after - before) / sockets), connectCpuMs, lastMs: lastMs.sort((a, b) => a - b) };
}

async function measureFlow(gateway, watch) {
  const jobId = await runningJob('flow');
  await watch('open', {
    count: watchers,
    port: gateway.port,
    path: `/api/v1/realtime/spaces/flow?token=${ADMIN_API_KEY}`,
  });
  await watch('take');
  const cpuBefore = cpuMs(gateway.pid);
  const took = await publishSteadily(jobId);
  const expected = rate * seconds * watchers;
  await until(async () => (await watch('frames')) >= expected);
  const cpu = cpuMs(gateway.pid) - cpuBefore;
  const { frames, lateness } = await watch('take');
  lateness.sort((a, b) => a - b);
  await watch('close');
  return {
    sentPerSecond: Math.round((rate * seconds) / took),
    delivered: frames,
    expected,
    core: cpu / 1000 / took,
    cpuMicrosPerDelivery: (cpu * 1000) / frames,
    latenessMs: { p50: percentile(lateness, 0.5), p99: percentile(lateness, 0.99), max: lateness.at(-1) },
  };
}

try {
  const gateway = await startGateway(server.url);
  const watch = startWatchers();
  const many = await measureMany(gateway, watch);
  const flow = await measureFlow(gateway, watch);
  if (values.json) {
    say(
      JSON.stringify({
        node: process.version,
        cpu: cpus()[0].model,
        cores: cpus().length,
        sockets,
        many,
        watchers,
        rate,
        flow,
      }),
    );
  } else {
    say(`${sockets} open streams of one space`);
    say(`  memory       ${(many.bytesPerSocket / 1024).toFixed(1)} KB each, resident`);
    say(`  connecting   ${many.connectCpuMs.toFixed(2)} ms of CPU each`);
    say(`  one message  reaches the last after ${many.lastMs.map((ms) => ms.toFixed(0)).join(', ')} ms (five runs)`);
    say(`${rate} messages/s to a space with ${watchers} watchers, for ${seconds} s`);
    say(`  delivered    ${flow.delivered} of ${flow.expected}, made at ${flow.sentPerSecond}/s`);
    say(
      `  cost         ${flow.core.toFixed(2)} of a core, ${flow.cpuMicrosPerDelivery.toFixed(1)} µs of CPU per delivery`,
    );
    const { p50, p99, max } = flow.latenessMs;
    say(
      `  lateness     p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms from call to client`,
    );
  }
} finally {
  for (const child of children) child.kill();
  redis.disconnect();
  await server.stop();
  await rm(dir, { recursive: true, force: true });
}
