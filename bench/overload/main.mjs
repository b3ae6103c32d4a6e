// npm run test:overload [-- --only pipelining,redis-slow --seconds 60]: overload on purpose, from outside, and what came of it.
// Starts a Redis and an API of its own for each scenario, loads them over HTTP, prints a table, and exits 1 if anything is not
// as it must be. Takes some ten minutes. Times are compared with GET /livez in the same run, so a slow machine does no harm.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ADMIN_API_KEY, rssBytes, startApp, startRedis, startWorker, until } from '../processes.mjs';
import { limitCpu } from '../slow-process.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, seconds: { type: 'string', default: '60' } },
});
const SECONDS = Number(values.seconds);
const MB = 1_048_576;

const worker = (name) => startWorker(new URL(`./${name}.mjs`, import.meta.url));
const percentile = (times, part) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
const round = (value) => Math.round(value);

/** Run with a Redis, an API, a scheduler and a worker of their own. */
async function withService(run) {
  const parts = [];
  const started = (part) => {
    parts.unshift(part);
    return part;
  };
  try {
    const redis = started(await startRedis({ overTcp: true }));
    const settings = { REDIS_URL: redis.url, LOG_LEVEL: 'info' };
    const api = started(await startApp('api', settings));
    started(await startApp('scheduler', settings));
    const [load, others, flood] = ['load', 'load', 'flood'].map((name) => started(worker(name)));
    const of = { url: api.url, key: ADMIN_API_KEY };
    return await run({ redis, api, of, load, others, flood });
  } finally {
    for (const part of parts) await part.stop();
  }
}

/** Make an API key. */
async function keyFor(api, spaceId) {
  const response = await fetch(`${api.url}/api/v1/keys`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: spaceId, scopes: ['jobs:create', 'jobs:worker', 'jobs:read'], spaceId }),
  });
  return (await response.json()).key;
}

/** Measure the memory of a process while something runs: the most above rest, in MB. */
async function peakOf(pid, run) {
  const rest = rssBytes(pid);
  let peak = rest;
  const timer = setInterval(() => {
    peak = Math.max(peak, rssBytes(pid));
  }, 50);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return (peak - rest) / MB;
}

/** The 99th percentile of callers must be at most 200 ms, or five times that of GET /livez. */
function quickEnough({ [PROBED]: probed, '/livez': live }, what) {
  const [p99, live99] = [probed, live].map(({ times }) => percentile(times, 0.99));
  const seen = `p50 ${round(percentile(probed.times, 0.5))} ms, p99 ${round(p99)} ms, GET /livez p99 ${round(live99)} ms`;
  return [`${what}: p99 ≤ 200 ms or 5 × GET /livez`, seen, p99 <= Math.max(200, 5 * live99)];
}

const PROBED = '/spaces/elsewhere/jobs?limit=1';

function pipelining(title, { connections, requests, seconds, hasKey }) {
  return [
    title,
    () =>
      withService(async ({ api, of, others, flood }) => {
        const key = hasKey ? of.key : 'none';
        let running = true;
        let came;
        const growth = await peakOf(api.pid, async () => {
          const probe = others.call('probe', { ...of, paths: [PROBED, '/livez'], everyMs: 50, seconds: seconds ?? 20 });
          const flooding = flood.call('pipeline', { url: of.url, key, connections, requests, seconds });
          flooding.then(() => (running = false));
          came = await flooding;
          others.measured = await probe;
        });
        const after = await others.call('probe', { ...of, paths: [PROBED, '/livez'], everyMs: 20, seconds: 1 });
        return [
          ['responses', came, !running],
          ['memory above rest ≤ 150 MB', `${round(growth)} MB`, growth <= 150],
          quickEnough(others.measured, 'others'),
          quickEnough(after, 'afterwards'),
        ];
      }),
  ];
}

/** Offer creates while something is slow, with a quiet tenant beside them, and compare what was answered with what is stored. */
async function offered({ redis, api, of, load, others }, { rate, slow, capacity }) {
  const spaceId = 'busy';
  const quiet = { url: of.url, key: await keyFor(api, 'quiet'), spaceId: 'quiet', timeoutSeconds: 5, everyMs: 1_000 };
  const busy = { url: of.url, key: await keyFor(api, spaceId), spaceId, rate, seconds: SECONDS };
  const keeping = others.call('keepAlive', { ...quiet, jobs: 10, seconds: SECONDS + 5 });
  await delay(1_000);
  const offering = load.call('offer', busy);
  await slow?.();
  const outcomes = await offering;
  const back = performance.now();
  await until(async () => {
    const response = await fetch(`${api.url}/api/v1${PROBED}`, { headers: { 'x-api-key': of.key } });
    return response.status === 200;
  });
  const backMs = performance.now() - back;
  const created = await numbersOf(redis, spaceId);
  const timedOut = await keeping;
  const of503 = (code) => outcomes.filter(([, status, given]) => status === 503 && given === code);
  const happened = (some) => some.filter(([n]) => created.has(n)).length;
  const overloaded = of503('OVERLOADED');
  const unknown = outcomes.filter(([, status, code]) => status !== 201 && code !== 'OVERLOADED');
  const succeeded = outcomes.filter(([, status]) => status === 201);
  const perSecond = succeeded.length / SECONDS;
  return [
    ['creates, of them 201', `${outcomes.length}, ${succeeded.length}`, true],
    ['201 that did not happen: 0', succeeded.length - happened(succeeded), succeeded.length === happened(succeeded)],
    ['OVERLOADED that happened: 0', `${happened(overloaded)} of ${overloaded.length}`, happened(overloaded) === 0],
    ['other failures that happened', `${happened(unknown)} of ${unknown.length}`, true],
    ["a quiet tenant's jobs timed out: 0", timedOut, timedOut === 0],
    ['normal within 3 s', `${round(backMs)} ms`, backMs <= 3_000],
    ...(capacity === undefined
      ? []
      : [['goodput ≥ 85 % of capacity', `${round(perSecond)} of ${round(capacity)}/s`, perSecond >= 0.85 * capacity]]),
  ];
}

/** The numbers of the jobs that a space has. */
async function numbersOf({ store, redis }, spaceId) {
  const numbers = new Set();
  const ids = await redis.zrange(store.keys.jobs(spaceId), 0, -1);
  for (let i = 0; i < ids.length; i += 1_000) {
    const payloads = await Promise.all(ids.slice(i, i + 1_000).map((id) => redis.hget(store.keys.job(id), 'payload')));
    for (const payload of payloads) numbers.add(JSON.parse(payload ?? '{}').n);
  }
  return numbers;
}

/** Measure the capacity of a limited service, and offer three times as much. */
const saturated = (limited, share, periodMs) => () =>
  withService(async (service) => {
    const { of, load, api } = service;
    const free = limitCpu(limited(service), share, periodMs);
    try {
      const key = await keyFor(api, 'capacity');
      await load.call('capacity', { ...of, key, spaceId: 'capacity', connections: 256, seconds: 3 });
      const capacity = await load.call('capacity', { ...of, key, spaceId: 'capacity', connections: 256, seconds: 10 });
      return await offered(service, { rate: 3 * capacity, capacity });
    } finally {
      free();
    }
  });

/** Stop Redis again and again, for so long at a time. */
const stopping = (ms) => () =>
  withService((service) =>
    offered(service, {
      rate: 200,
      async slow() {
        for (const end = performance.now() + (SECONDS - 5) * 1_000; performance.now() < end; ) {
          process.kill(service.redis.pid, 'SIGSTOP');
          await delay(ms);
          process.kill(service.redis.pid, 'SIGCONT');
          await delay(2_000);
        }
      },
    }),
  );

/** Forty readers of a page of 25 MB with one key. */
const longReads = () =>
  withService(async ({ api, of, load, others }) => {
    const key = await keyFor(api, 'large');
    const body = JSON.stringify({ name: 'large', payload: { text: 'x'.repeat(250_000) } });
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    for (let n = 0; n < 100; n++) await fetch(`${api.url}/api/v1/spaces/large/jobs`, { method: 'POST', headers, body });
    const tiny = await fetch(`${api.url}/api/v1/spaces/elsewhere/jobs`, {
      method: 'POST',
      headers: { 'x-api-key': of.key, 'content-type': 'application/json' },
      body: '{"name":"tiny"}',
    });
    const path = `/jobs/${(await tiny.json()).id}`;
    const readers = load.call('probe', {
      ...{ url: of.url, key, everyMs: 0, seconds: 20 },
      paths: Array(40).fill('/spaces/large/jobs?limit=100'),
    });
    const { [path]: read, '/livez': live } = await others.call('probe', {
      ...of,
      ...{ paths: [path, '/livez'], everyMs: 20, seconds: 20 },
    });
    await readers;
    return [
      quickEnough({ [PROBED]: read, '/livez': live }, 'GET of a tiny job'),
      ['GET of a tiny job that failed: 0', read.failures.length, read.failures.length === 0],
    ];
  });

const SCENARIOS = {
  pipelining: pipelining('one connection, 120 000 polls', { connections: 1, requests: 120_000, hasKey: true }),
  'pipelining-no-key': pipelining('the same without a key', { connections: 1, requests: 120_000, hasKey: false }),
  connections: pipelining('100 connections without end', { connections: 100, seconds: 30, hasKey: true }),
  'connections-no-key': pipelining('the same without a key', { connections: 100, seconds: 30, hasKey: false }),
  'redis-slow': ['Redis stands still for 1 s again and again', stopping(1_000)],
  'redis-stopped': ['Redis stands still for 3 s again and again', stopping(3_000)],
  'redis-saturated': ['three times the capacity of Redis', saturated(({ redis }) => redis.pid, 0.04, 100)],
  'api-saturated': ['three times the capacity of the API', saturated(({ api }) => api.pid, 0.3, 20)],
  'long-reads': ['40 readers of a page of 25 MB with one key', longReads],
};

const chosen = values.only === '' ? Object.keys(SCENARIOS) : values.only.split(',');
let broken = 0;
for (const name of chosen) {
  const [title, run] = SCENARIOS[name] ?? [];
  if (run === undefined) throw new Error(`no scenario ${name}; there are ${Object.keys(SCENARIOS).join(', ')}`);
  process.stdout.write(`\n${name}: ${title}\n`);
  for (const [what, seen, holds] of await run()) {
    if (!holds) broken++;
    process.stdout.write(`  ${holds ? 'ok    ' : 'BROKEN'} ${what}: ${seen}\n`);
  }
}
process.stdout.write(`\n${broken === 0 ? 'All is as it must be' : `${broken} broken`}\n`);
process.exit(broken === 0 ? 0 : 1);
