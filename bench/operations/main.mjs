// npm run bench:operations [-- --jobs 100000] [--rounds 5] [--rate 100] [--seconds 10] [--json]
//
// Measure what a requeue of many dead jobs costs others, and how fast it is. Calls of other spaces are sent at an even rate, in
// turns without and with a running operation. Then the operation goes on alone until it is done. API, gateway, scheduler, Redis
// with an append-only file (everysec) and the load are a process each.
import { createClient } from '../load/http.mjs';
import { now } from '../load/worker.mjs';
import { inTurns, median, ratios, startMeter } from '../meter.mjs';
import { ADMIN_API_KEY, startApp, startRedis, startWorker, until } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { tables } from './tables.mjs';

const { json, ...options } = readOptions({ jobs: 100_000, rounds: 5, rate: 100, seconds: 10 });

/** See bench/latency. */
const EVENLY = { spaces: 2, pollEveryMs: 20.3, emptyPollEveryMs: 31, watchedJobs: 1, reportEveryMs: 1_013 };
const PATH = '/spaces/many/operations';

const redis = await startRedis({ persistence: 'everysec' });
const processes = { redis };
let client;

async function createJobs() {
  const list = Array.from({ length: 1_000 }, (_, n) => ({ name: 'work', payload: { n, text: 'x'.repeat(100) } }));
  for (let n = 0; n < options.jobs; n += list.length) await client.call('POST', '/spaces/many/jobs', list);
}

/** Let all jobs die, fifty with a call. */
async function failJobs() {
  let settle = [];
  do {
    const { body } = await client.call('POST', '/spaces/many/jobs/poll', { count: 50, autoAck: true, settle });
    settle = body.jobs.map(({ id }) => ({ jobId: id, action: 'fail', error: 'no', retryable: false }));
  } while (settle.length > 0);
}

async function start() {
  const body = { action: 'requeue', filter: { status: 'dead' } };
  return (await client.call('POST', PATH, body)).body;
}
const read = async ({ id }) => (await client.call('GET', `/operations/${id}`)).body;

/** Put load on the service, with or without an operation. */
async function turn(isOperating) {
  const load = startWorker(new URL('../latency/load.mjs', import.meta.url));
  const { rate, seconds } = options;
  await load.call('prepare', { url: processes.api.url, key: ADMIN_API_KEY, rate, seconds, ...EVENLY });
  const operation = isOperating ? await start() : null;
  const began = now();
  const { times } = await load.call('run');
  const figures = { times };
  if (operation !== null) {
    const { changed, status } = await read(operation);
    if (status !== 'running') throw new Error('there are too few jobs: the operation is done');
    figures.jobsPerSecond = (1_000 * changed) / (now() - began);
    await client.call('DELETE', `/operations/${operation.id}`);
  }
  await load.call('end');
  await load.stop();
  return figures;
}

try {
  for (const name of ['api', 'scheduler']) processes[name] = await startApp(name, { REDIS_URL: redis.url });
  client = createClient({ url: processes.api.url, key: ADMIN_API_KEY, connections: 1 });
  await createJobs();
  await failJobs();
  const machine = await machineOf(redis.redis);
  const rounds = await inTurns({ without: false, with: true }, { rounds: options.rounds }, turn);
  const p99Of = (what) => (figures) => figures.times[what].p99;
  const times = ['create', 'poll', 'ack', 'complete'].map((what) => ({
    what,
    without: median(rounds.without.map(p99Of(what))),
    with: median(rounds.with.map(p99Of(what))),
    ratio: median(ratios(rounds.with, rounds.without, p99Of(what))),
  }));

  const spent = await startMeter({ redis: [redis], scheduler: [processes.scheduler] });
  const began = now();
  const operation = await start();
  await until(async () => (await read(operation)).status === 'done', 3_600_000);
  const seconds = (now() - began) / 1_000;
  const { changed } = await read(operation);
  const micros = await spent();
  const alone = {
    jobs: changed,
    perSecond: changed / seconds,
    redisMicros: micros.redis / changed,
    schedulerMicros: micros.scheduler / changed,
    redisShare: micros.redis / 1e6 / seconds,
  };
  const beside = { perSecond: median(rounds.with.map(({ jobsPerSecond }) => jobsPerSecond)) };
  print({ machine, options, times, beside: [beside], alone: [alone] }, tables, json);
} finally {
  client?.close();
  for (const one of Object.values(processes).toReversed()) await one.stop();
}
