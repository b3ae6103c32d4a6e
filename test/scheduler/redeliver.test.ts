import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import { ANY_SPACE, beginCallback, redeliverCallback } from '@yardmaster/store';
import { begin_callback, redeliver_callback } from '../../packages/store/src/script/scripts.generated.js';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sendLaterCallback, sent, settled } from '../support/callbacks.js';
import { during } from '../support/during.js';
import { jobIn } from '../support/jobs.js';
import { withReceiver } from '../support/receiver.js';
import { startService, type TestService, withService } from '../support/service.js';
import { until } from '../support/until.js';

const receiver = withReceiver();
/** A service that retries a callback once, after 50 ms. */
const service = withService();
/** Settings of a service that waits an hour before a retry, with a second scheduler next to it. */
const env = { CALLBACK_RETRY_DELAYS: '3600' };
const hourly = withService(env);
during(
  () => startService({ ...env, KEY_PREFIX: hourly.prefix }, { app: 'scheduler', check: false }),
  (scheduler) => scheduler.stop(),
);

const redeliver = (from: TestService, id: string, key?: string) =>
  from.call('POST', `/jobs/${id}/callback/redeliver`, key === undefined ? {} : { key });
const DONE = { status: 200, body: { success: true } };

async function attempted(from: TestService, id: string, times: number) {
  await until(async () => attemptsOf(await readJob(from, id)).length === times);
  return readJob(from, id);
}

it.each(['completed', 'dead'] as const)('a redelivered callback of a %s job is attempt 2', async (status) => {
  const path = `/again/${status}`;
  const callbackUrl = receiver.script(path, respondWith(410), respondWith(204));
  const id = await jobIn(service, status, 'again', { callbackUrl });
  const { events: _, ...before } = await settled(service, id);
  expect(await redeliver(service, id)).toMatchObject(DONE);
  const { events, ...after } = await attempted(service, id, 2);
  expect(attemptsOf({ events })).toEqual(historyOf(callbackUrl, [sent(410), sent(204, 2)]));
  expect(after).toEqual(before);
  const [first, second] = receiver.requestsTo(path);
  expect(second?.body).toEqual(first?.body);
});

it('a redelivery has all of its retries, however many were made before', async () => {
  const callbackUrl = receiver.script('/all', respondWith(503));
  const id = await jobIn(service, 'completed', 'all', { callbackUrl });
  for (const times of [2, 4]) {
    await attempted(service, id, times);
    await redeliver(service, id);
  }
  const job = await attempted(service, id, 6);
  const attempts = [1, 2, 3, 4, 5, 6].map((attempt) => sent(503, attempt, attempt % 2 !== 0));
  expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, attempts));
  expect(job.updatedAt).toBe(job.completedAt);
});

it('a redelivery replaces the waiting retry once, even if it is requested concurrently', async () => {
  const callbackUrl = receiver.script('/instead', respondWith(503), respondWith(204));
  const id = await jobIn(hourly, 'completed', 'instead', { callbackUrl });
  await attempted(hourly, id, 1);
  // All commands go in one write, so that no scheduler's command comes between.
  for (const { text } of [redeliver_callback, begin_callback]) await hourly.redis.script('LOAD', text);
  hourly.redis.stream.cork();
  const all = [1, 2, 3, 4, 5].map(() => redeliverCallback(hourly.store, ANY_SPACE, id));
  // A scheduler whose wake-up for that retry is due sends the same command.
  const retry = beginCallback(hourly.store, { jobId: id, series: 0 });
  hourly.redis.stream.uncork();
  await Promise.all(all);
  expect(await retry).toEqual({ waitMs: null });
  const job = await settled(hourly, id);
  await sendLaterCallback(hourly, receiver, 'instead');
  expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, [sent(503, 1, true), sent(204, 2)]));
  expect(receiver.requestsTo('/instead')).toHaveLength(2);
  expect(await hourly.redis.zcard(hourly.store.keys.callbacks(id.slice(0, 2)))).toBe(0);
});

it('a redelivery requested during an attempt is made once after it, whichever scheduler gets the message', async () => {
  const waiting: ServerResponse[] = [];
  const callbackUrl = receiver.script('/waiting', (response) => waiting.push(response), respondWith(204));
  const id = await jobIn(hourly, 'completed', 'waiting', { callbackUrl });
  await until(() => waiting.length === 1);
  for (let n = 0; n < 5; n++) {
    expect(await redeliver(hourly, id)).toMatchObject(DONE);
    await sendLaterCallback(hourly, receiver, 'waiting');
  }
  expect(receiver.requestsTo('/waiting')).toHaveLength(1);
  waiting[0]?.writeHead(204).end();
  const job = await attempted(hourly, id, 2);
  await sendLaterCallback(hourly, receiver, 'waiting');
  expect(attemptsOf(await readJob(hourly, id))).toEqual(historyOf(callbackUrl, [sent(204), sent(204, 2)]));
  expect(job.updatedAt).toBe(job.completedAt);
  expect(receiver.requestsTo('/waiting')).toHaveLength(2);
});

describe('refusals of redelivery', () => {
  const NOT_ENDED = { error: 'Job has not ended', code: 'JOB_NOT_ENDED' };
  const NO_CALLBACK = { error: 'Job has no callback', code: 'NO_CALLBACK' };
  const ROWS: [Status, hasUrl: boolean, refusal: object][] = [
    ['pending', true, NOT_ENDED],
    ['delivered', true, NOT_ENDED],
    ['running', true, NOT_ENDED],
    ['running', false, NOT_ENDED],
    ['completed', false, NO_CALLBACK],
    ['dead', false, NO_CALLBACK],
    ['killed', true, NO_CALLBACK],
    ['killed', false, NO_CALLBACK],
  ];

  it.concurrent.each(ROWS)('redelivery refuses a %s job (callbackUrl: %s)', async (jobStatus, hasUrl, refusal) => {
    const path = `/refused/${jobStatus}`;
    const callbackUrl = receiver.script(path, respondWith(204));
    const spaceId = `refused-${jobStatus}-${hasUrl}`;
    const id = await jobIn(service, jobStatus, spaceId, hasUrl ? { callbackUrl } : {});
    const { status, body } = await redeliver(service, id);
    expect({ status, body }).toEqual({ status: 409, body: { ...refusal, jobStatus } });
    await sendLaterCallback(service, receiver, spaceId);
    expect(receiver.requestsTo(path)).toEqual([]);
  });

  it('redelivery is refused for a job that does not exist', async () => {
    expect(await redeliver(service, '00aaaaaaaaaaaaaaaaaaaaaaaaaa')).toMatchObject({
      status: 404,
      body: { error: 'Job not found', code: 'JOB_NOT_FOUND' },
    });
  });

  it('redelivery is refused to keys without the scope, and to those of another space', async () => {
    const callbackUrl = receiver.script('/keys', respondWith(204));
    const id = await jobIn(service, 'completed', 'keys', { callbackUrl });
    await settled(service, id);
    const forbidden = { status: 403, body: { code: 'FORBIDDEN' } };
    const worker = await service.key(['jobs:worker', 'jobs:kill']);
    const elsewhere = await service.key(['jobs:create'], { spaceId: 'elsewhere' });
    const here = await service.key(['jobs:create'], { spaceId: 'keys' });
    expect(await redeliver(service, id, worker.key)).toMatchObject(forbidden);
    expect(await redeliver(service, id, elsewhere.key)).toMatchObject(forbidden);
    await sendLaterCallback(service, receiver, 'keys');
    expect(receiver.requestsTo('/keys')).toHaveLength(1);
    expect(await redeliver(service, id, here.key)).toMatchObject(DONE);
    await attempted(service, id, 2);
  });
});
