import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { runFsck } from '@yardmaster/fsck';
import { respondWith } from '../support/behaviours.js';
import { HttpClient } from '../support/http.js';
import { startApp } from '../support/process.js';
import { withReceiver } from '../support/receiver.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { withStandalones } from '../support/standalone.js';
import { until } from '../support/until.js';

const { dataDir, launch, start } = withStandalones();
const receiver = withReceiver();

type Standalone = Awaited<ReturnType<typeof start>>;

/** Call a path outside of the API. */
async function callPath(url: string, key: string, path: string, body: unknown) {
  const client = new HttpClient(url, 1);
  return client.call('POST', path, { key, body }).finally(() => client.close());
}

const clock = ({ url, key }: Pick<Standalone, 'url' | 'key'>, body: unknown) => callPath(url, key, '/test/clock', body);

const advance = async (standalone: Standalone, advanceSeconds: number) =>
  (await clock(standalone, { advanceSeconds })).body.now as string;

async function create({ call }: Standalone, fields: object): Promise<string> {
  return (await call('POST', '/spaces/clock/jobs', { name: 'work', ...fields })).body.id;
}

const statusOf = async ({ call }: Standalone, id: string) => (await call('GET', `/jobs/${id}`)).body.status;

/** Wait for two sweeps, of which the second has begun after this call. */
async function swept({ url }: Standalone): Promise<void> {
  const sweeps = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^yardmaster_sweeps_total (\d+)/m.exec(text)?.[1] ?? 0);
  };
  const before = await sweeps();
  await until(async () => (await sweeps()) >= before + 2);
}

it('a manual clock stands still, and ends windows and delays only when it is advanced', async () => {
  const standalone = await start({ CLOCK: 'manual' });
  const before = await advance(standalone, 0);
  const scheduled = await create(standalone, { delaySeconds: 3_600 });
  const running = await create(standalone, { timeoutSeconds: 0.001, retry: { delaySeconds: 60, jitter: 0 } });
  await standalone.call('POST', `/jobs/${running}/claim`);
  await standalone.call('POST', `/jobs/${running}/ack`);
  await swept(standalone);
  expect(await statusOf(standalone, running)).toBe('running'); // It had a millisecond, by any other clock.
  expect(await advance(standalone, 0)).toBe(before);

  const after = await advance(standalone, 1);
  expect(Date.parse(after) - Date.parse(before)).toBe(1_001);
  await until(async () => (await statusOf(standalone, running)) === 'scheduled');
  const { scheduledFor } = (await standalone.call('GET', `/jobs/${running}`)).body;
  expect(scheduledFor).toBe(new Date(Date.parse(after) + 60_000).toISOString());

  await advance(standalone, 59.999);
  await swept(standalone);
  expect(await statusOf(standalone, running)).toBe('scheduled');
  await advance(standalone, 3_540);
  await until(async () => (await statusOf(standalone, scheduled)) === 'pending');
  expect(await statusOf(standalone, running)).toBe('pending');
  // Calls that must be in time by the clock of Redis are not late on this one.
  const { body } = await standalone.call('POST', '/spaces/clock/jobs/poll', { count: 2, autoAck: true });
  expect(body.jobs.map(({ id }: { id: string }) => id)).toEqual([running, scheduled]);
});

it('a delay ends when a manual clock is advanced by exactly that delay', async () => {
  const standalone = await start({ CLOCK: 'manual' });
  await create(standalone, { delaySeconds: 3_600 });
  const poll = standalone.call('POST', '/spaces/clock/jobs/poll', { waitSeconds: 20 });
  await advance(standalone, 3_600);
  expect((await poll).body.jobs).toHaveLength(1);
});

it('advancing a manual clock makes the next attempt of a callback due', async () => {
  const standalone = await start({ CLOCK: 'manual', CALLBACK_RETRY_DELAYS: '3600', CALLBACK_ALLOW_PRIVATE: 'true' });
  const callbackUrl = receiver.script('/due', respondWith(500), respondWith(200));
  const id = await create(standalone, { callbackUrl });
  for (const [verb, body] of [['claim'], ['ack'], ['complete', { result: 1 }]] as const) {
    await standalone.call('POST', `/jobs/${id}/${verb}`, body);
  }
  const events = async () => (await standalone.call('GET', `/jobs/${id}`)).body.events;
  await until(async () => (await events()).at(-1).type === 'callback_sent');
  await advance(standalone, 3_600 * 1.2);
  await until(async () => (await events()).at(-1).data?.attempt === 2);
  expect(receiver.requestsTo('/due')).toHaveLength(2);
});

it('fsck compares times with a manual clock', async () => {
  const standalone = await start({ CLOCK: 'manual' });
  const claimed = async (id: string) => standalone.call('POST', `/jobs/${id}/claim`);
  await advance(standalone, 30 * 86_400);
  await create(standalone, { delaySeconds: 3_600 });
  const running = await create(standalone, {});
  await claimed(await create(standalone, {}));
  await claimed(running);
  await standalone.call('POST', `/jobs/${running}/ack`);
  const faults: unknown[] = [];
  const redis = `unix://${join(dataDir(), 'redis/redis.sock')}`;
  const { jobs } = await runFsck({ REDIS_URL: redis }, { onFault: (fault) => faults.push(fault) });
  expect({ jobs, faults }).toEqual({ jobs: 3, faults: [] });
});

it('a manual clock continues where it stopped after a restart', async () => {
  const first = await start({ CLOCK: 'manual' });
  const now = await advance(first, 86_400);
  await first.stop();
  expect(await advance(await start({ CLOCK: 'manual' }), 0)).toBe(now);
});

it('a manual clock can be advanced only by a valid number of seconds, and only with keys:manage', async () => {
  const standalone = await start({ CLOCK: 'manual' });
  const error = 'advanceSeconds must be a number between 0 and 31622400';
  for (const invalid of [{ advanceSeconds: -1 }, { advanceSeconds: '1' }, {}]) {
    const refused = await clock(standalone, invalid);
    expect([refused.status, refused.body]).toEqual([400, { error, code: 'INVALID_REQUEST' }]);
  }
  const { key } = (await standalone.call('POST', '/keys', { name: 'worker', scopes: ['jobs:worker'] })).body;
  expect((await clock({ url: standalone.url, key }, { advanceSeconds: 1 })).status).toBe(403);
});

it('no process has /test/clock unless its clock is manual', async () => {
  const standalone = await start();
  expect((await clock(standalone, { advanceSeconds: 1 })).status).toBe(404);
  const env = { CLOCK: 'manual', REDIS_URL: sharedService().redisUrl, KEY_PREFIX: `c-${process.pid}` };
  for (const app of ['api', 'gateway', 'scheduler']) {
    const running = await startApp(app, { ...env, ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'info' });
    expect((await callPath(running.url, ADMIN_KEY, '/test/clock', { advanceSeconds: 1 })).status).toBe(404);
    await running.stop();
  }
});

it('a standalone with a manual clock refuses to start on a Redis that others may use', async () => {
  const running = launch({ CLOCK: 'manual', REDIS_URL: sharedService().redisUrl });
  expect(await running.ended()).toBe(1);
  expect(running.output()).toContain('CLOCK must be redis if REDIS_URL is set');
});
