import { afterAll, describe, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, completeJob, createJob as createInStore } from '@yardmaster/store';
import { HttpClient } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { type RunningApp, startApp } from '../support/process.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { idsOf, poll, untilWaiting, withApi } from '../waiting/api.js';

const redis = withRedis();
const service = withService({}, { redis, app: 'api', hasDefaultTimeouts: true });
const env = { REDIS_TIMEOUT_SECONDS: '1.5' };
const api = withApi(service, { redis, env });
const withoutChecks = withApi(service, { redis, env, hasChecks: false });

/** Make a change in Redis whose messages no process receives, because their connections for messages end before it. */
async function changeUnheard(change: () => Promise<unknown>): Promise<void> {
  // Redis carries out the commands of one connection in order.
  await Promise.all([service.redis.client('KILL', 'TYPE', 'pubsub'), change()]);
}

const createUnheard = (spaceId: string, names: string[]) =>
  changeUnheard(() =>
    Promise.all(names.map((name) => createInStore(service.store, spaceId, createJobRequest.parse({ name })))),
  );

it('returns a job to a waiting poll that was created while the message connection was lost', async () => {
  const waiting = poll(withoutChecks, 'gap', { types: ['work', 'other'] });
  await untilWaiting(withoutChecks, 1);
  await createUnheard('gap', ['work']);
  expect(idsOf(await waiting)).toHaveLength(1);
});

it('returns a job to each of several waiting polls after the message connection was lost', async () => {
  const waiting = [['work'], ['work'], [], ['other']].map((types) => poll(withoutChecks, 'gaps', { types }));
  await untilWaiting(withoutChecks, 4);
  // The poll for any name gets the oldest.
  await createUnheard('gaps', ['work', 'work', 'work', 'other']);
  expect((await Promise.all(waiting)).flatMap(idsOf)).toHaveLength(4);
});

it('returns a job to a waiting poll even if its message was never published', async () => {
  const { keys } = service.store;
  const { id } = await createJob(service, 'silent');
  const queues = [keys.queue('silent'), `${keys.queue('silent')}/work`];
  const score = (await service.redis.zscore(keys.queue('silent'), id)) as string;
  for (const queue of queues) await service.redis.zrem(queue, id);
  const waiting = poll(api, 'silent', { types: ['work'] });
  await untilWaiting(api, 1);
  await until(() => api.context.subscriptions.isSubscribed(keys.wakeChannel('silent')));
  for (const queue of queues) await service.redis.zadd(queue, score, id);
  expect(idsOf(await waiting)).toEqual([id]);
});

it('returns a job that ended while the message connection was lost', async () => {
  const id = await jobIn(service, 'running', 'ends');
  const waiting = api.call('GET', `/jobs/${id}?waitSeconds=20`);
  await until(() => api.context.subscriptions.isSubscribed(service.store.keys.jobChannel(id)));
  await changeUnheard(() => completeJob(service.store, ANY_SPACE, id, 'done'));
  expect((await waiting).body).toMatchObject({ status: 'completed', result: 'done' });
});

it('keeps calls waiting while Redis is down, and wakes them once it is up', async () => {
  const id = await jobIn(service, 'running', 'outage');
  const waiting = poll(api, 'outage');
  const reading = api.call('GET', `/jobs/${id}?waitSeconds=20`);
  const over = poll(api, 'outage-over', { waitSeconds: 1 });
  await untilWaiting(api, 3);
  await redis.halt();
  expect((await over).body).toEqual({ jobs: [] });
  await redis.resume();
  const created = await createJob({ call: tryAgain }, 'outage');
  expect(idsOf(await waiting)).toEqual([created.id]);
  await until(async () => (await service.call('POST', `/jobs/${id}/complete`)).status === 200);
  expect((await reading).body.status).toBe('completed');
});

/** Call the service until it does not respond with 503. */
const tryAgain: typeof service.call = async (...call) => {
  for (;;) {
    const response = await service.call(...call);
    if (response.status !== 503) return response;
  }
};

describe('a fleet of 1,000 waiting workers at four processes', () => {
  const WORKERS = 1_000;
  const processes: RunningApp[] = [];
  const clients: HttpClient[] = [];
  afterAll(async () => {
    for (const client of clients) client.close();
    for (const process of processes) expect(await process.stop()).toBe(0);
  });

  it('1,000 workers that wait at four processes get each of 1,000 jobs exactly once', async () => {
    const { prefix } = service;
    for (let i = 0; i < 4; i++) {
      const variables = { ...LONG_REDIS_TIMEOUT, REDIS_URL: redis.url, KEY_PREFIX: prefix, ADMIN_API_KEY: ADMIN_KEY };
      processes.push(await startApp('api', variables));
    }
    const waiting = processes.flatMap(({ url }) => {
      const http = new HttpClient(url, WORKERS);
      clients.push(http);
      return Array.from({ length: WORKERS / 4 }, () => pollUntilJob(callOf(http)));
    });
    const created: string[] = [];
    for (let i = 0; i < WORKERS; i += 50) {
      const call = callOf(clients[0] as HttpClient);
      created.push(...(await Promise.all(Array.from({ length: 50 }, () => createOnceServed(call)))));
    }
    expect((await Promise.all(waiting)).sort()).toEqual(created.sort());
  });

  const callOf =
    (http: HttpClient): typeof service.call =>
    (method, path, options) =>
      http.call(method, `/api/v1${path}`, { key: ADMIN_KEY, ...options });

  async function createOnceServed(call: typeof service.call): Promise<string> {
    for (;;) {
      const { status, body } = await call('POST', '/spaces/fleet/jobs', { body: { name: 'work' } });
      if (status === 201) return body.id;
      expect(body.code).toBe('OVERLOADED'); // The machine is busy.
    }
  }

  async function pollUntilJob(call: typeof service.call): Promise<string> {
    for (;;) {
      const response = await poll({ call }, 'fleet');
      if (response.status === 503) continue; // The machine is busy.
      expect(response.status).toBe(200);
      const [id] = idsOf(response);
      if (id !== undefined) return id;
    }
  }
});
