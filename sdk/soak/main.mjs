// npm run test:sdk-soak -- --language Python [--minutes 60 --rate 10 --failing 0.05]
//
// Let one process create jobs and work on them for an hour, while a share of its calls fails: lost, cut, late, refused,
// or answered by a proxy. Every job must run once and complete in its first attempt. The memory, open files and threads
// of the process are sampled, and must not grow.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startDriver } from '../conformance/driver.mjs';
import { startProxy } from '../conformance/proxy.mjs';
import { API_KEY, startService, until } from '../conformance/service.mjs';
import { faultsOf, jobsOf, untilDone } from './checks.mjs';

const { values: options } = parseArgs({
  options: {
    language: { type: 'string', default: 'TypeScript' },
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '10' },
    failing: { type: 'string', default: '0.05' },
  },
});

const SPACE = 'soak';
const SAMPLES = 60;
const BAD_GATEWAY = { proxy: 'respond', status: 502, body: '<html>Bad gateway</html>' };
const UNAVAILABLE = { error: 'Service is unavailable', code: 'UNAVAILABLE' };
const FAULTS = [
  { proxy: 'lose-request' },
  { proxy: 'swallow-next-reply' },
  { proxy: 'cut-reply' },
  { proxy: 'delay', ms: 300 },
  BAD_GATEWAY,
  { proxy: 'respond', status: 503, headers: { 'retry-after': '1' }, body: UNAVAILABLE },
];
const handlers = {
  plain: [{ return: { n: 1 } }],
  busy: [{ progress: { percent: 50, message: 'half' } }, { logs: 20 }, { sleepMs: 200 }, { save: { page: 1 } }],
  slow: [{ event: { at: 'start' } }, { sleepMs: 1_500 }, { return: 'slow' }],
};
const NAMES = ['plain', 'plain', 'plain', 'busy', 'busy', 'slow'];

const service = await startService('redis');
let failed = 0;
const proxy = await startProxy(service.url, () => {
  if (Math.random() >= Number(options.failing)) return undefined;
  failed++;
  return FAULTS[Math.floor(Math.random() * FAULTS.length)];
});
const env = { YARDMASTER_URL: proxy.url, YARDMASTER_API_KEY: API_KEY, YARDMASTER_SPACE: SPACE };
const driver = startDriver(options.language, env);

const ids = new Set();
const runs = new Map(); // How often the handler of each job ran, by its id.
const refused = [];

/** Take in what the process printed since the last time. */
function readEvents() {
  for (const { event, jobId, ...more } of driver.events.splice(0)) {
    if (event === 'created') ids.add(jobId);
    if (event === 'refused') refused.push(`a create was refused: ${JSON.stringify(more)}`);
    if (event === 'handler') runs.set(jobId, (runs.get(jobId) ?? 0) + 1);
  }
}

const numberOf = (status, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);

function sample() {
  const of = (file) => `/proc/${driver.pid}/${file}`;
  const status = readFileSync(of('status'), 'utf8');
  return {
    memoryMb: Math.round(numberOf(status, 'VmRSS') / 1_024),
    threads: numberOf(status, 'Threads'),
    files: readdirSync(of('fd')).length,
  };
}

/** Return the median of a figure in a part of the samples, which is given by two shares of them. */
function medianOf(samples, figure, from, to) {
  const part = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to));
  return part.map((one) => one[figure]).sort((a, b) => a - b)[Math.floor(part.length / 2)];
}

/** A figure that may be this much higher at the end than after a third of the time. */
const MAY_GROW = { memoryMb: 25, threads: 3, files: 8 };

try {
  driver.send({ do: 'start', worker: { concurrency: 20, drainSeconds: 5, handlers } });
  await until(() => driver.events.some(({ event }) => event === 'started'), 'the worker starts');
  const everyMs = 1_000 / Number(options.rate);
  const lastsMs = Number(options.minutes) * 60_000;
  const samples = [];
  const began = performance.now();
  let asked = 0;
  for (let n = 0; performance.now() - began < lastsMs; n++) {
    driver.send({ do: 'create', as: `job ${n}`, name: NAMES[n % NAMES.length], options: { timeoutSeconds: 60 } });
    asked++;
    readEvents();
    if (performance.now() - began > ((samples.length + 1) * lastsMs) / SAMPLES) samples.push(sample());
    await delay(Math.max(0, began + n * everyMs - performance.now()));
  }
  await until(() => {
    readEvents();
    return ids.size + refused.length === asked;
  }, 'every create is answered');
  await untilDone(service, SPACE);
  driver.signal('SIGTERM');
  const code = await driver.exited;
  readEvents();

  const jobs = await jobsOf(service, [...ids]);
  const { jobs: counts } = await service.call('GET', `/spaces/${SPACE}/stats`);
  const faults = [...refused, ...faultsOf(jobs)];
  if (code !== 0) faults.push(`it exited with ${code}: ${driver.errors()}`);
  if (counts.total !== ids.size) faults.push(`${ids.size} creates made ${counts.total} jobs`);
  for (const id of ids) if (runs.get(id) !== 1) faults.push(`the handler of ${id} ran ${runs.get(id) ?? 0} times`);
  const figures = Object.entries(MAY_GROW).map(([figure, more]) => {
    const [early, late] = [medianOf(samples, figure, 0.25, 0.4), medianOf(samples, figure, 0.9, 1)];
    if (late > early + more) faults.push(`${figure} grew from ${early} to ${late}`);
    return `${figure} ${early} → ${late}`;
  });
  for (const fault of faults.slice(0, 20)) process.stdout.write(`✗ ${fault}\n`);
  process.stdout.write(
    `${options.language}: ${options.minutes} minutes, ${jobs.length} jobs, ${failed} calls failed; ${figures.join(', ')}\n` +
      `${faults.length === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed'}\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  driver.kill();
  proxy.close();
  await service.stop();
}
