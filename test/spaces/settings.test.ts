import { beforeEach, describe, expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { withApiProcess } from '../logs/api-process.js';
import { tokenOf } from '../support/job-state.js';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

// Two processes in front of the same jobs: only the first is told of a change by its own call.
const service = withService();
const other = withApiProcess(service);
const open = withStreams(service);

let space: string;
let spaces = 0;
beforeEach(() => {
  space = `settings-${++spaces}`;
});

const change = (body: unknown, of = space) => service.call('PATCH', `/spaces/${of}/settings`, { body });
const read = async () => (await service.call('GET', `/spaces/${space}/settings`)).body;
const create = (body: object, headers = {}) =>
  service.call('POST', `/spaces/${space}/jobs`, { body: { name: 'work', ...body }, headers });
const FULL = { status: 429, body: { code: 'SPACE_FULL' } };

it('settings of a space are merged on change, reset by null, and shown only if set', async () => {
  expect(await read()).toEqual({});
  const retry = { delaySeconds: [1, 2], jitter: 0.2 };
  expect(await change({ retention: { deadSeconds: 60 }, maxPending: 5, defaults: { retry } })).toMatchObject({
    status: 200,
    body: { retention: { deadSeconds: 60 }, maxPending: 5, defaults: { retry: { delaySeconds: [1, 2] } } },
  });
  await change({ retention: { completedSeconds: 0.5 }, defaults: { maxRetries: 0 }, requireDeliveryToken: true });
  const all = {
    retention: { completedSeconds: 0.5, deadSeconds: 60 },
    maxPending: 5,
    defaults: { maxRetries: 0, retry: { delaySeconds: [1, 2] } },
    requireDeliveryToken: true,
  };
  expect(await read()).toEqual(all);
  expect((await change({ maxPending: null, retention: { deadSeconds: null }, defaults: null })).body).toEqual({
    retention: { completedSeconds: 0.5 },
    requireDeliveryToken: true,
  });
  await change({ retention: { completedSeconds: null }, requireDeliveryToken: null });
  expect(await read()).toEqual({});
  expect((await service.call('PATCH', `/spaces/${space}/settings`)).body).toEqual({});
});

it('concurrent changes to the settings of a space are all kept', async () => {
  const changes = [{ maxPending: 3 }, { anonymousStreams: false }, { retention: { deadSeconds: 7 } }];
  const all = await Promise.all([...changes, { defaults: { maxRetries: 9 } }].map((one) => change(one)));
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await read()).toEqual({
    maxPending: 3,
    anonymousStreams: false,
    retention: { deadSeconds: 7 },
    defaults: { maxRetries: 9 },
  });
});

it.each([
  [{ maxPendin: 5 }, 'unknown field maxPendin, did you mean maxPending?'],
  [{ retention: { deadSecond: 5 } }, 'unknown field retention.deadSecond, did you mean deadSeconds?'],
  [{ defaults: { retry: { delaySeconds: 1, facto: 2 } } }, 'unknown field defaults.retry.facto, did you mean factor?'],
  [{ maxPending: -1 }, 'maxPending must be an integer between 0 and 1000000000'],
  [{ maxPending: '5' }, 'maxPending must be an integer between 0 and 1000000000'],
  [{ retention: 5 }, 'retention must be an object'],
  [{ retention: { killedSeconds: -1 } }, 'retention.killedSeconds must be a number between 0 and 3162240000'],
  [{ defaults: { maxRetries: 101 } }, 'defaults.maxRetries must be an integer between 0 and 100'],
  [{ defaults: { timeoutSeconds: 0 } }, 'defaults.timeoutSeconds must be a number above 0 and at most 86400'],
  [{ defaults: { retry: {} } }, 'defaults.retry.delaySeconds is required'],
  [{ anonymousStreams: 'no' }, 'anonymousStreams must be a boolean'],
  [{ requireDeliveryToken: 1 }, 'requireDeliveryToken must be a boolean'],
  [[], 'body must be an object'],
])('settings of a space refuse %j and stay unchanged', async (body, error) => {
  expect(await change(body)).toMatchObject({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
  expect(await read()).toEqual({});
});

it('settings of a space are kept while it has no jobs', async () => {
  await change({ maxPending: 5 });
  const id = await jobIn(service, 'killed', space);
  expect((await service.call('DELETE', `/jobs/${id}`)).status).toBe(200);
  expect(await read()).toEqual({ maxPending: 5 });
});

describe.each(['maxPending', 'maxBytes'])('%s', (name) => {
  const FORBIDDEN = {
    status: 403,
    body: {
      code: 'FORBIDDEN',
      error: `${name} was set with a key that isn't bound to a space; this key may only lower it`,
    },
  };
  const ofTenant = async () => {
    const { key } = await service.key(['spaces:manage'], { spaceId: space });
    return (value: number | null) =>
      service.call('PATCH', `/spaces/${space}/settings`, { body: { [name]: value }, key });
  };

  it(`${name} that a key without a space has set can only be lowered with a key bound to the space`, async () => {
    const set = await ofTenant();
    await change({ [name]: 100 });
    for (const value of [101, null]) expect(await set(value)).toMatchObject(FORBIDDEN);
    expect(await set(100)).toMatchObject({ status: 200, body: { [name]: 100 } });
    expect(await set(50)).toMatchObject({ status: 200, body: { [name]: 50 } });
    expect(await set(60)).toMatchObject(FORBIDDEN);
    expect(await read()).toEqual({ [name]: 50 });
    expect((await change({ anonymousStreams: true, [name]: 70 })).status).toBe(200);
    expect(await set(80)).toMatchObject(FORBIDDEN);
    await change({ [name]: null });
    expect(await set(80)).toMatchObject({ status: 200, body: { [name]: 80, anonymousStreams: true } });
  });

  it(`${name} that a key bound to the space has set can be raised and reset with it`, async () => {
    const set = await ofTenant();
    for (const value of [5, 7]) expect(await set(value)).toMatchObject({ status: 200, body: { [name]: value } });
    expect(await set(null)).toMatchObject({ status: 200, body: {} });
    expect(await read()).toEqual({});
  });
});

it('changed settings reach another process by a message, or soon without one', async () => {
  const createThere = async () =>
    (await other.call('POST', `/spaces/${space}/jobs`, { body: { name: 'work' } })).status;
  await change({ maxPending: 0 });
  await until(async () => (await createThere()) === 429);
  const key = service.store.keys.settings(partitionOf(space));
  await service.redis.multi().hdel(key, space).hincrby(key, '', 1).exec(); // No message announces it.
  await until(async () => (await createThere()) === 201);
});

it('maxPending refuses creates above the limit until a pending job is claimed', async () => {
  await change({ maxPending: 2 });
  for (const _ of [1, 2]) expect((await create({})).status).toBe(201);
  expect(await create({})).toMatchObject(FULL);
  expect(await create({ delaySeconds: 60 })).toMatchObject(FULL);
  expect(await create({ priority: 5 })).toMatchObject(FULL);
  await service.call('POST', `/spaces/${space}/jobs/poll`, { body: {} });
  expect((await create({})).status).toBe(201);
  expect((await create({})).status).toBe(429);
  await change({ maxPending: null });
  expect((await create({})).status).toBe(201);
});

it('maxPending reports how many jobs of a list are stored, and a repeated call completes the list', async () => {
  await change({ maxPending: 3 });
  const list = Array.from({ length: 5 }, (_, n) => ({ name: `work-${n}` }));
  const headers = { 'idempotency-key': `list-${space}` };
  const send = () => service.call('POST', `/spaces/${space}/jobs`, { body: list, headers });
  expect(await send()).toMatchObject({ status: 429, body: { code: 'SPACE_FULL', stored: 3 } });
  expect(await send()).toMatchObject({ status: 429, body: { code: 'SPACE_FULL', stored: 3 } });
  await change({ maxPending: 5 });
  const { status, body } = await send();
  expect([status, body.length]).toEqual([201, 5]);
  expect((await service.call('GET', `/spaces/${space}/stats`)).body.jobs.pending).toBe(5);
});

it('maxPending still lets a create return the job of an idempotency key or a unique key', async () => {
  await change({ maxPending: 1 });
  const headers = { 'idempotency-key': `again-${space}` };
  const { body } = await create({ unique: { key: 'k' } }, headers);
  expect(await create({ unique: { key: 'k' } }, headers)).toMatchObject({ status: 201, body: { id: body.id } });
  expect(await create({ unique: { key: 'k' } })).toMatchObject({ status: 200, body: { id: body.id } });
  expect(await create({ unique: { key: 'other' } })).toMatchObject(FULL);
});

it('maxPending refuses copies, but not jobs that return to the queue', async () => {
  const id = await jobIn(service, 'running', space);
  await change({ maxPending: 0 });
  expect(await service.call('POST', `/jobs/${id}/copy`)).toMatchObject(FULL);
  await step(service, id, 'release');
  expect((await service.call('GET', `/jobs/${id}`)).body.status).toBe('pending');
});

describe('defaults', () => {
  const DEFAULTS = { maxRetries: 7, timeoutSeconds: 12.5, retry: { delaySeconds: 4 }, maxRunSeconds: 99 };

  it('the default options of a space fill fields that a create omits, even in a list', async () => {
    await change({ defaults: DEFAULTS });
    const { body } = await create({ retry: null });
    expect(body).toMatchObject(DEFAULTS);
    expect((await service.call('GET', `/jobs/${body.id}`)).body).toMatchObject(DEFAULTS);
    const own = { maxRetries: 3, timeoutSeconds: 300, retry: { delaySeconds: 0 }, maxRunSeconds: 1 };
    expect((await create(own)).body).toMatchObject(own);
    const listed = await service.call('POST', `/spaces/${space}/jobs`, {
      body: [{ name: 'work' }, { name: 'work', maxRetries: 3, priority: 1 }],
    });
    const jobs = await Promise.all(
      listed.body.map(async ({ id }: { id: string }) => (await service.call('GET', `/jobs/${id}`)).body),
    );
    expect(jobs).toMatchObject([DEFAULTS, { ...DEFAULTS, maxRetries: 3 }]);
  });

  it('the default options of a space do not affect idempotency fingerprints, and a replay shows the stored job', async () => {
    const headers = { 'idempotency-key': `defaults-${space}` };
    await change({ defaults: DEFAULTS });
    const first = await create({}, headers);
    expect(first.body).toMatchObject(DEFAULTS);
    await change({ defaults: { ...DEFAULTS, maxRetries: 1, retry: null } });
    const again = await create({}, headers);
    expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([201, 'true', first.body]);
    await change({ defaults: null });
    expect((await create({}, headers)).body).toEqual(first.body);
    expect((await create({ maxRetries: 4 }, headers)).status).toBe(422);
  });
});

describe('requireDeliveryToken', () => {
  const CALLS = [
    ['ack', 'delivered', undefined],
    ['progress', 'running', { percent: 5, message: 'x' }],
    ['checkpoint', 'running', { page: 1 }],
    ['event', 'running', 'seen'],
    ['keepalive', 'running', undefined],
    ['complete', 'running', {}],
    ['fail', 'running', { error: 'x' }],
    ['release', 'running', {}],
  ] as const;

  it.each(CALLS)(
    'requireDeliveryToken refuses %s without a token, and accepts it with one',
    async (verb, status, body) => {
      const id = await jobIn(service, status, space);
      await change({ requireDeliveryToken: true });
      const call = (headers = {}) => service.call('POST', `/jobs/${id}/${verb}`, { body, headers });
      expect(await call()).toMatchObject({
        status: 400,
        body: { error: 'x-delivery-token is required in this space', code: 'INVALID_REQUEST' },
      });
      expect((await service.call('GET', `/jobs/${id}`)).body.status).toBe(status);
      const token = await tokenOf(service.redis, service.store.keys.job(id), '0.0');
      expect((await call({ 'x-delivery-token': token })).status).toBe(200);
    },
  );

  it('requireDeliveryToken refuses outcomes without a token in settle and poll, which then do nothing', async () => {
    const [first, second] = [await jobIn(service, 'running', space), await jobIn(service, 'running', space)];
    await change({ requireDeliveryToken: true });
    const outcomes = [
      { jobId: first, action: 'complete', deliveryToken: '0.0' },
      { jobId: second, action: 'complete' },
    ];
    for (const [verb, list] of [
      ['settle', 'outcomes'],
      ['poll', 'settle'],
    ]) {
      const body = { [list as string]: outcomes };
      expect(await service.call('POST', `/spaces/${space}/jobs/${verb}`, { body })).toMatchObject({
        status: 400,
        body: { error: `${list}[1].deliveryToken is required in this space` },
      });
    }
    expect((await service.call('GET', `/jobs/${first}`)).body.status).toBe('running');
  });

  it('requireDeliveryToken does not affect other spaces of the partition, and reveals nothing to keys for other spaces', async () => {
    let twin = space;
    for (let n = 0; twin === space || partitionOf(twin) !== partitionOf(space); n++) twin = `${space}-twin-${n}`;
    await change({ requireDeliveryToken: true });
    const here = await jobIn(service, 'delivered', space);
    await step(service, await jobIn(service, 'delivered', twin), 'ack');
    const { key } = await service.key(['jobs:worker'], { spaceId: twin });
    expect((await service.call('POST', `/jobs/${here}/ack`, { key })).status).toBe(403);
    expect((await service.call('POST', `/jobs/${here.slice(0, 2)}${'a'.repeat(26)}/ack`)).status).toBe(404);
  });
});

describe('retention', () => {
  const untilEnded = async (id: string) => {
    await until(async () =>
      ['dead', 'killed', 'completed'].includes((await service.call('GET', `/jobs/${id}`)).body.status),
    );
    return (await service.call('GET', `/jobs/${id}`)).body;
  };
  /** How long a job is kept that has ended, milliseconds; null forever. */
  const keptMs = async (id: string) => {
    const { updatedAt } = await untilEnded(id);
    const deadline = await service.redis.zscore(service.store.keys.deadlines(id.slice(0, 2)), id);
    return deadline === null ? null : Number(deadline) - Date.parse(updatedAt);
  };

  it('retention of a space applies by outcome to jobs that end after the change, whatever ends them', async () => {
    const before = await jobIn(service, 'killed', space);
    await change({ retention: { completedSeconds: 1000.5, deadSeconds: 2000, killedSeconds: 3000 } });
    const settled = await jobIn(service, 'running', space);
    const outcomes = [{ jobId: settled, action: 'complete' }];
    await service.call('POST', `/spaces/${space}/jobs/settle`, { body: { outcomes } });
    const notStarted = (await createJob(service, space, { startWithinSeconds: 0.01 })).id;
    const timedOut = await jobIn(service, 'running', space, { maxRetries: 0, timeoutSeconds: 0.01 });
    expect(await keptMs(await jobIn(service, 'completed', space))).toBe(1_000_500);
    expect(await keptMs(settled)).toBe(1_000_500);
    for (const id of [await jobIn(service, 'dead', space), notStarted, timedOut]) {
      expect(await keptMs(id)).toBe(2_000_000);
    }
    expect(await keptMs(await jobIn(service, 'killed', space))).toBe(3_000_000);
    expect(await keptMs(before)).toBe(7 * 86_400_000);
  });

  it('a retention of 0 keeps jobs forever, and outcomes without a retention use that of the service', async () => {
    await change({ retention: { deadSeconds: 0 } });
    const kept = await jobIn(service, 'dead', space);
    expect(await keptMs(kept)).toBeNull();
    expect((await service.call('DELETE', `/jobs/${kept}`)).status).toBe(200);
    const requeued = await jobIn(service, 'dead', space);
    await service.call('POST', `/jobs/${requeued}/requeue`);
    await service.call('POST', `/jobs/${requeued}/kill`);
    expect(await keptMs(requeued)).toBe(7 * 86_400_000);
    expect(await keptMs(await jobIn(service, 'completed', space))).toBe(7 * 86_400_000);
  });
});

it('anonymousStreams: false refuses and closes streams without a token, even if the service allows them', async () => {
  const { id } = await createJob(service, space);
  const [anonymous, elsewhere] = [await open(`/${id}`), await open(`/${(await createJob(service, `${space}-2`)).id}`)];
  const { key } = await service.key(['jobs:read:progress']);
  const withKey = await open(`/${id}?token=${key}`);
  await change({ anonymousStreams: false });
  await expect(open(`/${id}`)).rejects.toThrow('no stream');
  expect(await anonymous.end()).toEqual({ code: 1008, reason: 'this stream is no longer allowed' });
  expect([elsewhere.closed, withKey.closed]).toEqual([null, null]);
  await open(`/${id}?token=${key}`);
  await change({ anonymousStreams: null });
  await open(`/${id}`);
});
