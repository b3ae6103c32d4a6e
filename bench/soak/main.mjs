// npm run bench:soak [-- --seconds 600] [--rate 150] [--retention 20] [--json]
//
// Whether anything grows that should not: an API, a gateway and a scheduler under an even load of whole lives of jobs,
// with streams that come and go, and with a retention so short that as many jobs are purged as are created. Memory, open
// files and what Redis holds are looked at every five seconds. Exits with 1 on growth, on lost jobs and failed calls, and
// when fsck finds something. What V8 still loads and compiles looks like growth in a run of less than ten minutes.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { machineOf } from '../machine.mjs';
import { ADMIN_API_KEY, startApp, startRedis } from '../processes.mjs';
import { runScript } from '../script.mjs';
import { faultsOf, leftKeys, untilPurged } from './aftermath.mjs';
import { figuresOf } from './figures.mjs';
import { prepareInspector } from './live-memory.mjs';
import { soakReport } from './report.mjs';
import { createSampler } from './sampler.mjs';

const number = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({
  options: { seconds: number(600), rate: number(150), retention: number(20), json: { type: 'boolean' } },
});
const [seconds, rate, retentionSeconds] = [values.seconds, values.rate, values.retention].map(Number);

const SAMPLE_EVERY_MS = Math.min(5_000, (seconds * 1000) / 20);
/** Until as many jobs are purged as are created, and code is compiled. */
const WARM_UP_SECONDS = retentionSeconds + 20;
/** For fsck, which looks at what is stored under load. */
const REST_SECONDS = 10;
const SPACES = Array.from({ length: 20 }, (_, n) => `soak-${n}`);
const ALL_SPACES = SPACES.flatMap((space) => [space, `apart-${space}`]);

const redis = await startRedis({ appendonly: 'yes', appendfsync: 'everysec' });
const apps = {};
const sampler = createSampler({ redis, apps, spaces: ALL_SPACES });

async function start(name) {
  const inspector = await prepareInspector();
  const app = await startApp(name, {
    REDIS_URL: redis.url,
    RETENTION_SECONDS: String(retentionSeconds),
    DELIVERY_TIMEOUT_SECONDS: '10',
    CALLBACK_ALLOW_PRIVATE: 'true',
    ...inspector.env,
  });
  apps[name] = { ...app, inspector };
}

const startLoad = () =>
  runScript(new URL('load.mjs', import.meta.url), [
    JSON.stringify({
      url: apps.api.url,
      gatewayUrl: apps.gateway.url,
      key: ADMIN_API_KEY,
      rate,
      seconds: WARM_UP_SECONDS + seconds + REST_SECONDS,
      spaces: SPACES,
    }),
  ]);

/** Look at it under load from the end of the warm-up on, and then check what is stored. */
async function observe() {
  await delay(WARM_UP_SECONDS * 1000);
  const sampled = await sampler.run({ seconds, everyMs: SAMPLE_EVERY_MS });
  return { ...sampled, fsck: await faultsOf(redis.store, { retentionSeconds }) };
}

try {
  for (const name of ['api', 'gateway', 'scheduler']) await start(name);
  await delay(2_000);
  const atRest = await sampler.sample();
  const [load, observed] = await Promise.all([startLoad(), observe()]);
  await untilPurged(redis.store, ALL_SPACES, retentionSeconds);
  const figures = figuresOf({
    machine: await machineOf(redis.store.redis),
    options: { seconds, wantedJobsPerSecond: rate, retentionSeconds, warmUpSeconds: WARM_UP_SECONDS },
    load,
    atRest,
    ...observed,
    after: await sampler.sample(),
    leftKeys: await leftKeys(redis.store),
    stored: await runScript(new URL('../memory.mjs', import.meta.url), ['--jobs', '20000', '--json']),
  });
  process.stdout.write(`${values.json ? JSON.stringify(figures) : soakReport(figures)}\n`);
  process.exitCode = figures.isGood ? 0 : 1;
} finally {
  for (const app of Object.values(apps)) await app.stop();
  await redis.stop();
}
