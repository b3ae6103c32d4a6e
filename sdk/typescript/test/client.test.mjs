import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Worker, Yardmaster, YardmasterError } from '../dist/index.js';
import { startFake } from './fake-service.mjs';

const JOB = { id: 'j1', spaceId: 'a b', name: 'resize', status: 'pending' };
const UNAVAILABLE = { error: 'Service is unavailable', code: 'UNAVAILABLE' };

/** Run a test with a client and a fake service. */
const withClient = (title, answer, act, options = {}) =>
  test(title, async () => {
    const fake = await startFake(answer);
    try {
      await act(new Yardmaster({ ...fake.options, ...options }), fake);
    } finally {
      await fake.close();
    }
  });

withClient(
  'create sends the fields of the API, with the API key and an idempotency key',
  () => [201, JOB],
  async (client, { calls }) => {
    const options = { delay: '5m', timeout: 30, maxRun: '1h', startWithin: '2d', priority: 7, unique: { key: 'k' } };
    const job = await client.create('resize', { image: 'cat.png' }, { ...options, retry: { delaySeconds: 5 } });
    assert.deepEqual([job.id, job.name, job.status], ['j1', 'resize', 'pending']);
    const [{ method, url, headers, body }] = calls;
    assert.deepEqual([method, url, headers['x-api-key']], ['POST', '/api/v1/spaces/a%20b/jobs', 'secret']);
    assert.match(headers['idempotency-key'], /^[0-9a-f-]{36}$/);
    assert.equal(headers.prefer, 'handling=strict');
    assert.deepEqual(body, {
      ...{ name: 'resize', payload: { image: 'cat.png' }, delaySeconds: 300, timeoutSeconds: 30 },
      ...{ maxRunSeconds: 3_600, startWithinSeconds: 172_800, priority: 7 },
      ...{ unique: { key: 'k' }, retry: { delaySeconds: 5 } },
    });
  },
);

const TEMPORARY = {
  'a lost connection': null,
  'an HTML page of a proxy': [502, '<html>'],
  'JSON that is not from the service': [500, { message: 'no' }],
  'a 503': [503, UNAVAILABLE],
  'a 429': [429, { error: 'Too many', code: 'TOO_MANY_WAITERS' }],
  'a truncated body': [200, '{"id": "j1'],
  'a redirect, which is not followed': [301, '', { location: '/elsewhere' }],
};
for (const [what, answer] of Object.entries(TEMPORARY))
  withClient(
    `create is retried with the same idempotency key after ${what}`,
    (_, count) => (count === 1 ? answer : [201, JOB]),
    async (client, { calls }) => {
      assert.equal((await client.create('resize')).id, 'j1');
      const keys = calls.map(({ headers }) => headers['idempotency-key']);
      assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
      assert.ok(calls.every(({ method, url }) => method === 'POST' && url === '/api/v1/spaces/a%20b/jobs'));
    },
  );

withClient(
  'a refused call is not retried, and its error has everything that the service returned',
  () => [
    400,
    {
      error: 'Request is not valid',
      code: 'INVALID_REQUEST',
      details: [{ path: 'name', message: 'name is required' }],
    },
    { 'x-request-id': 'r1' },
  ],
  async (client, { calls }) => {
    const error = await client.create('').catch((thrown) => thrown);
    assert.ok(error instanceof YardmasterError);
    const { code, status, message, requestId, details } = error;
    assert.deepEqual(
      { code, status, message, requestId, details },
      {
        ...{ code: 'INVALID_REQUEST', status: 400, message: 'Request is not valid', requestId: 'r1' },
        details: [{ path: 'name', message: 'name is required' }],
      },
    );
    assert.equal(calls.length, 1);
  },
);

withClient(
  'a call is not retried after the retry window',
  () => [503, UNAVAILABLE, { 'retry-after': '30' }],
  async (client, { calls }) => {
    await assert.rejects(client.get('j1'), { code: 'UNAVAILABLE', retryAfterMs: 30_000 });
    assert.equal(calls.length, 1);
  },
  { retryWindow: '1s' },
);

withClient(
  'an aborted call throws the reason of its signal',
  () => new Promise(() => undefined),
  async (client) => {
    const controller = new AbortController();
    const call = client.get('j1', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
  },
);

withClient(
  'result long-polls the service and ends at its own timeout',
  ({ url }) => [200, { ...JOB, status: url.includes('waitSeconds') ? 'running' : 'pending', events: [] }],
  async (client, { calls }) => {
    await assert.rejects(client.handle('j1').result({ timeout: '100ms' }), { code: 'TIMEOUT', jobStatus: 'running' });
    assert.match(calls[0].url, /^\/api\/v1\/jobs\/j1\?events=0&waitSeconds=0\.\d+$/);
  },
);

withClient(
  'result throws JOB_DEAD with the error of the job',
  () => [200, { ...JOB, status: 'dead', error: 'disk full', events: [] }],
  (client) =>
    assert.rejects(client.handle('j1').result(), { code: 'JOB_DEAD', message: /disk full/, jobError: 'disk full' }),
);

test('printing a client, or an object with one, does not show the key', () => {
  const client = new Yardmaster({ url: 'http://127.0.0.1:9', apiKey: 'the-key', space: 's' });
  const worker = new Worker(client);
  const all = { client, worker, target: client.target, job: client.handle('j'), operations: client.operations };
  for (const text of [
    inspect(all, { depth: 20, showHidden: true, getters: true }),
    JSON.stringify(all),
    ...Object.values(all).map(String),
  ]) {
    assert.ok(!text.includes('the-key'), text);
  }
});

test('a client without a key or a space throws an error that says what to set', () => {
  const { YARDMASTER_API_KEY: _, YARDMASTER_SPACE: __, ...env } = process.env;
  process.env = env;
  assert.throws(() => new Yardmaster({ space: 'demo' }), /apiKey option or the YARDMASTER_API_KEY variable/);
  assert.throws(() => new Yardmaster({ apiKey: 'k' }), /space option or the YARDMASTER_SPACE variable/);
  assert.throws(() => new Yardmaster({ apiKey: 'k', space: 's', url: 'localhost' }), /is not an HTTP URL: localhost/);
});

withClient(
  'list reads every page with its filter, even after an empty page',
  ({ url }) => {
    const cursor = new URL(url, 'http://x').searchParams.get('cursor');
    if (cursor === null) return [200, [{ id: 'a' }, { id: 'b' }], { 'x-next-cursor': '1+' }];
    return cursor === '1+' ? [200, [], { 'x-next-cursor': '2' }] : [200, [{ id: 'c' }]];
  },
  async (client, { calls }) => {
    const createdAfter = new Date('2026-08-01T09:30:00Z');
    const filter = { status: ['dead', 'killed'], name: 'resize', tag: ['eu', 'vip'], q: 'full', createdAfter };
    const ids = [];
    for await (const { id } of client.list({ ...filter, order: 'asc', pageSize: 2 })) ids.push(id);
    assert.deepEqual(ids, ['a', 'b', 'c']);
    const query =
      'status=dead&status=killed&name=resize&tag=eu&tag=vip&q=full&order=asc&limit=2&createdAfter=2026-08-01T09%3A30%3A00.000Z';
    const path = `/api/v1/spaces/a%20b/jobs?${query}`;
    assert.deepEqual(
      calls.map(({ url }) => url),
      [path, `${path}&cursor=1%2B`, `${path}&cursor=2`],
    );
  },
);

withClient(
  'spaces reads every page',
  ({ url }) => [
    200,
    url.includes('cursor=a')
      ? { spaces: [{ spaceId: 'b' }], nextCursor: null }
      : { spaces: [{ spaceId: 'a' }], nextCursor: 'a' },
  ],
  async (client) => {
    const found = [];
    for await (const { spaceId } of client.spaces()) found.push(spaceId);
    assert.deepEqual(found, ['a', 'b']);
  },
);

withClient(
  'get, requeue, delete, stats, pause, resume and createStreamToken send the requests of the API',
  () => [200, { ...JOB, success: true }],
  async (client, { calls }) => {
    await client.get('j1');
    await client.get('j1', { events: false });
    await client.get('j1', { events: { after: 0, limit: 10 } });
    await client.requeue('j1', '5m');
    await client.delete('j1');
    await client.stats();
    await client.pause(['resize']);
    await client.pause([]); // No call: it must not pause the whole space.
    await client.resume();
    await client.create('resize', null, { tags: ['eu'] });
    await client.createStreamToken({ scope: 'jobs:read:progress', tag: 'eu', expiresInSeconds: 60 });
    assert.deepEqual(
      calls.map(({ method, url, body }) => [method, url, body]),
      [
        ['GET', '/api/v1/jobs/j1', null],
        ['GET', '/api/v1/jobs/j1?events=0', null],
        ['GET', '/api/v1/jobs/j1?eventsAfter=0&eventsLimit=10', null],
        ['POST', '/api/v1/jobs/j1/requeue', { delaySeconds: 300 }],
        ['DELETE', '/api/v1/jobs/j1', null],
        ['GET', '/api/v1/spaces/a%20b/stats', null],
        ['POST', '/api/v1/spaces/a%20b/pause', { names: ['resize'] }],
        ['POST', '/api/v1/spaces/a%20b/resume', {}],
        ['POST', '/api/v1/spaces/a%20b/jobs', { name: 'resize', payload: null, tags: ['eu'] }],
        ['POST', '/api/v1/stream-tokens', { scope: 'jobs:read:progress', tag: 'eu', expiresInSeconds: 60 }],
      ],
    );
  },
);

const LIMITED = [429, { error: 'Too many calls', code: 'RATE_LIMITED' }, { 'retry-after': '0.2' }];

withClient(
  'copy is retried if it had no effect, but not after a lost response',
  (_, count) => [LIMITED, [201, JOB], [503, UNAVAILABLE], null][count - 1],
  async (client, { calls }) => {
    assert.equal((await client.copy('j0', { image: 'dog.png' })).id, 'j1');
    await assert.rejects(client.copy('j0'), { code: 'UNAVAILABLE' });
    await assert.rejects(client.copy('j0'), { code: 'NO_RESPONSE' });
    assert.deepEqual(
      calls.map(({ body }) => body),
      [{ payload: { image: 'dog.png' } }, { payload: { image: 'dog.png' } }, {}, {}],
    );
  },
);

withClient(
  'start, wait and cancel of an operation send the requests of the API',
  ({ method }, count) => {
    if (count === 1) return null;
    if (method === 'DELETE') return [200, { success: true }];
    return [count === 2 ? 202 : 200, { id: 'o1', status: count < 4 ? 'running' : 'done', changed: 7 }];
  },
  async (client, { calls }) => {
    const options = { limit: 9, dryRun: true, reason: 'fixed', delay: '1m' };
    const operation = await client.operations.start('requeue', { status: 'dead', names: ['resize'] }, options);
    assert.deepEqual([operation.id, (await operation.wait()).changed], ['o1', 7]);
    await operation.cancel();
    assert.deepEqual(calls[1].body, {
      ...{ action: 'requeue', filter: { status: 'dead', names: ['resize'] } },
      ...{ limit: 9, dryRun: true, reason: 'fixed', delaySeconds: 60 },
    });
    assert.equal(calls[0].headers['idempotency-key'], calls[1].headers['idempotency-key']);
    assert.deepEqual(
      calls.slice(1).map(({ method, url }) => `${method} ${url}`),
      [
        ...['POST /api/v1/spaces/a%20b/operations', 'GET /api/v1/operations/o1', 'GET /api/v1/operations/o1'],
        'DELETE /api/v1/operations/o1',
      ],
    );
  },
);

withClient(
  'wait for an operation ends at its own timeout',
  () => [200, { id: 'o1', status: 'running' }],
  (client) => assert.rejects(client.operations.handle('o1').wait({ timeout: '50ms' }), { code: 'TIMEOUT' }),
);

const NIGHTLY = { cron: '0 3 * * *', timezone: 'Europe/Berlin', job: { name: 'report', payload: { kind: 'daily' } } };

withClient(
  'put, sync, get, run, pause, resume and delete of schedules send the requests of the API',
  ({ url }) => [200, url.endsWith('/run') ? JOB : { id: 'nightly/1', nextAt: null }],
  async ({ schedules }, { calls }) => {
    const declared = { owner: 'billing', schedules: [{ id: 'nightly/1', ...NIGHTLY }], prune: true };
    assert.equal((await schedules.put('nightly/1', NIGHTLY)).id, 'nightly/1');
    await schedules.sync(declared);
    await schedules.get('nightly/1');
    const { id, name } = await schedules.run('nightly/1', { payload: { kind: 'weekly' } });
    assert.deepEqual([id, name], ['j1', 'resize']);
    await schedules.run('nightly/1');
    await schedules.pause('nightly/1');
    await schedules.resume('nightly/1');
    assert.equal(await schedules.delete('nightly/1'), undefined);
    const path = '/api/v1/spaces/a%20b/schedules';
    const one = `${path}/nightly%2F1`;
    assert.deepEqual(
      calls.map(({ method, url, body }) => [method, url, body]),
      [
        ['PUT', one, NIGHTLY],
        ['PUT', path, declared],
        ['GET', one, null],
        ['POST', `${one}/run`, { payload: { kind: 'weekly' } }],
        ['POST', `${one}/run`, {}],
        ['PATCH', one, { paused: true }],
        ['PATCH', one, { paused: false }],
        ['DELETE', one, null],
      ],
    );
  },
);

withClient(
  'list of schedules reads every page',
  ({ url }) => [
    200,
    url.includes('cursor=1')
      ? { schedules: [{ id: 'b' }], nextCursor: null }
      : { schedules: [{ id: 'a' }], nextCursor: '1' },
  ],
  async ({ schedules }, { calls }) => {
    const found = [];
    for await (const { id } of schedules.list()) found.push(id);
    assert.deepEqual([found, calls[0].url], [['a', 'b'], '/api/v1/spaces/a%20b/schedules?limit=100']);
  },
);

withClient(
  'put of a schedule is retried after a lost response, but run is not',
  (_, count) => [null, [503, UNAVAILABLE], [200, { id: 'nightly' }], null][count - 1],
  async ({ schedules }, { calls }) => {
    assert.equal((await schedules.put('nightly', NIGHTLY)).id, 'nightly');
    await assert.rejects(schedules.run('nightly'), { code: 'NO_RESPONSE' });
    assert.equal(calls.length, 4);
  },
);

const LAST_RUNS = { error: 'Still running', code: 'SCHEDULE_RUNNING', jobStatus: 'running', jobId: 'j0' };

withClient(
  'run of a schedule throws SCHEDULE_RUNNING with the ID and the status of the last job',
  () => [409, LAST_RUNS],
  ({ schedules }) =>
    assert.rejects(schedules.run('nightly'), { code: 'SCHEDULE_RUNNING', jobStatus: 'running', jobId: 'j0' }),
);

withClient(
  'put of a schedule refuses a payload that JSON would change',
  () => [200, {}],
  async ({ schedules }, { calls }) => {
    const job = { name: 'report', payload: { kinds: new Set(['daily']) } };
    await assert.rejects(
      schedules.put('nightly', { ...NIGHTLY, job }),
      /schedule\.job\.payload\.kinds is of the class Set/,
    );
    assert.equal(calls.length, 0);
  },
);
