// npm run bench:schedule [-- --jobs 12000] [--burst 100000] [--schedulers 2] [--json]
//
// Measure how late scheduled jobs become claimable: first, jobs and retries with delays of 1 to 20 s; then the same while a
// scheduler is killed, the keys of BullMQ are deleted, and Redis is killed; then a great many jobs of one space that are due in the
// same second, while jobs of other spaces time out. Redis (append-only file, everysec) and each scheduler are separate processes.
import { setTimeout as delay } from 'node:timers/promises';
import { partitionOf, redisNow } from '@yardmaster/store';
import { percentilesOf, startMeter } from '../meter.mjs';
import { infoField, startApp, startRedis, until } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { createRunning, createScheduled, failLater, latenessOf, timeoutsOf } from './jobs.mjs';
import { tables } from './tables.mjs';

const { json, ...options } = readOptions({ jobs: 12_000, burst: 100_000, schedulers: 2 });

const redis = await startRedis({ persistence: 'everysec', logLevel: 'fatal' });
const schedulers = [];
const { store } = redis;

/** Spaces in which jobs time out during the burst. One is in the partition of the burst. */
const BURST_SPACE = 'burst';
const OTHERS = ['other-0', 'other-1', 'other-2', neighbourOf(BURST_SPACE)];

function neighbourOf(space) {
  for (let n = 0; ; n++) if (partitionOf(`near-${n}`) === partitionOf(space)) return `near-${n}`;
}

const summaryOf = (late) => ({
  jobs: late.length,
  least: Math.min(...late),
  ...percentilesOf(late),
  most: Math.max(...late),
});

/** Wait until no job is due anymore in one partition or in all. */
const isEmpty = async (keys) =>
  (await Promise.all(keys.map((key) => redis.redis.zcard(key)))).every((size) => size === 0);
const dueKeys = (spaces) => [...new Set(spaces.map((space) => store.keys.due(partitionOf(space))))];

/** Failures while jobs wait: [time in ms, failure]. */
const LOSSES = [
  [
    4_000,
    async () => {
      process.kill(schedulers.shift().pid, 'SIGKILL');
      schedulers.push(await startApp('scheduler', { REDIS_URL: redis.url }));
    },
  ],
  [8_000, async () => redis.redis.del(await redis.redis.keys(`${store.keys.bull}:*`))],
  // It is restarted immediately.
  [12_000, async () => process.kill(redis.pid, 'SIGKILL')],
];

/** Measure jobs spread over time. Half of them are scheduled at their creation, and half are retried. */
async function spreadOut(what, losses = []) {
  const half = Math.floor(options.jobs / 2);
  const spaceOf = (n) => `spread-${losses.length}-${n % 20}`;
  const seconds = () => 1 + Math.random() * 19;
  const running = await createRunning(store, { spaceOf, count: half, fields: { timeoutSeconds: 600 } });
  const scheduled = await createScheduled(store, {
    spaceOf,
    count: half,
    fieldsOf: () => ({ delaySeconds: seconds() }),
  });
  await failLater(store, running, seconds);
  await Promise.all([delay(20_000), ...losses.map(([ms, lose]) => delay(ms).then(lose))]);
  await until(() => isEmpty(dueKeys(Array.from({ length: 20 }, (_, n) => spaceOf(n)))));
  const { lost, twice, late } = await latenessOf(store, [...scheduled, ...running]);
  return { what, lost, twice, ...summaryOf(late) };
}

async function burst() {
  // The jobs must be due after the last of them is stored, which takes about 100 µs per job.
  const from = (await redisNow(store)) + 5_000 + options.burst * 0.4;
  const fieldsOf = (n) => ({ scheduledFor: new Date(from + (n * 1_000) / options.burst).toISOString() });
  const ids = await createScheduled(store, { spaceOf: () => BURST_SPACE, count: options.burst, fieldsOf });
  const leftMs = from - (await redisNow(store));
  if (leftMs < 3_000) throw new Error('the jobs were due before all of them were stored; choose a smaller burst');
  await delay(leftMs - 2_500);
  // These time out during the first 4 s of the burst.
  const groups = await Promise.all(
    [2.5, 3.5, 4.5, 5.5].map((timeoutSeconds) =>
      createRunning(store, { spaceOf: (n) => OTHERS[n % OTHERS.length], count: 100, fields: { timeoutSeconds } }),
    ),
  );
  await redis.redis.config('SET', 'slowlog-log-slower-than', '5000', 'slowlog-max-len', '10000');
  await redis.redis.slowlog('RESET');
  const scriptsBefore = await countScripts();
  await delay(Math.max(0, from - (await redisNow(store)) - 100));
  const spent = await startMeter({ redis: [redis], schedulers });
  await until(() => isEmpty(dueKeys([BURST_SPACE])), 300_000);
  const ms = (await redisNow(store)) - from;
  const micros = await spent();
  const slow = await redis.redis.slowlog('GET', 10_000);
  await delay(2_500);
  const { lost, twice, late } = await latenessOf(store, ids);
  const timeouts = (await Promise.all(groups.map((group) => timeoutsOf(store, group)))).flat();
  return {
    run: {
      jobs: options.burst,
      ms,
      perSecond: options.burst / (ms / 1_000),
      redisMicros: micros.redis / options.burst,
      schedulerMicros: micros.schedulers / options.burst,
      slowScripts: slow.length,
      scripts: (await countScripts()) - scriptsBefore,
    },
    times: [
      { what: 'due in one second', lost, twice, ...summaryOf(late) },
      {
        what: "other spaces' timeouts in the meantime",
        lost: timeouts.filter(Number.isNaN).length,
        twice: 0,
        ...summaryOf(timeouts),
      },
    ],
  };
}

/** Count the scripts that the schedulers have run to promote jobs. */
async function countScripts() {
  const pages = await Promise.all(schedulers.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  const steps = pages.map((page) => {
    const found = /^yardmaster_redis_request_duration_seconds_count\{call="promote"\} (\d+)/m.exec(page);
    return Number(found?.[1] ?? 0);
  });
  return steps.reduce((sum, one) => sum + one, 0);
}

try {
  for (let n = 0; n < options.schedulers; n++) schedulers.push(await startApp('scheduler', { REDIS_URL: redis.url }));
  for (const { url } of schedulers) await until(async () => (await fetch(`${url}/readyz`)).ok);
  const spread = await spreadOut('waits of 1 to 20 s');
  const withLosses = await spreadOut('the same, with losses', LOSSES);
  const { run, times } = await burst();
  const memory = infoField(await redis.redis.info('memory'), 'used_memory');
  const machine = await machineOf(redis.redis);
  print(
    { machine, options: { ...options, usedMemory: memory }, times: [spread, withLosses, ...times], runs: [run] },
    tables,
    json,
  );
} finally {
  for (const one of [...schedulers, redis]) await one.stop();
}
