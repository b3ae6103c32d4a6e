import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import { redisNow } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, appended, appendOk, asRead, entriesOf, logsKey, readLogs } from './entries.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const post = async (id: string, verb: string, body?: unknown) => {
  const answer = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  if (answer.status !== 200) throw new Error(`${verb}: ${answer.text}`);
};
const deadlineOf = (id: string) => service.redis.zscore(service.store.keys.deadlines(id.slice(0, 2)), id);

/** All there is to know of a job but its logs. */
const stateOf = async (id: string) => ({
  job: await read(id),
  progress: (await service.call('GET', `/jobs/${id}/progress`)).body,
  deadline: await deadlineOf(id),
  record: await service.redis.hgetall(service.store.keys.job(id)),
});

/** Until Redis' clock has moved on: what is written from here on has another time. */
async function aMomentLater(): Promise<void> {
  const before = await redisNow(service.store);
  await until(async () => (await redisNow(service.store)) > before);
}

const inStatus = (status: Status) => () => jobIn(service, status, 'lifecycle');

async function retried(): Promise<string> {
  const id = await jobIn(service, 'running', 'lifecycle');
  await post(id, 'fail', { error: 'once' });
  return id;
}

async function runningAgain(): Promise<string> {
  const id = await retried();
  for (const verb of ['claim', 'ack']) await post(id, verb);
  await post(id, 'progress', { percent: 50, message: 'half' });
  return id;
}

describe('logs are taken by a job that is', () => {
  it.each<[what: string, make: () => Promise<string>]>([
    ['pending', inStatus('pending')],
    ['delivered', inStatus('delivered')],
    ['running', inStatus('running')],
    ['waiting for its retry', retried],
    ['running again', runningAgain],
    ['completed', inStatus('completed')],
    ['dead', inStatus('dead')],
    ['killed', inStatus('killed')],
  ])('%s, and nothing else of it changes', async (_, make) => {
    const id = await make();
    const before = await stateOf(id);
    await aMomentLater();

    const entries = entriesOf(20);
    await appendOk(service, id, entries);

    expect(await stateOf(id)).toEqual(before);
    const logs = await readLogs(service, id);
    expect(logs).toEqual(asRead(id, entries, logs[0]?.createdAt as string));
  });

  it('created, and stay with it to its end and beyond', async () => {
    const { id } = await createJob(service, 'lifecycle');
    const steps: [verb: string, body?: unknown][] = [
      ['claim'],
      ['ack'],
      ['progress', { percent: 1, message: 'x' }],
      ['fail', { error: 'once' }],
      ['claim'],
      ['ack'],
      ['checkpoint', { at: 1 }],
      ['complete', { result: 1 }],
    ];
    await appendOk(service, id, ['created']);
    for (const [n, [verb, body]] of steps.entries()) {
      await post(id, verb, body);
      await appendOk(service, id, [`${n} ${verb}`], n + 2);
    }

    const messages = (await readLogs(service, id)).map(({ message }) => message);
    expect(messages).toEqual(['created', ...steps.map(([verb], n) => `${n} ${verb}`)]);
    const { status, events } = await read(id);
    expect(status).toBe('completed');
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'created',
      'delivered',
      'acked',
      'progress',
      'retried',
      'delivered',
      'acked',
      'checkpoint',
      'completed',
    ]);
  });
});

describe('logs are no sign of life:', () => {
  it('a job whose worker sends nothing else times out', async () => {
    const id = await jobIn(service, 'running', 'silent', { timeoutSeconds: 0.5, maxRetries: 0 });
    let sent = 0;
    await until(async () => {
      await appendOk(service, id, ['still here'], ++sent);
      return (await read(id)).status === 'dead';
    });
    const { events } = await read(id);
    const error = 'Job timed out after 0.5 seconds without a heartbeat';
    expect(events.at(-1)).toMatchObject({ type: 'dead', data: { error } });
    expect(await readLogs(service, id)).toHaveLength(sent);
  });

  it('a job that was delivered and is not acked goes back to its queue', async () => {
    const impatient = await startService({ DELIVERY_TIMEOUT_SECONDS: '0.5' });
    try {
      const id = await jobIn(impatient, 'delivered', 'silent');
      let sent = 0;
      await until(async () => {
        await appendOk(impatient, id, ['still here'], ++sent);
        return (await impatient.call('GET', `/jobs/${id}`)).body.status === 'pending';
      });
      expect(await readLogs(impatient, id)).toHaveLength(sent);
    } finally {
      await impatient.stop();
    }
  });
});

it('logs of one job are not those of another', async () => {
  const ids = await Promise.all(['a', 'b', 'c'].map(async () => (await createJob(service, 'apart')).id));
  for (const [n, id] of ids.entries()) await appendOk(service, id, entriesOf(n + 1));
  for (const [n, id] of ids.entries()) expect(await readLogs(service, id)).toHaveLength(n + 1);
  const { id } = await createJob(service, 'apart');
  expect(await service.redis.exists(logsKey(service, id))).toBe(0);
  expect(await append(service, id, { body: ['first'] })).toMatchObject(appended(1));
});
