import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Listed = { id: string; createdAt: string };

/** The ids of a whole space, page by page. */
async function listAll(spaceId: string, query = ''): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const { body } = await service.call('GET', `/spaces/${spaceId}/jobs?limit=100&offset=${ids.length}${query}`);
    if (body.length === 0) return ids;
    ids.push(...body.map(({ id }: Listed) => id));
  }
}

/** Write `count` creates to one socket without waiting, and read the answers, which HTTP keeps in order. */
function createPipelined(spaceId: string, count: number): Promise<string[]> {
  const { hostname, port } = new URL(service.url);
  const body = '{"name":"work"}';
  const head = `POST /api/v1/spaces/${spaceId}/jobs HTTP/1.1\r\nHost: ${hostname}\r\nx-api-key: ${ADMIN_KEY}\r\n`;
  const request = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk;
      const ids = [...text.matchAll(/\{"id":"([a-z0-9]{28})"/g)].map((match) => match[1] as string);
      if (ids.length < count) return;
      socket.destroy();
      resolve(ids);
    });
    socket.write(request.repeat(count));
  });
}

it('lists 1 000 jobs, created as fast as one client can, in exactly the reverse order of the answers', async () => {
  const answered = await createPipelined('list-fast', 1_000);
  expect(new Set(answered).size).toBe(1_000);
  expect(await listAll('list-fast')).toEqual(answered.reverse());
});

it('lists jobs created one after the other newest first, and none twice over pages', async () => {
  const created: string[] = [];
  for (let i = 0; i < 250; i++) created.push((await createJob(service, 'list-slow')).id);
  expect(await listAll('list-slow')).toEqual(created.reverse());
});

it('lists a page of large jobs whole, in order, although it is read in steps', async () => {
  const payload = { text: 'x'.repeat(250_000) };
  const created: string[] = [];
  for (let i = 0; i < 40; i++) created.push((await createJob(service, 'large', { payload })).id);
  expect((await createJob(service, 'large')).id).toBeDefined();
  const { body } = await service.call('GET', '/spaces/large/jobs?limit=39&offset=1');
  expect(body.map(({ id }: Listed) => id)).toEqual(created.reverse().slice(0, 39));
  expect(body[38].payload).toEqual(payload);
  expect(await listAll('large')).toHaveLength(41);
});

it('counts no answer for ever whose client was gone before it was written', async () => {
  const payload = { text: 'x'.repeat(250_000) };
  for (let i = 0; i < 30; i++) await createJob(service, 'gone', { payload });
  const { hostname, port } = new URL(service.url);
  const request = `GET /api/v1/spaces/gone/jobs HTTP/1.1\r\nHost: x\r\nx-api-key: ${ADMIN_KEY}\r\n\r\n`;
  // 60 × 7 MB: three times what may wait for its readers.
  for (let i = 0; i < 60; i++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.write(request, () => resolve()));
    socket.resetAndDestroy();
  }
  const read = async () => (await service.call('GET', '/spaces/gone/jobs?limit=1')).status;
  await until(async () => (await read()) === 200);
});

it('filters by status at the place of creation', async () => {
  const running = await jobIn(service, 'running', 'filter');
  const dead = await jobIn(service, 'dead', 'filter');
  const pending = await jobIn(service, 'pending', 'filter');
  const second = await jobIn(service, 'running', 'filter');
  expect(await listAll('filter')).toEqual([second, pending, dead, running]);
  expect(await listAll('filter', '&status=running')).toEqual([second, running]);
  expect(await listAll('filter', '&status=dead')).toEqual([dead]);
  expect(await listAll('filter', '&status=killed')).toEqual([]);
});

it('shows of each job all but its callback and its history', async () => {
  const { id, createdAt } = await createJob(service, 'shape', {
    payload: { a: 1 },
    callbackUrl: 'https://example.com/hook',
    callbackHeaders: { 'x-mine': 'yes' },
  });
  const { body } = await service.call('GET', '/spaces/shape/jobs');
  expect(body).toEqual([
    {
      id,
      spaceId: 'shape',
      name: 'work',
      payload: { a: 1 },
      status: 'pending',
      maxRetries: 3,
      attemptNumber: 0,
      timeoutSeconds: 300,
      deliveredAt: null,
      startedAt: null,
      completedAt: null,
      result: null,
      createdAt,
      updatedAt: createdAt,
    },
  ]);
});

it('is empty for a space nobody used', async () => {
  expect((await service.call('GET', '/spaces/unused/jobs')).body).toEqual([]);
});

it('keeps the order of creation when the clock of Redis steps back', async () => {
  const first = await createJob(service, 'clock');
  // As if the last job had been made an hour ahead of the clock.
  const ahead = (Date.now() + 3_600_000) * 1024;
  await service.redis.zadd(`${service.store.keys.baseOfSpace('clock')}spaces`, ahead, 'clock');
  const second = await createJob(service, 'clock');
  const third = await createJob(service, 'clock');
  expect(await listAll('clock')).toEqual([third.id, second.id, first.id]);
});

it('keeps callback headers that were given without a URL', async () => {
  const { id } = await createJob(service, 'headers', { callbackHeaders: { 'x-mine': 'yes' } });
  const { body } = await service.call('GET', `/jobs/${id}`);
  expect(body).toMatchObject({ callbackUrl: null, callbackHeaders: { 'x-mine': 'yes' } });
});

it.each(['{"toString":1}', `${'['.repeat(200_000)}${']'.repeat(200_000)}`])(
  'refuses a callback header that is no string',
  async (value) => {
    const raw = `{"name":"x","callbackHeaders":{"a":${value}}}`;
    const answer = await service.http.call('POST', '/api/v1/spaces/headers/jobs', { key: ADMIN_KEY, raw });
    expect(answer).toMatchObject({ status: 400, body: { error: 'callbackHeaders.a must be a string' } });
  },
);
