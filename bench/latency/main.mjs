// npm run bench:latency [-- --rate 50,200,400] [--seconds 20] [--json]
//
// Measure how long callers wait at given rates of jobs per second. Creates and polls are sent at a constant rate, whether or not
// earlier ones have a response. Each job returned by a poll is acked, reports progress and completes. Times are measured from when
// a call was due, so a stall counts for all calls that it delayed. API, gateway, scheduler, Redis (append-only file, everysec), the
// load generator and the watchers are separate processes.
import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../load/worker.mjs';
import { percentilesOf, startMeter } from '../meter.mjs';
import { ADMIN_API_KEY, startApp, startRedis, startWorker } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineCpuMs, machineOf } from '../report/machine.mjs';
import { tables } from './tables.mjs';

const { json, ...options } = readOptions({ rate: '50,200,400', seconds: 20 });
const rates = options.rate.split(',').map(Number);

/** Constant rates. */
const EVENLY = {
  spaces: 4,
  // Per space. On average, a job waits half of this for its poll. Not a round number, or polls could always come just before or
  // just after creates.
  pollEveryMs: 20.3,
  // For a space without jobs, because in the other spaces, most empty polls follow a stall.
  emptyPollEveryMs: 31,
  // Jobs with one stream each, which report progress about once a second.
  watchedJobs: 50,
  reportEveryMs: 1_013,
};

const redis = await startRedis({ persistence: 'everysec' });
const processes = { redis };

/** Put a load on the service from other processes. @returns rows of times, and a row of busy cores */
async function measure({ rate, seconds }) {
  const load = startWorker(new URL('load.mjs', import.meta.url));
  const watchers = startWorker(new URL('../load/watchers.mjs', import.meta.url));
  const ids = await load.call('prepare', { url: processes.api.url, key: ADMIN_API_KEY, rate, seconds, ...EVENLY });
  const paths = ids.map((id) => `/api/v1/realtime/${id}?token=${ADMIN_API_KEY}`);
  await watchers.call('open', { url: processes.gateway.url, count: ids.length, paths });

  const metered = { ...processes, load, watchers };
  const spent = await startMeter(Object.fromEntries(Object.entries(metered).map(([name, one]) => [name, [one]])));
  const [began, machineBefore] = [now(), machineCpuMs()];
  const { times, window, reports, ...counts } = await load.call('run');
  const ms = Object.entries(await spent()).map(([name, micros]) => [name, micros / 1_000]);
  const othersMs = machineCpuMs() - machineBefore - ms.reduce((sum, [, one]) => sum + one, 0);
  const tookMs = now() - began;
  const cores = ms.map(([name, one]) => [name, one / (window.until - began)]);
  cores.push(['others', Math.max(0, othersMs) / tookMs]);

  await delay(500); // Time for the last messages.
  const { seen } = await watchers.call('take');
  const late = seen.filter(([sentAt]) => sentAt >= window.since && sentAt < window.until).map(([, ms]) => ms);
  await load.call('end');
  for (const worker of [load, watchers]) await worker.stop();
  return {
    times: Object.entries({ ...times, watched: percentilesOf(late) }).map(([what, row]) => ({ rate, what, ...row })),
    run: { rate, ...counts, messagesMissing: reports - seen.length, cores: Object.fromEntries(cores) },
  };
}

try {
  for (const name of ['api', 'gateway', 'scheduler']) processes[name] = await startApp(name, { REDIS_URL: redis.url });
  await measure({ rate: Math.min(...rates, 200), seconds: 5 }); // Let V8 compile the code.
  const machine = await machineOf(redis.redis);
  const results = { machine, options: { ...options, ...EVENLY }, times: [], runs: [] };
  for (const rate of rates) {
    const { times, run } = await measure({ rate, seconds: options.seconds });
    results.times.push(...times);
    results.runs.push(run);
  }
  print(results, tables, json);
} finally {
  for (const one of Object.values(processes).toReversed()) await one.stop();
}
