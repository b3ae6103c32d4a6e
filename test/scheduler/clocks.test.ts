import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
let receiver: Receiver;
const running: RunningProcess[] = [];
beforeEach(async () => {
  service = await startService({}, { app: createApi });
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((scheduler) => scheduler.stop('SIGKILL')));
  await receiver.close();
  await service.stop();
});

/** A scheduler process whose clock is off by so many seconds. */
async function startScheduler(seconds: number): Promise<RunningProcess> {
  const clock = `const { now } = Date; Date.now = () => now() + ${seconds * 1000};`;
  const scheduler = runApp('scheduler', {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}`,
    REDIS_URL: process.env.TEST_REDIS_URL,
    KEY_PREFIX: service.prefix,
    PORT: '0',
    CALLBACK_ALLOW_PRIVATE: 'true',
    CALLBACK_RETRY_DELAYS: '1',
  });
  running.push(scheduler);
  await until(() => scheduler.output().includes('scheduler listening'));
  return scheduler;
}

/** When BullMQ's clock rings next, seconds from now. */
const nextTick = async () => {
  const [, next] = await service.redis.zrange(`${service.prefix}:{bull}:sweeps:repeat`, 0, 0, 'WITHSCORES');
  return (Number(next) - Date.now()) / 1000;
};

it('what a scheduler left behind whose clock was ahead is mended by the next', async () => {
  const ahead = await startScheduler(3_600);
  const callbackUrl = receiver.script('/', answer(503), answer(204));
  const id = await jobIn(service, 'completed', 'clocks', { callbackUrl });
  await until(async () => attemptsOf(await readJob(service, id)).length === 1);
  await ahead.stop('SIGKILL');
  expect(await nextTick()).toBeGreaterThan(3_000);

  await startScheduler(0);
  expect(attemptsOf(await settled(service, id))).toEqual(historyOf(callbackUrl, [sent(503, 1, true), sent(204, 2)]));
  await until(async () => (await nextTick()) < 2);
});

it('a scheduler whose clock is behind does its work beside one whose clock is right', async () => {
  await startScheduler(-3_600);
  await startScheduler(0);
  const callbackUrl = receiver.script('/', answer(503), answer(204));
  const id = await jobIn(service, 'running', 'clocks', { callbackUrl, timeoutSeconds: 1, maxRetries: 0 });
  expect(attemptsOf(await settled(service, id))).toEqual(historyOf(callbackUrl, [sent(503, 1, true), sent(204, 2)]));
});
