// npm run bench:fsck [-- --jobs 100000] [--json]: what a check of that many jobs takes: time, memory of the command, how
// long Redis is busy with one step, and how long others wait for their answers meanwhile. A third each of the jobs is
// pending, running and completed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ANY_SPACE, ackJob, completeJob, createJob, pollJobs, prepareRedis } from '@yardmaster/store';
import { startRedis } from './processes.mjs';

const { values } = parseArgs({ options: { jobs: { type: 'string', default: '100000' }, json: { type: 'boolean' } } });
const count = Number(values.jobs);

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const server = await startRedis();
const { store } = server;
const { redis } = store;
await prepareRedis(store);

const request = {
  name: 'resize',
  payload: { text: 'x'.repeat(189) },
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
};

/** Some spaces of many jobs, and many of few. */
const spaceOf = (n) => (n % 2 === 0 ? `large-${n % 8}` : `small-${Math.floor(n / 100)}`);

for (let from = 0; from < count; from += 500) {
  const numbers = Array.from({ length: Math.min(500, count - from) }, (_, i) => from + i);
  await Promise.all(numbers.map((n) => createJob(store, spaceOf(n), request)));
  // Two thirds of them go on.
  for (const space of new Set(numbers.map(spaceOf))) {
    const of = numbers.filter((n) => spaceOf(n) === space).length;
    for (let left = Math.floor((of * 2) / 3); left > 0; ) {
      const jobs = await pollJobs(store, space, { count: Math.min(50, left), names: [] });
      left -= jobs.length;
      await Promise.all(jobs.map(({ id }) => ackJob(store, ANY_SPACE, id)));
      await Promise.all(
        jobs.filter((_, i) => i % 2 === 0).map(({ id }) => completeJob(store, ANY_SPACE, id, { ok: true })),
      );
    }
  }
}

/** Ask all the time, and keep how long the answers took. */
async function waits(signal) {
  const times = [];
  while (!signal.aborted) {
    const began = performance.now();
    await redis.ping();
    times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return times.sort((a, b) => a - b);
}

async function run() {
  const stop = new AbortController();
  const waited = waits(stop.signal);
  await redis.config('RESETSTAT');
  await redis.config('SET', 'slowlog-log-slower-than', '500');
  await redis.slowlog('RESET');
  const began = performance.now();
  const child = spawn(process.execPath, [here('../apps/cli/bin/yardmaster.mjs'), 'fsck', '--json'], {
    env: { ...process.env, REDIS_URL: server.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (text) => (out += text));
  let peak = 0;
  const look = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  }, 20);
  const [code] = await once(child, 'close');
  clearInterval(look);
  stop.abort();
  const seconds = (performance.now() - began) / 1000;
  const times = await waited;
  const slow = await redis.slowlog('GET', 128);
  const cpu = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'));
  return {
    jobs: count,
    code,
    checked: JSON.parse(out.trim().split('\n').at(-1)).checked,
    seconds: Number(seconds.toFixed(1)),
    peakMb: Math.round(peak),
    slowestStepMs:
      Math.max(0, ...slow.filter(([, , , [name]]) => /evalsha/i.test(name)).map(([, , micros]) => micros)) / 1000,
    scripts: Number(cpu?.[1]),
    scriptSeconds: Number(cpu?.[2]) / 1e6,
    pingP99Ms: Number(times[Math.floor(times.length * 0.99)].toFixed(2)),
    pingMaxMs: Number(times.at(-1).toFixed(2)),
  };
}

const figures = await run();
process.stdout.write(`${JSON.stringify(figures, null, values.json ? 0 : 2)}\n`);
await server.stop();
