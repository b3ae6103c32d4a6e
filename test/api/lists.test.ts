import { beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withRaw } from '../support/raw-client.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

const service = withService();

type Listed = { id: string; name: string };
const idsOf = (jobs: Listed[]) => jobs.map(({ id }) => id);

/** Return the ids of a whole space, page by page. */
async function listAll(spaceId: string, query = ''): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const { body } = await service.call('GET', `/spaces/${spaceId}/jobs?limit=100&offset=${ids.length}${query}`);
    if (body.length === 0) return ids;
    ids.push(...idsOf(body));
  }
}

const poll = async (spaceId: string, raw: string): Promise<Listed[]> =>
  (await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { raw })).body.jobs;

it('lists 1,000 jobs in exactly the reverse order of creation, each on one page', async () => {
  const body = '{"name":"work"}';
  const head = `POST /api/v1/spaces/lists-fast/jobs HTTP/1.1\r\nHost: x\r\nx-api-key: ${ADMIN_KEY}\r\n`;
  const request = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const responses = await withRaw(service.url, async (raw) => {
    for (let sent = 50; sent <= 1_000; sent += 50) {
      raw.socket.write(request.repeat(50));
      await raw.receive(sent);
    }
    return raw.responses;
  });
  const created = responses.map(({ text }) => JSON.parse(text).id);
  expect(new Set(created).size).toBe(1_000);
  expect(await listAll('lists-fast')).toEqual(created.reverse());
});

it('lists a page of large jobs completely and in order, even though it is read in steps', async () => {
  const payload = { text: 'x'.repeat(250_000) };
  const created: string[] = [];
  for (let i = 0; i < 40; i++) created.push((await createJob(service, 'lists-large', { payload })).id);
  await createJob(service, 'lists-large');
  const { body } = await service.call('GET', '/spaces/lists-large/jobs?limit=39&offset=1');
  expect(idsOf(body)).toEqual(created.reverse().slice(0, 39));
  expect(body[38].payload).toEqual(payload);
  expect(await listAll('lists-large')).toHaveLength(41);
});

it('lists only jobs of one status, in the order of all jobs', async () => {
  const running = await jobIn(service, 'running', 'filter');
  const dead = await jobIn(service, 'dead', 'filter');
  const pending = await jobIn(service, 'pending', 'filter');
  const second = await jobIn(service, 'running', 'filter');
  expect(await listAll('filter')).toEqual([second, pending, dead, running]);
  expect(await listAll('filter', '&status=running')).toEqual([second, running]);
  expect(await listAll('filter', '&status=dead')).toEqual([dead]);
  expect(await listAll('filter', '&status=killed')).toEqual([]);
  expect(await listAll('unused')).toEqual([]);
});

it('shows every field of a listed job except its callback and its history', async () => {
  const { id, createdAt } = await createJob(service, 'lists-shape', {
    payload: { a: 1 },
    callbackUrl: 'https://example.com/hook',
    callbackHeaders: { 'x-mine': 'yes' },
  });
  const { body } = await service.call('GET', '/spaces/lists-shape/jobs');
  const times = { deliveredAt: null, startedAt: null, completedAt: null, createdAt, updatedAt: createdAt };
  const numbers = { maxRetries: 3, attemptNumber: 0, timeoutSeconds: 300 };
  const fields = { name: 'work', payload: { a: 1 }, status: 'pending', result: null };
  expect(body).toEqual([{ id, spaceId: 'lists-shape', ...fields, ...numbers, ...times }]);
});

it('releases the response budget of a client that disconnects before its response is written', async () => {
  const request = `GET /api/v1/spaces/lists-large/jobs?limit=30 HTTP/1.1\r\nHost: x\r\nx-api-key: ${ADMIN_KEY}\r\n\r\n`;
  // 20 of 7 MB: twice the budget of unread responses to one key.
  for (let i = 0; i < 20; i++) {
    await withRaw(service.url, async (raw) => {
      raw.socket.write(`GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${request}`);
      await raw.receive(1); // Now the service has both requests, and reads the jobs.
      raw.socket.resetAndDestroy();
    });
  }
  await until(async () => (await service.call('GET', '/spaces/lists-large/jobs?limit=30')).status === 200);
});

describe('limits up to the maximum and above', () => {
  beforeAll(async () => {
    await Promise.all(Array.from({ length: 310 }, () => createJob(service, 'lists-crowd')));
  });

  it.each([
    ['', 50],
    ['?limit=100', 100],
    ['?limit=101', 100],
    ['?limit=99999999999999999999', 100],
    [`?limit=${'9'.repeat(400)}`, 100],
    ['?limit=100&offset=305', 5],
  ])('List Jobs with "%s" returns %i jobs', async (query, served) => {
    expect((await service.call('GET', `/spaces/lists-crowd/jobs${query}`)).body).toHaveLength(served);
  });

  it.each([
    ['{}', 1],
    ['{"count":50}', 50],
    ['{"count":51}', 50],
    ['{"count":9007199254740992}', 50],
    ['{"count":1e20}', 50],
  ])('Poll for Jobs with %s returns %i jobs', async (raw, served) => {
    expect(await poll('lists-crowd', raw)).toHaveLength(served);
  });
});

describe('Poll for Jobs', () => {
  const NAMES = ['a', 'b', 'c', 'd'];
  const FILTERS: [filter: object, taken: string[]][] = [
    [{}, NAMES],
    [{ type: [] }, NAMES],
    [{ types: [] }, NAMES],
    [{ name: [] }, NAMES],
    [{ names: [] }, NAMES],
    [{ types: ['a'], type: 'b', names: ['c'], name: 'd' }, ['a']],
    [{ name: 'd', names: ['c'], type: 'b', types: ['a'] }, ['a']],
    [{ type: 'b', names: ['c'], name: 'd' }, ['b']],
    [{ type: ['b', 'a'], names: ['c'], name: 'd' }, ['a', 'b']],
    [{ names: ['c'], name: 'd' }, ['c']],
    [{ name: 'd' }, ['d']],
    [{ name: ['d', 'a', 'd'] }, ['a', 'd']],
    [{ types: ['z'], type: 'a' }, []],
    [{ type: 'A' }, []],
  ];

  it.each(FILTERS.map(([filter, taken], n) => ({ filter: JSON.stringify(filter), taken, n })))(
    'polls only jobs named $taken with $filter',
    async ({ filter, taken, n }) => {
      for (const name of NAMES) await createJob(service, `filters-${n}`, { name });
      const jobs = await poll(`filters-${n}`, filter.replace('{', '{"count":50,').replace(',}', '}'));
      expect(jobs.map(({ name }) => name)).toEqual(taken);
    },
  );

  it('gives each of 1,000 jobs to exactly one of 50 pollers with mixed filters, oldest first within a name', async () => {
    const jobs = Array.from({ length: 1_000 }, (_, n) => createJob(service, 'lists-many', { name: NAMES[n % 4] }));
    await Promise.all(jobs);
    const order = (await listAll('lists-many')).reverse();
    // Redis publishes each delivery in the step that makes it, so the order of the messages is the order of delivery.
    const stream = await StreamClient.open(service.url, `/spaces/lists-many?token=${ADMIN_KEY}`);
    const filters = ['', '"type":"a"', '"types":["b","c"]', '"names":["d","a"]', '"name":"c"'];
    /** Poll with one filter after the other until none of them finds a job. */
    async function pollUntilEmpty(worker: number): Promise<string[]> {
      const taken: string[] = [];
      for (let misses = 0, turn = worker; misses < filters.length; turn++) {
        const filter = filters[turn % filters.length];
        const polled = await poll('lists-many', `{"count":${1 + (turn % 7)}${filter && ','}${filter}}`);
        taken.push(...idsOf(polled));
        misses = polled.length === 0 ? misses + 1 : 0;
      }
      return taken;
    }

    const taken = (await Promise.all(Array.from({ length: 50 }, (_, worker) => pollUntilEmpty(worker)))).flat();

    expect(taken.sort()).toEqual([...order].sort());
    const deliveries = () => stream.messages.filter(({ type }) => type === 'delivered');
    await until(() => deliveries().length === 1_000);
    for (const name of NAMES) {
      const places = deliveries().flatMap(({ jobName, jobId }) => (jobName === name ? [order.indexOf(jobId)] : []));
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
    await stream.close();
  });

  it('polls jobs of several names oldest first', async () => {
    const created: string[] = [];
    for (const name of ['b', 'a', 'c', 'a', 'b', 'c', 'a']) {
      const { id } = await createJob(service, 'merge', { name });
      if (name !== 'c') created.push(id);
    }
    expect(idsOf(await poll('merge', '{"types":["a","b"],"count":50}'))).toEqual(created);
  });

  it('a poll skips an entry of the queue whose record is gone', async () => {
    const { id: lost } = await createJob(service, 'orphan');
    const { id: kept } = await createJob(service, 'orphan');
    const { keys } = service.store;
    await service.redis.del(keys.job(lost));
    expect(idsOf(await poll('orphan', '{}'))).toEqual([kept]);
    expect(await listAll('orphan')).toEqual([kept]);
    // The test removes the record without the queue entry, which no script does.
    await service.redis.zrem(keys.jobs('orphan'), lost);
    await service.redis.zrem(keys.jobsByStatus('orphan', 'pending'), lost);
    await service.redis.zrem(`${keys.queue('orphan')}/work`, lost);
    await service.redis.zincrby(keys.names('orphan'), -1, 'work');
  });
});

const post = async (id: string, verb: string, body?: unknown) =>
  expect((await service.call('POST', `/jobs/${id}/${verb}`, { body })).status).toBe(200);
const attempt = async (id: string) => {
  await post(id, 'claim');
  await post(id, 'ack');
};

/** Return the latest error and progress of a job as Get Job and List Jobs show them, which must agree. */
async function latestOf(id: string, space: string) {
  const pick = ({ error, progress }: { error?: unknown; progress?: unknown }) => ({ error, progress });
  const got = (await service.call('GET', `/jobs/${id}`)).body;
  const listed = (await service.call('GET', `/spaces/${space}/jobs?limit=100`)).body;
  const shown = pick(listed.find((job: { id: string }) => job.id === id));
  expect(shown).toEqual(pick(got));
  return shown;
}

it('shows the latest error and progress of a job through its retries', async () => {
  const { id } = await createJob(service, 'latest', { maxRetries: 2 });
  expect(await latestOf(id, 'latest')).toEqual({});
  await attempt(id);
  await post(id, 'progress', { percent: 10, message: 'first' });
  const progress = { percent: 10, message: 'first' };
  expect(await latestOf(id, 'latest')).toEqual({ progress });
  await post(id, 'fail', { error: 'no' });
  expect(await latestOf(id, 'latest')).toEqual({ error: 'no', progress });
  await attempt(id);
  const error = { message: 'no again', code: 7 };
  await post(id, 'fail', { error });
  expect(await latestOf(id, 'latest')).toEqual({ error, progress });
  await attempt(id);
  await post(id, 'complete', { result: 1 });
  expect(await latestOf(id, 'latest')).toEqual({ error, progress });
});

it('shows the error of a dead job', async () => {
  const id = await jobIn(service, 'running', 'latest', { maxRetries: 0 });
  await post(id, 'fail', { error: 'the end' });
  expect(await latestOf(id, 'latest')).toEqual({ error: 'the end' });
});

it('returns a job without error and progress fields until it has an error or progress', async () => {
  const { id, ...created } = await createJob(service, 'latest');
  const got = (await service.call('GET', `/jobs/${id}`)).text;
  const listed = (await service.call('GET', '/spaces/latest/jobs?limit=1')).text;
  for (const text of [JSON.stringify(created), got, listed]) expect(text).not.toMatch(/"(error|progress)":/);
});
