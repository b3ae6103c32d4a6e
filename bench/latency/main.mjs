// npm run bench:latency [-- --rate 200] [--seconds 20] [--json]
//
// How long callers wait at given rates of jobs a second (--rate 50,200,400 for several). Jobs are created at even times,
// whatever became of those before; pollers ask at even times; each job that a poll brings is acked, reports progress and
// completes. A job can be claimed when its create is answered, at the latest; "handed out" is when a poll has brought it.
// Times count from when a call should have been sent, so a stall counts for all that it held up. One API, gateway and
// scheduler, Redis with an append-only file (everysec), the load and the watchers: each a process of its own.
import { parseArgs } from 'node:util';
import { machineCpuMs, machineOf } from '../machine.mjs';
import { ADMIN_API_KEY, cpuMs, now, startApp, startRedis } from '../processes.mjs';
import { runScript } from '../script.mjs';
import { latencyReport } from './report.mjs';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    json: { type: 'boolean' },
  },
});
const rates = values.rate.split(',').map(Number);
const seconds = Number(values.seconds);

/**
 * Each space is polled so often, so a job waits half of this for its poll on average. No round number, so that polls do
 * not keep step with creates and come a moment after each, or a moment before.
 */
const POLL_EVERY_MS = 20.3;
const SPACES = 4;
/** Jobs with a stream each, which report progress once a second or so, for the same reason. */
const WATCHED = 50;
const REPORT_EVERY_MS = 1_013;
/** Polls of a space that has no jobs. Of the others those are empty that come in a bunch, after something stood still. */
const EMPTY_POLL_EVERY_MS = 31;

const EVENLY = {
  spaces: SPACES,
  pollEveryMs: POLL_EVERY_MS,
  emptyPollEveryMs: EMPTY_POLL_EVERY_MS,
  watchedJobs: WATCHED,
  reportEveryMs: REPORT_EVERY_MS,
};

const redis = await startRedis({ appendonly: 'yes', appendfsync: 'everysec' });
const pids = { redis: redis.pid };
const started = [];

async function start(name) {
  const app = await startApp(name, { REDIS_URL: redis.url });
  started.push(app);
  pids[name] = app.pid;
  return app;
}

/**
 * Meter CPU from now on.
 *
 * @returns what tells it: cores that each process used while there was load, and those that are none of ours
 */
function meterCores() {
  const began = now();
  const before = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)]));
  const machineBefore = machineCpuMs();
  return (loadCpuMs, loadMs) => {
    const used = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid) - before[name]]));
    const ours = Object.entries({ ...used, ...loadCpuMs });
    const othersMs = machineCpuMs() - machineBefore - ours.reduce((sum, [, ms]) => sum + ms, 0);
    return {
      ...Object.fromEntries(ours.map(([name, ms]) => [name, ms / loadMs])),
      others: Math.max(0, othersMs / (now() - began)),
    };
  };
}

/** Send the load from processes of its own, and return what it measured. */
async function measure({ url, gatewayUrl, rate, seconds }) {
  const options = { url, gatewayUrl, key: ADMIN_API_KEY, rate, seconds, ...EVENLY };
  const coresSince = meterCores();
  const {
    cpuMs: loadCpuMs,
    loadMs,
    ...figures
  } = await runScript(new URL('load.mjs', import.meta.url), [JSON.stringify(options)]);
  return { wantedJobsPerSecond: rate, ...figures, cores: coresSince(loadCpuMs, loadMs) };
}

try {
  const { url } = await start('api');
  const { url: gatewayUrl } = await start('gateway');
  await start('scheduler');
  await measure({ url, gatewayUrl, rate: Math.min(...rates, 200), seconds: 10 }); // Code gets compiled.
  const measured = [];
  for (const rate of rates) measured.push(await measure({ url, gatewayUrl, rate, seconds }));
  const machine = await machineOf(redis.store.redis);
  const figures = {
    machine,
    redis: machine.redis,
    node: machine.node,
    options: { seconds, ...EVENLY },
    rates: measured,
  };
  process.stdout.write(`${values.json ? JSON.stringify(figures) : latencyReport(figures)}\n`);
} finally {
  for (const app of started) await app.stop();
  await redis.stop();
}
