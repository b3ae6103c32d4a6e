// npm run bench:waiting [-- --waiters 1000 --seconds 20 --rate 200 --workers 100 --processes 2 --json]
//
// Measure polls that wait: the CPU of an idle fleet, and how long a job takes from its creation to a waiting worker, beside a
// request of the same process that needs neither Redis nor a key. Every API is a process, as is Redis. The clients are this
// process.
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, requestText } from '../load/http.mjs';
import { now } from '../load/worker.mjs';
import { percentilesOf, startMeter } from '../meter.mjs';
import { ADMIN_API_KEY, startApp, startRedis, until } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { tables } from './tables.mjs';

const { json, ...options } = readOptions({ waiters: 1_000, seconds: 20, rate: 200, workers: 100, processes: 1 });
const redis = await startRedis({ persistence: 'everysec' });
const apis = [];
for (let i = 0; i < options.processes; i++) apis.push(await startApp('api', { REDIS_URL: redis.url }));

const ask = (url, path, body, method = 'POST') => requestText({ url, key: ADMIN_API_KEY, path, body, method });
const WAIT_MS = 20_000;
const POLL = JSON.stringify({ waitSeconds: WAIT_MS / 1_000 });
const CREATE = JSON.stringify({ name: 'work', payload: { text: 'x'.repeat(180) } });
let isOver = false;

/** Poll on a connection of its own, again and again. @param onJob called with each job that it gets */
async function work(api, spaceId, onJob) {
  const url = new URL(api.url);
  const connection = await Connection.open(url);
  const poll = ask(url, `/spaces/${spaceId}/jobs/poll`, POLL);
  while (!isOver) {
    const text = await connection.must(poll).catch(() => '{"jobs":[]}'); // The server is gone at the end.
    for (const job of JSON.parse(text).jobs) onJob(job);
  }
  connection.close();
}

async function metricOf(name) {
  const texts = await Promise.all(apis.map(({ url }) => fetch(`${url}/metrics`).then((response) => response.text())));
  return texts.reduce((sum, text) => sum + Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0), 0);
}

const waitingCalls = () => metricOf('yardmaster_waiting_calls');
const polls = async () =>
  (await metricOf('yardmaster_polls_total\\{outcome="claimed"\\}')) +
  (await metricOf('yardmaster_polls_total\\{outcome="empty"\\}'));

/** Measure the CPU of a process with so many workers that wait, begin at different moments and get no job. */
async function measureIdle(waiters) {
  const { seconds } = options;
  for (let i = 0; i < waiters; i++) delay((i * WAIT_MS) / waiters).then(() => work(apis[0], 'idle', () => undefined));
  await until(async () => (await waitingCalls()) === waiters);
  await delay(2 * WAIT_MS); // The code that they run is compiled then.
  const began = now();
  const spent = await startMeter({ api: [apis[0]], redis: [redis] });
  await delay(seconds * 1_000);
  const { api, redis: ofRedis } = await spent();
  const ms = now() - began;
  return { waiters, apiPercent: api / ms / 10, redisPercent: ofRedis / ms / 10 };
}

/** Measure how long jobs take from their creation to a waiting worker. */
async function measureLatency() {
  const { rate, seconds, workers } = options;
  const sentAt = new Map(); // Of each job by its number, when its create was due.
  const times = { info: [], create: [], job: [] };
  for (let i = 0; i < workers; i++) {
    void work(apis[i % apis.length], 'busy', ({ payload }) => times.job.push(now() - sentAt.get(payload.n)));
  }
  await until(async () => (await waitingCalls()) >= workers);
  const url = new URL(apis[0].url);
  const connections = await Promise.all(Array.from({ length: 64 }, () => Connection.open(url)));
  const send = async (request, into, dueAt) => {
    // The server closes those that were not used for some seconds.
    while (connections.length > 0 && !connections.at(-1).isOpen) connections.pop();
    const connection = connections.pop() ?? (await Connection.open(url));
    await connection.must(request);
    into.push(now() - dueAt);
    connections.push(connection);
  };
  const pollsBefore = await polls();
  const began = now();
  const count = rate * seconds;
  const calls = [];
  for (let n = 0; n < count; n++) {
    const dueAt = began + (n * 1_000) / rate;
    if (dueAt > now()) await delay(dueAt - now());
    sentAt.set(n, dueAt);
    const body = CREATE.replace('{"text"', `{"n":${n},"text"`);
    calls.push(send(ask(url, '/spaces/busy/jobs', body), times.create, dueAt));
    calls.push(send(ask(url, '/info', '', 'GET'), times.info, dueAt));
  }
  await Promise.all(calls);
  await until(() => times.job.length === count);
  await delay(200);
  const made = (await polls()) - pollsBefore;
  const rows = Object.entries(times).map(([what, list]) => ({ what, ...percentilesOf(list) }));
  return { rows, perJob: made / count };
}

try {
  const machine = await machineOf(redis.redis);
  const { rows: latency, perJob } = await measureLatency();
  isOver = true;
  const idle = [];
  for (const waiters of [0, options.waiters]) {
    for (const api of apis.splice(0)) await api.stop();
    isOver = false;
    apis.push(await startApp('api', { REDIS_URL: redis.url }));
    idle.push(await measureIdle(waiters));
  }
  const { processes, rate } = options;
  print({ machine, options, latency, polls: [{ processes, rate, perJob }], idle }, tables, json);
} finally {
  isOver = true;
  for (const api of apis) await api.stop();
  await redis.stop();
}
