import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob, getJob } from '@yardmaster/store';
import { scrape } from '../metrics/scrape.js';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { keysOf } from '../support/fsck.js';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { ROOT, runApp } from '../support/process.js';
import { withReceiver } from '../support/receiver.js';
import { runMany, withFleet } from '../support/schedulers.js';
import { startService, withService } from '../support/service.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

const preload = (source: string) => `--import=data:text/javascript,${encodeURIComponent(source)}`;
const receiver = withReceiver();

/**
 * Return an option of Node with which it finds the ipaddr.js of proxy-addr, which is older than ours, as if npm had
 * nested them otherwise.
 */
function withOldGuard(): string {
  const old = createRequire(createRequire(import.meta.url).resolve('proxy-addr')).resolve('ipaddr.js');
  const hooks = `export const resolve = (name, context, next) =>
    name === 'ipaddr.js' ? { url: '${pathToFileURL(old)}', shortCircuit: true } : next(name, context);`;
  const url = JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`);
  return preload(`import { register } from 'node:module'; register(${url});`);
}

it.each(['scheduler', 'standalone'])(
  'the %s refuses to start with a version of ipaddr.js that treats some private networks as public',
  async (app) => {
    const env = { REDIS_URL: sharedService().redisUrl, KEY_PREFIX: 'old-guard', PORT: '0', ADMIN_API_KEY: ADMIN_KEY };
    const { ended, output } = runApp(app, { ...env, NODE_OPTIONS: withOldGuard() }, ROOT); // Not bundled.
    expect(await ended()).toBe(1);
    const fault =
      'callbacks could reach 198.18.0.1, 3fff::1: the dependency ipaddr.js is the wrong version; install with npm ci';
    expect(output()).toBe(`Invalid configuration:\n  ${fault}\n`);
  },
);

describe('a scheduler', () => {
  /** Replaces the monotonic clock of the process: SIGUSR2 skips 10 s, SIGURG 1.5 s, and SIGWINCH stops or continues it. */
  const CLOCK = `
    const now = performance.now.bind(performance);
    let stoppedAt = null, skippedMs = 0;
    performance.now = () => (stoppedAt ?? now()) + skippedMs;
    const done = () => console.log('clock changed');
    process.on('SIGUSR2', () => done((skippedMs += 10_000)));
    process.on('SIGURG', () => done((skippedMs += 1_500)));
    process.on('SIGWINCH', () => done((stoppedAt = stoppedAt === null ? now() : null)));`;

  const redis = withRedis({ 'maxmemory-policy': 'allkeys-lru' });
  const scheduler = withService(
    { NODE_OPTIONS: preload(CLOCK), CALLBACK_RETRY_DELAYS: '0.2' },
    { app: 'scheduler', redis, hasDefaultTimeouts: true },
  );

  async function changeClock(signal: 'SIGUSR2' | 'SIGURG' | 'SIGWINCH'): Promise<void> {
    const changes = () => scheduler.process?.output().split('clock changed').length ?? 0;
    const before = changes();
    scheduler.process?.child.kill(signal);
    await until(() => changes() > before);
  }

  const probe = async (path: string) => {
    const { status, body } = await scheduler.http.call('GET', path);
    return [status, body.status];
  };
  const run = async (spaceId: string, fields: object) =>
    (await runMany(scheduler.store, spaceId, 1, fields))[0] as string;
  const typesOf = async (id: string) => (await getJob(scheduler.store, ANY_SPACE, id)).events.map(({ type }) => type);
  const timesOut = (id: string) => until(async () => (await typesOf(id)).includes('retried'));

  /** When BullMQ ticks next; null when nothing is scheduled. */
  const nextTick = () => scheduler.redis.zscore(`${scheduler.store.keys.bull}:ticks:repeat`, 'sweep');
  async function ticked(): Promise<void> {
    const before = await nextTick();
    await until(async () => ![null, before].includes(await nextTick()));
  }

  it('a scheduler is live and ready while it sweeps', async () => {
    expect(await probe('/livez')).toEqual([200, 'ok']);
    await until(async () => (await probe('/readyz'))[0] === 200);
    expect(await probe('/readyz')).toEqual([200, 'ok']);
  });

  it('a scheduler is not ready while Redis hangs', async () => {
    process.kill(redis.pid(), 'SIGSTOP');
    try {
      expect(await probe('/readyz')).toEqual([503, 'not ready']);
    } finally {
      process.kill(redis.pid(), 'SIGCONT');
    }
    await until(async () => (await probe('/readyz'))[0] === 200);
  });

  describe('a scheduler whose clock stands still, so that no tick is ever overdue and its own timer sweeps nothing', () => {
    beforeAll(async () => {
      await until(async () => (await probe('/readyz'))[0] === 200); // It has watched Redis' clock for long enough.
      await changeClock('SIGWINCH');
    });
    afterAll(() => changeClock('SIGWINCH'));

    it('a scheduler sweeps on the ticks of BullMQ', async () => {
      for (let n = 0; n < 3; n++) await timesOut(await run(`tick-${n}`, { timeoutSeconds: 0.01 }));
    });

    it('a scheduler is not ready while Redis is unavailable, and not live once it has not swept for 30 s', async () => {
      await redis.halt();
      try {
        await until(async () => (await probe('/readyz'))[0] === 503);
        expect(await probe('/readyz')).toEqual([503, 'not ready']);
        await changeClock('SIGUSR2');
        await changeClock('SIGUSR2');
        expect(await probe('/livez')).toEqual([200, 'ok']);
        await changeClock('SIGUSR2');
        await changeClock('SIGUSR2'); // A sweep that was under way may have ended after the first change.
        expect(await probe('/livez')).toEqual([503, 'not live']);
      } finally {
        await redis.resume();
      }
      await until(async () => (await probe('/livez'))[0] === 200);
      await until(async () => (await probe('/readyz'))[0] === 200);
      for (let n = 0; n < 2; n++) await ticked(); // From then on no tick is overdue.
    });

    it('a scheduler sends a callback on the message of the job, and retries it as a BullMQ job, without a sweep', async () => {
      const callbackUrl = receiver.script('/message', respondWith(503), respondWith(204));
      // First, because a tick that has begun still sweeps.
      await scheduler.redis.del(await keysOf(scheduler.redis, `${scheduler.store.keys.bull}:ticks`));
      const id = await run('message', { callbackUrl });
      const due = await run('due', { timeoutSeconds: 0.01 });
      await completeJob(scheduler.store, ANY_SPACE, id, null);
      await until(async () => (await typesOf(id)).filter((type) => type === 'callback_sent').length === 2);
      expect(await typesOf(due)).toEqual(['created', 'delivered', 'acked']);
    });

    it('a scheduler sweeps by its own timer after 1 s without a tick, and repairs the ticks after 3 s', async () => {
      await changeClock('SIGURG');
      for (let n = 0; n < 3; n++) await timesOut(await run(`own-${n}`, { timeoutSeconds: 0.01 }));
      expect(await nextTick()).toBeNull();

      await changeClock('SIGUSR2');
      await until(async () => (await nextTick()) !== null);
      for (let n = 0; n < 3; n++) await timesOut(await run(`repaired-${n}`, { timeoutSeconds: 0.01 }));
    });
  });

  // The scheduler may make the last of its connections long after it starts to serve.
  it('a scheduler logs one warning, as JSON, about a Redis that may evict jobs', () => {
    const lines = scheduler.process?.output().split('\n') ?? [];
    const warnings = lines.filter((line) => line.includes('allkeys-lru')).map((line) => JSON.parse(line));
    expect(warnings).toEqual([expect.objectContaining({ level: 'warn' })]);
  });
});

it('a scheduler is live but not ready until it has watched the clock of Redis for long enough', async () => {
  // It measures the time by its monotonic clock, which is slow here.
  const NODE_OPTIONS = preload('const now = performance.now.bind(performance); performance.now = () => now() / 1_000;');
  const scheduler = await startService({ NODE_OPTIONS }, { app: 'scheduler' });
  const sweeps = async () => (await scrape(scheduler)).get('yardmaster_sweeps_total') ?? 0;
  await until(async () => (await sweeps()) >= 3);
  expect((await scheduler.http.call('GET', '/livez')).status).toBe(200);
  expect((await scheduler.http.call('GET', '/readyz')).status).toBe(503);
  scheduler.http.close(); // Otherwise the stop would wait for a second of silence on each connection.
  await scheduler.stop();
});

describe('schedulers whose clocks are wrong', () => {
  const fleet = withFleet({ schedulers: 0, env: { CALLBACK_RETRY_DELAYS: '1' } });
  const startWithClock = (seconds: number) =>
    fleet.start({ NODE_OPTIONS: preload(`const { now } = Date; Date.now = () => now() + ${seconds * 1_000};`) });
  /** Expect the attempts at the callback of a job whose receiver fails at first. */
  async function expectCallback(id: string) {
    const job = await settled(fleet.service, id);
    expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, [sent(503, 1, true), sent(204, 2)]));
  }

  it('a scheduler finishes the work of a killed one whose clock was an hour ahead', async () => {
    /** When BullMQ ticks next, seconds from now. */
    const nextTick = async () => {
      const { redis, prefix } = fleet.service;
      const next = await redis.zscore(`${prefix}:{bull}:ticks:repeat`, 'sweep');
      return (Number(next) - Date.now()) / 1_000;
    };
    const ahead = await startWithClock(3_600);
    const callbackUrl = receiver.script('/ahead', respondWith(503), respondWith(204));
    const id = await jobIn(fleet.service, 'completed', 'clocks', { callbackUrl });
    await until(async () => attemptsOf(await readJob(fleet.service, id)).length === 1);
    await ahead.stop('SIGKILL');
    expect(await nextTick()).toBeGreaterThan(3_000);

    await startWithClock(0);
    await expectCallback(id);
    await until(async () => (await nextTick()) < 2);
  });

  it('a scheduler whose clock is an hour behind works alongside others', async () => {
    await startWithClock(-3_600);
    const callbackUrl = receiver.script('/behind', respondWith(503), respondWith(204));
    const fields = { callbackUrl, timeoutSeconds: 1, maxRetries: 0 };
    await expectCallback(await jobIn(fleet.service, 'running', 'clocks', fields));
  });
});
