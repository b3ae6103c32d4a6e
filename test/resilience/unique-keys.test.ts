import { expect, it } from '@jest/globals';
import { check } from '../fsck/checking.js';
import { withRedis } from '../support/own-redis.js';
import { Random } from '../support/random.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const RACE_MS = process.env.TEST_SHORT === 'true' ? 5_000 : 60_000;
const PRODUCERS = 64;
const LIVE = ['pending', 'delivered', 'running'];

const redis = withRedis();
const service = withService({ DELIVERY_TIMEOUT_SECONDS: '1', RETENTION_SECONDS: '1' }, { redis });

const SPACE = 'raced';
const create = (key: string, fields: object = {}, unique: object = {}) =>
  service.call('POST', `/spaces/${SPACE}/jobs`, { body: { name: 'work', unique: { key, ...unique }, ...fields } });
/** Count the jobs that have not ended, as of one moment. */
async function live(): Promise<number> {
  const { body } = await service.call('GET', `/spaces/${SPACE}/stats`);
  return LIVE.reduce((sum, status) => sum + (body?.jobs?.[status] ?? 0), 0);
}
const faults = async () =>
  (
    await check({
      ...service.store,
      settings: { ...service.store.settings, retentionMs: 1_000, deliveryTimeoutMs: 1_000 },
    })
  ).faults;

it('a unique key has at most one live job while producers race, jobs end at random, and Redis is killed', async () => {
  const random = new Random(7);
  const end = Date.now() + RACE_MS;
  const made = new Set<string>();
  // How many jobs are made in this time depends on the machine; one is no race.
  const isOver = () => Date.now() > end && made.size > 1;
  let most = 0;

  const produce = async () => {
    while (!isOver()) {
      const { status, body } = await create(
        'one',
        { timeoutSeconds: 0.5, maxRetries: 1 },
        { onConflict: random.of(['return', 'reject']) },
      );
      if (status === 201) made.add(body.id);
    }
  };
  /** Claim, start, complete, fail and kill jobs, and leave some to their time-outs. */
  const work = async () => {
    while (!isOver()) {
      const { body } = await service.call('POST', `/spaces/${SPACE}/jobs/poll`);
      const id = body?.jobs?.[0]?.id;
      if (id === undefined) continue;
      for (const verb of ['ack', random.of(['complete', 'fail', 'kill', 'keepalive'])])
        await service.call('POST', `/jobs/${id}/${verb}`, { body: verb === 'fail' ? { error: 'x' } : {} });
      if (random.chance(0.3)) await service.call('POST', `/jobs/${id}/kill`, { body: {} });
    }
  };
  const watch = async () => {
    while (!isOver()) most = Math.max(most, await live());
  };
  const crash = async () => {
    await until(() => Date.now() > end - RACE_MS / 2);
    process.kill(redis.pid(), 'SIGKILL'); // It starts again by itself.
  };
  await Promise.all([...Array.from({ length: PRODUCERS }, produce), work(), work(), watch(), crash()]);

  await until(async () => (await service.call('GET', `/spaces/${SPACE}/stats`)).status === 200);
  expect(most).toBe(1);
  expect(await faults()).toEqual([]);
});

it('a unique key keeps one job with the last payload when it is replaced 1,000 times', async () => {
  for (let n = 0; n < 1_000; n++)
    await create('replaced', { payload: { n }, name: 'other' }, { onConflict: 'replace' });
  const { body } = await service.call('GET', `/spaces/${SPACE}/jobs?status=pending`);
  const jobs = body.filter(({ name }: { name: string }) => name === 'other');
  expect(jobs).toMatchObject([{ payload: { n: 999 }, unique: { key: 'replaced', onConflict: 'replace' } }]);
  expect((await service.call('GET', `/jobs/${jobs[0].id}`)).body.events).toHaveLength(1_000);
  expect(await faults()).toEqual([]);
});
