import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import { createScheduler } from '@yardmaster/scheduler';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
/** A scheduler beside it. */
let other: TestService;
/** Waits an hour before it tries again. */
let patient: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  const env = { CALLBACK_RETRY_DELAYS: '0.1,0.1', CALLBACK_ALLOW_PRIVATE: 'true' };
  service = await startService(env);
  other = await startService({ ...env, KEY_PREFIX: service.prefix }, { app: createScheduler, check: false });
  patient = await startService({ CALLBACK_RETRY_DELAYS: '3600' });
});
afterAll(async () => {
  await other.stop();
  await service.stop();
  await patient.stop();
  await receiver.close();
});

const redeliver = (from: TestService, id: string, key?: string) =>
  from.call('POST', `/jobs/${id}/callback/redeliver`, key === undefined ? {} : { key });
const DONE = { status: 200, body: { success: true } };

async function attempted(from: TestService, id: string, times: number) {
  await until(async () => attemptsOf(await readJob(from, id)).length === times);
  return readJob(from, id);
}

/** Wait until a callback that was owed later than all others of the space has been sent. */
async function fence(from: TestService, spaceId: string): Promise<void> {
  const callbackUrl = receiver.script(`/fence/${from.prefix}/${spaceId}`, answer(204));
  await settled(from, await jobIn(from, 'completed', spaceId, { callbackUrl }));
}

describe('redelivery', () => {
  it.each(['completed', 'dead'] as const)('sends the callback of a %s job again, and counts on', async (status) => {
    const path = `/again/${status}`;
    const callbackUrl = receiver.script(path, answer(410), answer(204));
    const id = await jobIn(service, status, 'again', { callbackUrl });
    const { events: _, ...before } = await settled(service, id);
    expect(await redeliver(service, id)).toMatchObject(DONE);
    const { events, ...after } = await attempted(service, id, 2);
    expect(attemptsOf({ events })).toEqual(historyOf(callbackUrl, [sent(410), sent(204, 2)]));
    expect(after).toEqual(before);
    const [first, second] = receiver.requestsTo(path);
    expect(second?.body).toEqual(first?.body);
  });

  it('has all retries ahead, however many were made before', async () => {
    const callbackUrl = receiver.script('/anew', answer(503));
    const id = await jobIn(service, 'completed', 'anew', { callbackUrl });
    await attempted(service, id, 3);
    await redeliver(service, id);
    const job = await attempted(service, id, 6);
    const attempts = [1, 2, 3, 4, 5, 6].map((attempt) => sent(503, attempt, attempt % 3 !== 0));
    expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, attempts));
    expect(job.updatedAt).toBe(job.completedAt);
  });

  it('takes the place of the retry that is waited for', async () => {
    const callbackUrl = receiver.script('/instead', answer(503), answer(204));
    const id = await jobIn(patient, 'completed', 'instead', { callbackUrl });
    await attempted(patient, id, 1);
    expect(await redeliver(patient, id)).toMatchObject(DONE);
    const job = await settled(patient, id);
    await fence(patient, 'instead');
    expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, [sent(503, 1, true), sent(204, 2)]));
    expect(receiver.requestsTo('/instead')).toHaveLength(2);
    expect(await patient.redis.zcard(patient.store.keys.callbacks(id.slice(0, 2)))).toBe(0);
  });

  it('asked for several times at once is one', async () => {
    const callbackUrl = receiver.script('/several', answer(503), answer(204));
    const id = await jobIn(patient, 'completed', 'several', { callbackUrl });
    await attempted(patient, id, 1);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => redeliver(patient, id)));
    for (const each of answers) expect(each).toMatchObject(DONE);
    await settled(patient, id);
    await fence(patient, 'several');
    expect(receiver.requestsTo('/several')).toHaveLength(2);
  });

  it('asked for while an attempt is being made follows it, once', async () => {
    const held: ServerResponse[] = [];
    const callbackUrl = receiver.script('/held', (response) => held.push(response), answer(204));
    const id = await jobIn(service, 'completed', 'held', { callbackUrl });
    await until(() => held.length === 1);
    // Whichever scheduler hears of it.
    for (let n = 0; n < 5; n++) {
      expect(await redeliver(service, id)).toMatchObject(DONE);
      await fence(service, 'held');
    }
    expect(receiver.requestsTo('/held')).toHaveLength(1);
    held[0]?.writeHead(204).end();
    const job = await attempted(service, id, 2);
    await fence(service, 'held');
    expect(attemptsOf(await readJob(service, id))).toEqual(historyOf(callbackUrl, [sent(204), sent(204, 2)]));
    expect(job.updatedAt).toBe(job.completedAt);
    expect(receiver.requestsTo('/held')).toHaveLength(2);
  });
});

describe('redelivery is refused', () => {
  const NOT_ENDED = { error: 'Job has not ended', code: 'JOB_NOT_ENDED' };
  const NO_CALLBACK = { error: 'Job has no callback', code: 'NO_CALLBACK' };
  const ROWS: [Status, hook: boolean, refusal: object][] = [
    ['pending', true, NOT_ENDED],
    ['delivered', true, NOT_ENDED],
    ['running', true, NOT_ENDED],
    ['running', false, NOT_ENDED],
    ['completed', false, NO_CALLBACK],
    ['dead', false, NO_CALLBACK],
    ['killed', true, NO_CALLBACK],
    ['killed', false, NO_CALLBACK],
  ];

  it.each(ROWS)('for a %s job (callbackUrl: %s)', async (jobStatus, hook, refusal) => {
    const path = `/refused/${jobStatus}`;
    const callbackUrl = receiver.script(path, answer(204));
    const id = await jobIn(service, jobStatus, 'refused', hook ? { callbackUrl } : {});
    const answered = await redeliver(service, id);
    expect({ status: answered.status, body: answered.body }).toEqual({ status: 409, body: { ...refusal, jobStatus } });
    await fence(service, 'refused');
    expect(receiver.requestsTo(path)).toEqual([]);
  });

  it('for a job that is not there', async () => {
    expect(await redeliver(service, '00aaaaaaaaaaaaaaaaaaaaaaaaaa')).toMatchObject({
      status: 404,
      body: { error: 'Job not found', code: 'JOB_NOT_FOUND' },
    });
  });

  it('to keys without the scope, and to those of another space', async () => {
    const callbackUrl = receiver.script('/keys', answer(204));
    const id = await jobIn(service, 'completed', 'keys', { callbackUrl });
    await settled(service, id);
    const forbidden = { status: 403, body: { code: 'FORBIDDEN' } };
    const worker = await service.key(['jobs:worker', 'jobs:kill']);
    const elsewhere = await service.key(['jobs:create'], { spaceId: 'elsewhere' });
    const here = await service.key(['jobs:create'], { spaceId: 'keys' });
    expect(await redeliver(service, id, worker.key)).toMatchObject(forbidden);
    expect(await redeliver(service, id, elsewhere.key)).toMatchObject(forbidden);
    await fence(service, 'keys');
    expect(receiver.requestsTo('/keys')).toHaveLength(1);
    expect(await redeliver(service, id, here.key)).toMatchObject(DONE);
    await attempted(service, id, 2);
  });
});
