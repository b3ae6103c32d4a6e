// npm run test:sdk-restarts -- --language Go [--rounds 20 --workers 10 --rate 40]
//
// Restart the workers of a fleet one by one, again and again, while jobs come. Every job must complete in its first
// attempt: a restart costs none. Jobs take from 0.1 s to longer than a worker's drain, after which it releases them.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startDriver } from '../conformance/driver.mjs';
import { API_KEY, startService, until } from '../conformance/service.mjs';
import { countEvents, faultsOf, jobsOf, untilDone } from './checks.mjs';

const { values: options } = parseArgs({
  options: {
    language: { type: 'string', default: 'TypeScript' },
    rounds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '10' },
    rate: { type: 'string', default: '40' },
  },
});

const SPACE = 'restarts';
const DRAIN_SECONDS = 1;
const PAUSE_MS = 300; // Between two restarts, so that each worker has jobs when it is stopped.
/** Milliseconds of work by the name of a job, and how often one in a hundred has it. The longest outlasts the drain. */
const KINDS = { quick: [100, 80], slow: [2_000, 18], long: [8_000, 2] };
const NAMES = Object.entries(KINDS).flatMap(([name, [, share]]) => Array(share).fill(name));
const handlers = Object.fromEntries(
  Object.entries(KINDS).map(([name, [ms]]) => [name, [{ sleepMs: ms }, { return: name }]]),
);

const service = await startService('redis');
const ids = [];
let isCreating = true;
let slowestMs = 0;

async function create() {
  for (let n = 0; isCreating; n++) {
    const jobs = Array.from({ length: Number(options.rate) / 10 }, (_, i) => ({
      name: NAMES[(n * 7 + i * 13) % NAMES.length],
      timeoutSeconds: 60,
    }));
    ids.push(...(await service.call('POST', `/spaces/${SPACE}/jobs`, jobs)).map(({ id }) => id));
    await delay(100);
  }
}

async function startWorker() {
  const env = { YARDMASTER_URL: service.url, YARDMASTER_API_KEY: API_KEY, YARDMASTER_SPACE: SPACE };
  const driver = startDriver(options.language, env);
  driver.send({ do: 'start', worker: { concurrency: 10, drainSeconds: DRAIN_SECONDS, handlers } });
  await until(() => driver.events.some(({ event }) => event === 'started'), 'a worker starts');
  return driver;
}

async function stopWorker(driver) {
  const began = performance.now();
  driver.signal('SIGTERM');
  const code = await driver.exited;
  slowestMs = Math.max(slowestMs, performance.now() - began);
  if (code !== 0) throw new Error(`a worker exited with ${code}: ${driver.errors()}`);
}

const fleet = await Promise.all(Array.from({ length: Number(options.workers) }, startWorker));
const creating = create();
try {
  for (let round = 0; round < Number(options.rounds); round++) {
    const stops = [];
    for (const [i, old] of fleet.entries()) {
      fleet[i] = await startWorker();
      stops.push(stopWorker(old));
      await delay(PAUSE_MS);
    }
    await Promise.all(stops);
  }
  isCreating = false;
  await creating;
  await untilDone(service, SPACE);
  await Promise.all(fleet.splice(0).map(stopWorker));
  const jobs = await jobsOf(service, ids);
  const faults = faultsOf(jobs);
  for (const fault of faults) process.stdout.write(`✗ ${fault}\n`);
  const released = countEvents(jobs, 'released');
  const takenBack = countEvents(jobs, 'delivery_timeout');
  process.stdout.write(
    `${options.language}: ${options.rounds} × ${options.workers} restarts, ${jobs.length} jobs, ${released} releases, ` +
      `${takenBack} deliveries taken back, slowest stop ${(slowestMs / 1_000).toFixed(1)} s\n` +
      `${faults.length === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed'}\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  isCreating = false;
  for (const driver of fleet) driver.kill();
  await service.stop();
}
