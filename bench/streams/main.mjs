// npm run bench:streams [-- --sockets 10000] [--watchers 100] [--rate 1000] [--seconds 10] [--against folder] [--rounds 7] [--json]
//
// Measure the cost of open streams: memory per stream, how long a message takes to reach all of them, and the CPU time of a steady
// flow to some of them. The gateway, its clients and Redis are separate processes. Events are created by the store's verbs, as in
// the API. --against only compares the CPU time of the flow with the gateway of another, built checkout; both take turns.
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ANY_SPACE, ackJob, claimJob, createJob, heartbeatJob } from '@yardmaster/store';
import { requestOf } from '../load/verbs.mjs';
import { atEvenRate, now } from '../load/worker.mjs';
import { percentilesOf, startMeter } from '../meter.mjs';
import { ADMIN_API_KEY, rssBytes, startRedis, startServer, startWorker, until } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { figure, figures, markdownTable, text } from '../report/tables.mjs';

const { json, ...options } = readOptions({
  ...{ sockets: 10_000, watchers: 100, rate: 1_000, seconds: 10 },
  ...{ against: undefined, rounds: 7 },
});
const { sockets } = options;

const redis = await startRedis();
const { store } = redis;
const clients = startWorker(new URL('../load/watchers.mjs', import.meta.url));

const pathOf = (id) => `/api/v1/realtime/${id}?token=${ADMIN_API_KEY}`;
const event = (jobId, data) => heartbeatJob(store, ANY_SPACE, jobId, { kind: 'event', data });

async function runningJob(spaceId) {
  const { id } = (await createJob(store, spaceId, requestOf())).job;
  await claimJob(store, ANY_SPACE, id);
  await ackJob(store, ANY_SPACE, id);
  return id;
}

/** Measure resident memory once it is constant, after the garbage of the handshakes is collected. */
async function settledBytes(pid) {
  let lowest = rssBytes(pid);
  for (let quiet = 0; quiet < 10; quiet++) {
    await delay(300);
    if (rssBytes(pid) < lowest * 0.995) quiet = 0;
    lowest = Math.min(lowest, rssBytes(pid));
  }
  return lowest;
}

/** Open `sockets` streams with these paths. @returns cost per stream */
async function openMany(gateway, paths) {
  const { url, pid } = gateway;
  // Open and close some first, because Node.js loads code for the first sockets.
  await clients.call('open', { url, count: Math.min(500, sockets), paths });
  await clients.call('close');
  const before = await settledBytes(pid);
  const spent = await startMeter({ gateway: [gateway] });
  await clients.call('open', { url, count: sockets, paths });
  const connectMs = (await spent()).gateway / 1_000 / sockets;
  const kilobytes = ((await settledBytes(pid)) - before) / 1_024 / sockets;
  return [
    ['resident memory of a stream', kilobytes, 'KB'],
    ['CPU for its handshake', connectMs, 'ms'],
  ];
}

/** Measure many watchers of one space: their cost, and how long a message takes to reach the last of them. */
async function measureSpace(gateway) {
  const jobId = await runningJob('many');
  const cost = await openMany(gateway, [pathOf('spaces/many')]);
  const lastMs = [];
  for (let n = 0; n < 5; n++) {
    await clients.call('take');
    const sentAt = now();
    await event(jobId, 'one message');
    await until(async () => (await clients.call('frames')) >= sockets);
    lastMs.push((await clients.call('take')).lastAt - sentAt);
  }
  return [...cost, ['until one message has reached the last stream', percentilesOf(lastMs).p50, 'ms']];
}

/** Measure the same number of watchers, each on a different job and channel. */
async function measureJobs(gateway) {
  const paths = [];
  while (paths.length < sockets) {
    const jobs = await Promise.all(Array.from({ length: 100 }, () => createJob(store, 'own', requestOf())));
    paths.push(...jobs.map(({ job }) => pathOf(job.id)));
  }
  return openMany(gateway, paths);
}

/** Measure a steady flow to some watchers: whether all messages arrive, their cost, and how late they are. */
async function measureFlow(gateway) {
  const { watchers, rate, seconds } = options;
  const jobId = await runningJob('flow');
  await clients.call('open', { url: gateway.url, count: watchers, paths: [pathOf('spaces/flow')], every: 100 });
  await until(async () => (await clients.call('frames')) >= watchers); // their `init` messages
  await clients.call('take');
  const spent = await startMeter({ gateway: [gateway] });
  const began = now();
  const calls = [];
  const filling = 'x'.repeat(100);
  await atEvenRate({ rate, seconds }, () => calls.push(event(jobId, { sentAt: now(), filling })));
  await Promise.all(calls);
  const took = (now() - began) / 1_000;
  const expected = calls.length * watchers;
  await until(async () => (await clients.call('frames')) >= expected);
  const micros = (await spent()).gateway;
  const { frames, seen } = await clients.call('take');
  const { p50, p99 } = percentilesOf(seen.map(([, late]) => late));
  return [
    ['messages that reached a stream', frames, ''],
    ['… expected', expected, ''],
    ['CPU', micros / 1e6 / took, 'cores'],
    ['CPU for a message to a stream', micros / frames, 'µs'],
    ['from the call to the client, p50', p50, 'ms'],
    ['from the call to the client, p99', p99, 'ms'],
  ];
}

const table = ({ streams }) =>
  markdownTable(streams, [
    text('streams', ({ of }) => of),
    text('', ({ what }) => what),
    figures('', ({ value, unit }) => `${figure(value)} ${unit}`.trim()),
  ]);

/** Measure with a new gateway from this checkout or another. @returns rows of costs */
async function withGateway(of, measure, checkout = fileURLToPath(new URL('../../', import.meta.url))) {
  const settings = { REDIS_URL: redis.url, STREAMS_PER_SPACE: '1000000' };
  const gateway = await startServer(resolve(checkout, 'apps/gateway/dist/main.js'), settings);
  try {
    const measured = await measure(gateway);
    await clients.call('close');
    await clients.call('take');
    return measured.map(([what, value, unit]) => ({ of, what, value, unit }));
  } finally {
    await gateway.stop();
  }
}

/** Compare the CPU time of a message to a stream with another checkout, in turns. @returns ratio of each round */
async function compareFlow() {
  const costOf = async (checkout) => {
    const rows = await withGateway('flow', measureFlow, checkout);
    return rows.find(({ what }) => what === 'CPU for a message to a stream').value;
  };
  const rounds = [];
  for (let round = 0; round < options.rounds; round++) {
    const isFirst = round % 2 === 0; // Both go first equally often.
    const before = isFirst ? await costOf(options.against) : 0;
    const here = await costOf();
    const other = isFirst ? before : await costOf(options.against);
    rounds.push({ here, other, ratio: here / other });
  }
  const rowsOf = (what, unit, field) => {
    const values = rounds.map((round) => round[field]).sort((a, b) => a - b);
    const [lowest, middle, highest] = [values[0], values[Math.floor(values.length / 2)], values.at(-1)];
    return { of: what, what: `lowest ${figure(lowest)}, highest ${figure(highest)}; median`, value: middle, unit };
  };
  return [
    rowsOf('CPU for a message to a stream', 'µs', 'here'),
    rowsOf('… of the other checkout', 'µs', 'other'),
    rowsOf('ratio', '', 'ratio'),
  ];
}

/** Measure everything, with a new gateway each time. */
async function measureAll() {
  return [
    ...(await withGateway(`${sockets} of one space`, measureSpace)),
    ...(await withGateway(`${sockets}, each of a job`, measureJobs)),
    ...(await withGateway(`${options.rate} messages/s to ${options.watchers}`, measureFlow)),
  ];
}

try {
  const streams = options.against === undefined ? await measureAll() : await compareFlow();
  print({ machine: await machineOf(redis.redis), options, streams }, { table }, json);
} finally {
  await clients.stop();
  await redis.stop();
}
