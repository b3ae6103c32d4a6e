// What is measured. Each function takes a gateway that has served nothing yet.
import { setTimeout as delay } from 'node:timers/promises';
import { ANY_SPACE, ackJob, claimJob, createJob, heartbeatJob } from '@yardmaster/store';
import { ADMIN_API_KEY, cpuMs, now, until } from '../processes.mjs';
import { settledBytes } from './processes.mjs';

const TOKEN = `?token=${ADMIN_API_KEY}`;

const REQUEST = {
  name: 'bench',
  payload: null,
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
};

async function runningJob(store, spaceId) {
  const { id } = await createJob(store, spaceId, REQUEST);
  await claimJob(store, ANY_SPACE, id);
  await ackJob(store, ANY_SPACE, id);
  return id;
}

const event = (store, jobId, data) => heartbeatJob(store, ANY_SPACE, jobId, { kind: 'event', data });

/** What `sockets` streams of some paths cost to open and to keep. */
async function openMany({ gateway: { port, pid }, watch, sockets }, paths) {
  // Once open and close some: what the first sockets make Node load is not what sockets cost.
  await watch('open', { count: Math.min(500, sockets), port, paths });
  await watch('close');
  const before = await settledBytes(pid);
  const cpuBefore = cpuMs(pid);
  await watch('open', { count: sockets, port, paths });
  const connectCpuMs = (cpuMs(pid) - cpuBefore) / sockets;
  return { connectCpuMs, bytesPerSocket: Math.round(((await settledBytes(pid)) - before) / sockets) };
}

/** Many watchers of one space: their cost, and how long one message takes to reach the last of them. */
export async function measureSpace(run) {
  const { store, watch, sockets } = run;
  const jobId = await runningJob(store, 'many');
  const cost = await openMany(run, [`/api/v1/realtime/spaces/many${TOKEN}`]);
  const lastMs = [];
  for (let n = 0; n < 5; n++) {
    await watch('take');
    const sentAt = now();
    await event(store, jobId, 'one message');
    await until(async () => (await watch('frames')) >= sockets);
    lastMs.push((await watch('take')).lastAt - sentAt);
  }
  await watch('close');
  return { ...cost, lastMs: lastMs.sort((a, b) => a - b) };
}

/** As many watchers, each of a job, and so of a channel, of its own. */
export async function measureJobs(run) {
  const { store, watch, sockets } = run;
  const paths = [];
  while (paths.length < sockets) {
    const jobs = await Promise.all(Array.from({ length: 100 }, () => createJob(store, 'own', REQUEST)));
    paths.push(...jobs.map(({ id }) => `/api/v1/realtime/${id}${TOKEN}`));
  }
  const cost = await openMany(run, paths);
  await watch('close');
  return cost;
}

/** Events at an even rate, each with the time at which it was made; returns how many seconds that took. */
async function makeSteadily(store, jobId, { rate, seconds }) {
  const began = now();
  const text = 'x'.repeat(100);
  const calls = [];
  while (calls.length < rate * seconds) {
    const due = Math.min(rate * seconds, Math.floor(((now() - began) / 1000) * rate));
    while (calls.length < due) calls.push(event(store, jobId, { sentAt: now(), text }));
    await delay(1);
  }
  await Promise.all(calls);
  return (now() - began) / 1000;
}

const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];

/** A steady flow to some watchers: whether it keeps up, what it costs, and how late messages are. */
export async function measureFlow({ store, gateway, watch, watchers, rate, seconds }) {
  const jobId = await runningJob(store, 'flow');
  const paths = [`/api/v1/realtime/spaces/flow${TOKEN}`];
  await watch('open', { count: watchers, port: gateway.port, paths });
  await until(async () => (await watch('frames')) >= watchers); // Their inits.
  await watch('take');
  const cpuBefore = cpuMs(gateway.pid);
  const took = await makeSteadily(store, jobId, { rate, seconds });
  const expected = rate * seconds * watchers;
  await until(async () => (await watch('frames')) >= expected);
  const cpu = cpuMs(gateway.pid) - cpuBefore;
  const { frames, lateness } = await watch('take');
  await watch('close');
  lateness.sort((a, b) => a - b);
  return {
    madePerSecond: Math.round((rate * seconds) / took),
    delivered: frames,
    expected,
    cores: cpu / 1000 / took,
    cpuMicrosPerDelivery: (cpu * 1000) / frames,
    latenessMs: { p50: percentile(lateness, 0.5), p99: percentile(lateness, 0.99), max: lateness.at(-1) },
  };
}
