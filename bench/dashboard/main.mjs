// npm run bench:dashboard [-- --jobs 100000] [--running 50] [--rate 1000] [--seconds 20] [--json]
//
// Measure how busy a space keeps the main thread of the dashboard: jobs of a space report progress at a constant rate, while
// Chromium, which must be installed, shows one page at a time. The standalone, Redis and Chromium are separate processes. Events are
// created by the store's verbs, as in the API.
import '../../scripts/typescript.mjs';
import { setTimeout as delay } from 'node:timers/promises';
import { ANY_SPACE, ackJob, claimJob, createJob, heartbeatJob } from '@yardmaster/store';
import { inBatches, requestOf, upTo } from '../load/verbs.mjs';
import { atEvenRate } from '../load/worker.mjs';
import { percentile, percentilesOf } from '../meter.mjs';
import { ADMIN_API_KEY, startApp, startRedis, until } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';

const { Chromium } = await import('../../test/clients/chromium.ts');
const { json, ...options } = readOptions({ jobs: 100_000, running: 50, rate: 1_000, seconds: 20 });

const SPACE = 'busy';
const SIGN_IN = `if (location.protocol === 'http:') sessionStorage.setItem('yardmaster-api-key', '${ADMIN_API_KEY}')`;

const redis = await startRedis();
const { store } = redis;

/** Fill the space. @returns IDs of running jobs, which are the newest, so that pages show them */
async function fill() {
  const create = () => createJob(store, SPACE, requestOf());
  await inBatches(redis.redis, upTo(options.jobs - options.running), 500, create);
  const ids = [];
  for (let n = 0; n < options.running; n++) {
    const {
      job: { id },
    } = await create();
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    ids.push(id);
  }
  return ids;
}

/** Report progress of running jobs in rotation. @returns number of reports */
async function report(ids, seconds) {
  const calls = [];
  await atEvenRate({ rate: options.rate, seconds }, (n) => {
    const data = { percent: n % 100, message: `step ${n}` };
    const call = heartbeatJob(store, ANY_SPACE, ids[n % ids.length], { kind: 'progress', data });
    call.catch(() => undefined); // Awaited below.
    calls.push(call);
  });
  return (await Promise.all(calls)).length;
}

/** Trace a page while something happens. @returns how long that took, and each task of the main thread, in ms */
async function tasksDuring(page, act) {
  const events = [];
  page.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  const ended = new Promise((resolve) => page.on('Tracing.tracingComplete', resolve));
  const traceConfig = {
    includedCategories: ['disabled-by-default-devtools.timeline', '__metadata'],
    excludedCategories: ['*'],
  };
  await page.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig });
  const began = performance.now();
  await act();
  const tookMs = performance.now() - began;
  await page.send('Tracing.end');
  await ended;
  // Chromium has other threads with tasks.
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
  const main = new Set(events.filter(({ args }) => args.name === 'CrRendererMain').map(threadOf));
  const tasks = events
    .filter((one) => one.name === 'RunTask' && one.dur !== undefined && main.has(threadOf(one)))
    .map(({ dur }) => dur / 1_000);
  return { tookMs, tasks };
}

/** Measure a page while jobs report progress, once it shows the element `ready`. */
async function measure(service, chromium, { what, hash, ready }, ids) {
  const page = await chromium.open(`${service.url}/ui/${hash}`, SIGN_IN);
  try {
    await until(() => page.evaluate(`document.querySelector('${ready}') !== null`));
    await report(ids, 2); // Let V8 compile the code.
    let reports = 0;
    const { tookMs, tasks } = await tasksDuring(page, async () => {
      reports = await report(ids, options.seconds);
      await delay(1_000);
    });
    const sorted = tasks.toSorted((a, b) => a - b);
    return {
      what,
      reports,
      tasks: tasks.length,
      ...percentilesOf(tasks),
      p95: percentile(sorted, 0.95),
      longest: sorted.at(-1),
      share: tasks.reduce((sum, one) => sum + one, 0) / tookMs,
    };
  } finally {
    await page.close();
  }
}

const table = ({ dashboard }) =>
  markdownTable(dashboard, [
    text('page', ({ what }) => what),
    figures('reports', ({ reports }) => whole(reports)),
    figures('tasks', ({ tasks }) => whole(tasks)),
    figures('p50, ms', ({ p50 }) => figure(p50)),
    figures('p95, ms', ({ p95 }) => figure(p95)),
    figures('p99, ms', ({ p99 }) => figure(p99)),
    figures('longest, ms', ({ longest }) => figure(longest)),
    figures('of a core', ({ share }) => `${figure(100 * share, 0)}%`),
  ]);

let service;
let chromium;
try {
  service = await startApp('standalone', { REDIS_URL: redis.url });
  chromium = await Chromium.start();
  const ids = await fill();
  const pages = [
    { what: 'jobs of the space', hash: `#/spaces/${SPACE}`, ready: '.mark.live' },
    { what: 'one of its jobs', hash: `#/jobs/${ids[0]}`, ready: '.mark.live' },
    { what: 'all spaces', hash: '#/', ready: `a[href="#/spaces/${SPACE}"]` },
  ];
  const dashboard = [];
  for (const page of pages) dashboard.push(await measure(service, chromium, page, ids));
  print({ machine: await machineOf(redis.redis), options, dashboard }, { table }, json);
} finally {
  await chromium?.stop();
  await service?.stop();
  await redis.stop();
}
