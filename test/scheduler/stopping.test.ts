import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { answer, type Behaviour } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { keysOf } from '../support/fsck.js';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Fleet, startFleet } from '../support/schedulers.js';
import { until } from '../support/until.js';

let receiver: Receiver;
let redis: OwnRedis;
let fleet: Fleet;
beforeEach(async () => {
  receiver = await startReceiver();
  redis = await startRedis();
  fleet = await startFleet({
    schedulers: 0,
    env: { CALLBACKS_PER_HOST: '1', SHUTDOWN_SECONDS: '6' },
    redisUrl: redis.url,
  });
});
afterEach(async () => {
  await fleet.stop();
  await redis.stop();
  await receiver.close();
});

const ANSWERED = answer(204);
let held: ServerResponse | null = null;
const hold: Behaviour = (response) => {
  held = response;
};

/** Complete jobs, the callback of the first of which is being sent and not answered while the others wait. */
async function holdOne(others: number): Promise<string[]> {
  const { service } = fleet;
  const ids = [await jobIn(service, 'completed', 'stop', { callbackUrl: receiver.script('/held', hold) })];
  await until(() => receiver.requestsTo('/held').length === 1);
  for (let n = 0; n < others; n++) {
    const callbackUrl = receiver.script(`/other-${n}`, ANSWERED);
    ids.push(await jobIn(service, 'completed', 'stop', { callbackUrl }));
  }
  // In line are those that are relayed, and whose alarm has rung.
  const callbacks = service.store.keys.callbacks(ids[0]?.slice(0, 2) as string);
  await until(async () => (await service.redis.zcount(callbacks, 0, await redisNow(service.store))) === 0);
  const isAlarm = (key: string) => ids.some((id) => key.includes(id));
  await until(async () => !(await keysOf(service.redis, service.store.keys.bull)).some(isAlarm));
  return ids;
}

it('a scheduler that is stopped finishes and records its attempts, and hands on what waited', async () => {
  const { service } = fleet;
  const stopped = await fleet.start();
  const [first, ...others] = await holdOne(3);
  // So long may it be until the relay looks at a debt that has waited for long.
  const later = (await redisNow(service.store)) + 300_000;
  const callbacks = service.store.keys.callbacks(first?.slice(0, 2) as string);
  for (const id of others) await service.redis.zadd(callbacks, 'XX', later, id);

  const ended = stopped.stop();
  await until(() => stopped.output().includes('stopping'));
  held?.writeHead(204).end();
  expect(await ended).toBe(0);
  const job = await readJob(service, first as string);
  expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, [sent(204)]));

  await fleet.start();
  for (const id of others) expect(attemptsOf(await settled(service, id))).toMatchObject([sent(204)]);
  for (const n of others.keys()) expect(receiver.requestsTo(`/other-${n}`)).toHaveLength(1);
  expect(receiver.requestsTo('/held')).toHaveLength(1);
});

it.each([
  ['down', () => redis.halt(), () => redis.resume()],
  ['hanging', async () => process.kill(redis.pid(), 'SIGSTOP'), async () => process.kill(redis.pid(), 'SIGCONT')],
])('a scheduler that is stopped while Redis is %s ends by itself within SHUTDOWN_SECONDS', async (_how, away, back) => {
  const stopped = await fleet.start();
  await holdOne(2);
  await away();
  try {
    // Had it taken longer, it would have exited with 1.
    expect(await stopped.stop()).toBe(0);
    expect(stopped.output()).not.toContain('stop took too long');
  } finally {
    await back();
  }
});
