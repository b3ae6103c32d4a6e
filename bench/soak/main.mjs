// npm run bench:soak [-- --seconds 600] [--rate 100] [--retention 20] [--json]
//
// Find growth in an API, a gateway and a scheduler under an even load of jobs of all kinds, with streams that open and close.
// The retention is so short that as many jobs are purged as created. Memory, open files and the content of Redis are measured
// every five seconds. It exits with 1 on growth, lost jobs, failed calls and faults that fsck finds. In a run of less than ten
// minutes, code that V8 still compiles looks like growth.
import { setTimeout as delay } from 'node:timers/promises';
import { fsck } from '@yardmaster/fsck';
import { createStore } from '@yardmaster/store';
import { upTo } from '../load/verbs.mjs';
import { ADMIN_API_KEY, startApp, startRedis, startWorker, until } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { resultsOf } from './figures.mjs';
import { prepareInspector } from './live-memory.mjs';
import { createSampler } from './sampler.mjs';
import { tables } from './tables.mjs';

const { seconds, rate, retention, json } = readOptions({ seconds: 600, rate: 100, retention: 20 });

const SAMPLE_EVERY_MS = Math.min(5_000, (seconds * 1000) / 20);
/** Time until as many jobs are purged as created, and code is compiled. */
const WARM_UP_SECONDS = retention + 20;
/** Time for fsck, which checks the stored jobs under load. */
const REST_SECONDS = 10;
const SPACES = upTo(20).map((n) => `soak-${n}`);
const ALL_SPACES = SPACES.flatMap((space) => [space, `claimed-${space}`]);

const redis = await startRedis({ persistence: 'everysec' });
const { store } = redis;
const apps = {};
const sampler = createSampler({ redis, apps, spaces: ALL_SPACES });
const load = startWorker(new URL('load.mjs', import.meta.url));

async function start(name) {
  const inspector = await prepareInspector();
  const app = await startApp(name, {
    REDIS_URL: redis.url,
    RETENTION_SECONDS: String(retention),
    DELIVERY_TIMEOUT_SECONDS: '10',
    CALLBACK_ALLOW_PRIVATE: 'true',
    ...inspector.env,
  });
  apps[name] = { ...app, inspector };
}

/** Check the stored jobs. @returns the number of checked jobs, and their faults */
async function check() {
  const faults = [];
  const checked = createStore(redis.redis, { retentionMs: retention * 1000 });
  const { jobs } = await fsck(checked, { onFault: (fault) => faults.push(fault) });
  return { jobs, faults };
}

/** Take samples under load after the warm-up, and then check the stored jobs. */
async function observe() {
  await delay(WARM_UP_SECONDS * 1000);
  const sampled = await sampler.run({ seconds, everyMs: SAMPLE_EVERY_MS });
  return { ...sampled, fsck: await check() };
}

/** Wait until all jobs are purged. @returns keys that should be gone then */
async function leftKeys() {
  const { keys } = store;
  const isPurged = async () => (await redis.redis.exists(...ALL_SPACES.map((space) => keys.jobs(space)))) === 0;
  await until(isPurged, (retention + 15) * 1000).catch(() => {}); // The keys that are left show it.
  const found = [];
  for await (const batch of redis.redis.scanStream({ count: 1_000 })) found.push(...batch);
  return found.filter((key) => key !== keys.meta && key !== keys.apiKeys && !key.startsWith(`${keys.bull}:`));
}

try {
  for (const name of ['api', 'gateway', 'scheduler']) await start(name);
  await delay(2_000);
  const atRest = await sampler.sample();
  const [counts, observed] = await Promise.all([
    load.call('run', {
      url: apps.api.url,
      gatewayUrl: apps.gateway.url,
      key: ADMIN_API_KEY,
      rate,
      seconds: WARM_UP_SECONDS + seconds + REST_SECONDS,
      spaces: SPACES,
    }),
    observe(),
  ]);
  const left = await leftKeys();
  const results = resultsOf({
    machine: await machineOf(redis.redis),
    options: { seconds, rate, retention },
    load: counts,
    leftKeys: left,
    atRest,
    ...observed,
    after: await sampler.sample(),
  });
  print(results, tables, json);
  for (const fault of results.faults) process.stderr.write(`${fault}\n`);
  process.exitCode = results.faults.length === 0 ? 0 : 1;
} finally {
  for (const one of [load, ...Object.values(apps), redis]) await one.stop();
}
