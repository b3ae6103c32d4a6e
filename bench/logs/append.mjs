// npm run bench:logs [-- --seconds 5] [--batch 500] [--jobs 8] [--appendonly no] [--json]
//
// What logs cost: how many entries a second one worker can append and what API, Redis and that worker spend on each, for
// every form of body and some requests in flight; and how much of Redis' memory a stored entry takes. All four are
// processes of their own. `--appendonly everysec` measures with persistence as the standalone has it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createJob } from '@yardmaster/store';
import { cpuMs, startApp, startRedis } from '../processes.mjs';
import { appendReport } from './append-report.mjs';
import { ENCODINGS, FORMS } from './bodies.mjs';
import { measureStored } from './stored.mjs';

const text = (byDefault) => ({ type: 'string', default: byDefault });
const { values } = parseArgs({
  options: {
    seconds: text('5'),
    batch: text('500'),
    jobs: text('8'),
    appendonly: text('no'),
    json: { type: 'boolean' },
  },
});
const [seconds, batch, jobCount] = [values.seconds, values.batch, values.jobs].map(Number);

const IN_FLIGHT = [1, 2, 4, 8];

const REQUEST = {
  name: 'bench',
  payload: null,
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
};

const server = await startRedis();
const { store } = server;
const { redis } = store;
const client = fork(fileURLToPath(new URL('client.mjs', import.meta.url)));
const heard = async () => (await once(client, 'message'))[0];
let api;

const infoOf = async (field) => new RegExp(`^${field}:(\\S+)`, 'm').exec(await redis.info('server'))[1];

/** CPU of the three, in milliseconds. */
const spent = (pids) => Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)]));

/** Let the client append for a while; how fast, and at what cost. */
async function measure(pids, options) {
  client.send({ api: api.url, batch, ...options });
  await heard(); // Its bodies are ready.
  const before = spent(pids);
  const { error, entries, seconds: took } = await heard();
  if (error) throw new Error(error);
  const after = spent(pids);
  const micros = Object.keys(pids).map((name) => [name, ((after[name] - before[name]) * 1000) / entries]);
  const cores = Object.keys(pids).map((name) => [name, (after[name] - before[name]) / 1000 / took]);
  return { perSecond: entries / took, micros: Object.fromEntries(micros), cores: Object.fromEntries(cores) };
}

try {
  if (values.appendonly === 'everysec') {
    await redis.config('SET', 'appendonly', 'yes');
    await redis.config('SET', 'appendfsync', 'everysec');
  }
  api = await startApp('api', { REDIS_URL: server.url });
  const jobs = [];
  while (jobs.length < jobCount) jobs.push((await createJob(store, `logs-${jobs.length}`, REQUEST)).id);
  const pids = { api: api.pid, redis: Number(await infoOf('process_id')), client: client.pid };
  const forms = ENCODINGS.flatMap((encoding) => FORMS.map((form) => ({ encoding, form })));

  // Until code is compiled and every job is full: from then on each entry that comes drives an old one out.
  for (const form of forms) await measure(pids, { jobs, ...form, inFlight: 4, seconds: seconds / 5 });

  const runs = [];
  for (const form of forms) {
    for (const inFlight of IN_FLIGHT) {
      runs.push({ ...form, inFlight, ...(await measure(pids, { jobs, ...form, inFlight, seconds })) });
    }
  }
  const figures = {
    machine: { node: process.version, cpu: cpus()[0].model, cores: cpus().length },
    redis: await infoOf('redis_version'),
    appendonly: values.appendonly,
    batch,
    runs,
    stored: await measureStored(store, api),
  };
  process.stdout.write(`${values.json ? JSON.stringify(figures) : appendReport(figures)}\n`);
} finally {
  client.kill();
  await api?.stop();
  await server.stop();
}
