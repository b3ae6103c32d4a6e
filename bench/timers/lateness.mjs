// npm run bench:lateness [-- --schedulers 1] [--jobs 1000] [--deliveries 200] [--spaces 50] [--json]
//
// How late time-outs are, and whether any is early: jobs whose workers fall silent at once, or after they have kept them
// alive for a while, and jobs that nobody acks. All times are Redis' own. Ends with 1 when a time-out was early, did
// not come, came twice, or was the wrong one.
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuMs, startApp, startRedis } from '../processes.mjs';
import { latenessFigures, latenessReport } from './lateness-report.mjs';
import { begin, judge, keepAlive, planLives } from './lives.mjs';

const number = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({
  options: {
    schedulers: number(1),
    jobs: number(1_000),
    deliveries: number(200),
    spaces: number(50),
    json: { type: 'boolean' },
  },
});
const [jobs, deliveries, spaces] = [values.jobs, values.deliveries, values.spaces].map(Number);

const DELIVERY_SECONDS = 3;
/** How late a time-out may be before it counts as missing: more than enough under any fault. */
const PATIENCE_MS = 20_000;
/** Jobs that are begun at once, and histories that are read at once. */
const AT_ONCE = 20;

async function inTurn(items, each) {
  const results = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(each))));
  }
  return results;
}

/** Live all lives; they are over, but for their time-outs. */
async function live(api, store) {
  const plans = planLives({ jobs, deliveries, deliveryMs: DELIVERY_SECONDS * 1000, spaces });
  const keeping = [];
  await inTurn(plans, async (plan) => {
    const life = await begin(api, plan);
    keeping.push(life.group === 'kept alive' ? keepAlive(api, store, life) : life);
  });
  return Promise.all(keeping);
}

/** Judge all lives; those without an end are asked again until it is certain that none will come. */
async function judgeAll(api, lives) {
  // No reading while time-outs are met: it would make them late.
  await delay(Math.max(...lives.map(({ windowMs }) => windowMs)) + 2_000);
  let verdicts = [];
  let left = lives;
  for (const end = performance.now() + PATIENCE_MS; left.length > 0; await delay(500)) {
    const judged = await inTurn(left, (life) => judge(api, life));
    const isOver = performance.now() > end;
    verdicts = [...verdicts, ...judged.filter(({ verdict }) => isOver || verdict !== 'missing')];
    left = isOver ? [] : judged.filter(({ verdict }) => verdict === 'missing');
  }
  return verdicts;
}

const redis = await startRedis();
const apps = [];
const start = async (name, settings) => {
  const app = await startApp(name, { REDIS_URL: redis.url, ...settings });
  apps.push(app);
  return app;
};

try {
  const api = await start('api', { DELIVERY_TIMEOUT_SECONDS: String(DELIVERY_SECONDS) });
  const schedulers = await Promise.all(Array.from({ length: Number(values.schedulers) }, () => start('scheduler')));
  const began = performance.now();
  const cpuBefore = schedulers.map(({ pid }) => cpuMs(pid));
  const verdicts = await judgeAll(api, await live(api, redis.store));
  const tookMs = performance.now() - began;
  const figures = {
    machine: { node: process.version, cpu: cpus()[0].model, cores: cpus().length },
    schedulers: schedulers.length,
    schedulerCores: schedulers.map(({ pid }, n) => (cpuMs(pid) - cpuBefore[n]) / tookMs),
    ...latenessFigures(verdicts),
  };
  process.stdout.write(`${values.json ? JSON.stringify(figures) : latenessReport(figures)}\n`);
  if (figures.met < figures.timers) process.exitCode = 1;
} finally {
  await Promise.all(apps.map((app) => app.stop()));
  await redis.stop();
}
