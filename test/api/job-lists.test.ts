import { expect, it } from '@jest/globals';
import { withService } from '../support/service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole values
type Any = any;

const CALLBACK = { callbackUrl: 'https://example.com/hook', callbackHeaders: { a: 'b' } };

/** Bodies with each option of Create Job, of which none needs another. */
const BODIES: Record<string, object> = {
  'only a name': {},
  'a payload': { payload: { n: 1, of: { a: ['ä', null] } } },
  'a callback': { ...CALLBACK, callbackOn: ['killed'] },
  'other numbers': { maxRetries: 7, timeoutSeconds: 2.5, maxRunSeconds: 9 },
  'a retry policy': { retry: { delaySeconds: [1, 2], maxDelaySeconds: 60 } },
  'a delay': { delaySeconds: 3_600 },
  'a time in the past': { scheduledFor: '2020-01-01T00:00:00Z' },
  'a priority': { priority: 60 },
  'a time to start': { startWithinSeconds: 100 },
  'a unique key': { unique: { key: 'k', until: 'started' } },
};

// Create Job with a list of jobs.

const service = withService();
const openStream = withStreams(service);
let spaces = 0;
const newSpace = () => `batch-${++spaces}`;
const create = (space: string, body: unknown, key?: string) =>
  service.call('POST', `/spaces/${space}/jobs`, {
    body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
const jobOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const claim = async (space: string, count: number): Promise<Any[]> =>
  (await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count } })).body.jobs;
const idsOf = (jobs: Any[]): string[] => jobs.map(({ id }) => id);

it('creates the jobs of a list in order', async () => {
  const space = newSpace();
  const names = ['b', 'a', 'b', 'c'];
  const { status, headers, body } = await create(
    space,
    names.map((name, n) => ({ name, payload: { n } })),
  );
  expect([status, headers['idempotent-replayed'], headers['x-ignored-fields']]).toEqual([201, undefined, undefined]);
  expect(body).toEqual(
    names.map((name) => ({
      id: expect.stringMatching(/^[0-3][0-9a-f][a-z2-7]{26}$/),
      spaceId: space,
      name,
      status: 'pending',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })),
  );
  expect(new Set(idsOf(body)).size).toBe(4);
  const { body: stats } = await service.call('GET', `/spaces/${space}/stats`);
  expect([stats.jobs.pending, stats.names.map(({ name, total }: Any) => [name, total])]).toEqual([
    4,
    expect.arrayContaining([
      ['a', 1],
      ['b', 2],
      ['c', 1],
    ]),
  ]);
  const byName = await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 9, types: ['b'] } });
  expect(idsOf(byName.body.jobs)).toEqual([body[0].id, body[2].id]);
  const others = await claim(space, 9);
  expect(others.map(({ id, payload, createdAt }) => ({ id, payload, createdAt }))).toEqual(
    [1, 3].map((n) => ({ id: body[n].id, payload: { n }, createdAt: body[n].createdAt })),
  );
});

it('puts a list behind existing jobs, and before later ones', async () => {
  const space = newSpace();
  const first = await create(space, { name: 'work' });
  const { body: many } = await create(space, [{ name: 'work' }, { name: 'work' }]);
  const last = await create(space, { name: 'work' });
  const { body: more } = await create(space, [{ name: 'work', priority: 0 }]);
  expect(idsOf(await claim(space, 9))).toEqual([first.body.id, ...idsOf(many), last.body.id, ...idsOf(more)]);
});

// Next to a job without options, and next to one with options; without an idempotency key, and with one.
const lists = [{}, { priority: 1 }].flatMap((beside) => [undefined, 'key'].map((key) => ({ beside, key })));

it.each(Object.entries(BODIES))('creates a job with %s as a single create does', async (_, fields) => {
  for (const { beside, key } of lists) {
    const other = { name: 'other', ...beside };
    const many = await create(newSpace(), [other, { name: 'work', ...fields }, other], key);
    const single = await create(newSpace(), { name: 'work', ...fields }, key);
    const listed = many.body[1];
    expect(listed).toEqual(inSpace(listed, pick(single.body, ['id', 'spaceId', 'name', 'status', 'createdAt'])));
    const ofSingle = inSpace(listed, await jobOf(single.body.id));
    expect(await jobOf(listed.id)).toEqual(ofSingle);
    expect(await recordOf(listed.id)).toEqual(await recordOf(single.body.id));
  }
});

/** Return the record of a job without what differs between two jobs of one request. */
const recordOf = async (id: string) => {
  const record = await service.redis.hgetall(service.store.keys.job(id));
  const { state = '', ...fields } = record;
  const shown = Object.entries(fields).map(([field, value]) => [field, VARYING.has(field) ? '' : value]);
  return { ...Object.fromEntries(shown), state: state.replace(/ \d+/, '').replace(/ batch-\d+ /, ' ') }; // Without its order and space.
};

it('orders a list by priority, and keeps scheduled jobs out of the queue', async () => {
  const space = newSpace();
  const { body } = await create(space, [
    { name: 'low', priority: -60 },
    { name: 'usual' },
    { name: 'later', delaySeconds: 3_600 },
    { name: 'high', priority: 60 },
    { name: 'usual' },
  ]);
  expect(body.map(({ status }: Any) => status)).toEqual(['pending', 'pending', 'scheduled', 'pending', 'pending']);
  expect(idsOf(await claim(space, 9))).toEqual([3, 1, 4, 0].map((n) => body[n].id));
});

it('sends a created message for each job of a list to the stream of the space', async () => {
  const space = newSpace();
  const { key } = await service.key(['jobs:read']);
  const stream = await openStream(`/spaces/${space}?token=${key}`);
  const plain = await create(space, [{ name: 'a' }, { name: 'b' }]);
  const full = await create(space, [{ name: 'c', delaySeconds: 60 }, { name: 'd' }]);
  const jobs = [...plain.body, ...full.body];
  await until(() => stream.messages.length > jobs.length);
  expect(stream.messages.slice(1)).toEqual(
    jobs.map(({ id, name, status, createdAt }) => ({
      type: 'created',
      jobId: id,
      jobName: name,
      spaceId: space,
      status,
      data: null,
      timestamp: createdAt,
    })),
  );
});

it('returns the job that occupies a unique key, even one of the same list', async () => {
  const space = newSpace();
  const unique = { key: 'k' };
  const { body: holder } = await create(space, { name: 'work', unique });
  const { status, body } = await create(space, [
    { name: 'work', unique, payload: { n: 1 } },
    { name: 'work', unique: { key: 'new' } },
    { name: 'work', unique: { key: 'new' } },
    { name: 'other', unique },
  ]);
  expect(status).toBe(201);
  const { id, spaceId, name, createdAt } = holder;
  expect(body[0]).toEqual({ id, spaceId, name, status: 'pending', createdAt });
  expect(body[2]).toEqual(body[1]);
  expect(new Set(idsOf(body)).size).toBe(3);
  expect((await jobOf(holder.id)).payload).toBeNull();
  expect((await service.call('GET', `/spaces/${space}/stats`)).body.jobs.total).toBe(3);
});

it('replaces the job that occupies a unique key, even one of the same list', async () => {
  const space = newSpace();
  const unique = { key: 'k', onConflict: 'replace' };
  const { body: holder } = await create(space, { name: 'work', unique, delaySeconds: 3_600 });
  const again = (n: number, fields = {}) => ({ name: 'work', unique, payload: { n }, ...fields });
  const other = { ...unique, key: 'new' };
  const { body } = await create(space, [
    again(1),
    { name: 'x' },
    again(2),
    { name: 'work', unique: other, delaySeconds: 60, payload: { n: 3 } },
    { name: 'work', unique: other, payload: { n: 4 } },
    { name: 'work', unique: other, payload: { n: 5 }, priority: 60 },
  ]);
  const [replaced, , , added] = body;
  expect(replaced).toMatchObject({ id: holder.id, status: 'pending', createdAt: holder.createdAt });
  expect(idsOf(body)).toEqual([holder.id, body[1].id, holder.id, added.id, added.id, added.id]);
  const typesOf = async (id: string) => (await jobOf(id)).events.map(({ type }: Any) => type);
  expect(await typesOf(holder.id)).toEqual(['created', 'replaced', 'replaced']);
  expect(await typesOf(added.id)).toEqual(['created', 'replaced', 'replaced']);
  const claimed = await claim(space, 9);
  expect(claimed.map(({ id, payload }) => [id, payload?.n])).toEqual([
    [added.id, 5],
    [holder.id, 2],
    [body[1].id, undefined],
  ]);
});

it('replaces a scheduled job of the same list by a pending one', async () => {
  const space = newSpace();
  const unique = { key: 'k', onConflict: 'replace' };
  const { body } = await create(space, [
    { name: 'work', unique, delaySeconds: 0.5 },
    { name: 'work', unique },
  ]);
  expect(body[1]).toEqual({ ...body[0], status: 'pending' });
  const due = service.store.keys.due(body[0].id.slice(0, 2));
  expect(await service.redis.zscore(due, body[0].id)).toBeNull();
  expect(idsOf(await claim(space, 9))).toEqual([body[0].id]);
});

it('creates a thousand jobs with one call', async () => {
  const space = newSpace();
  const all = Array.from({ length: 1_000 }, (_, n) => ({ name: 'work', payload: { n } }));
  const { status, body } = await create(space, all, 'thousand');
  expect([status, body.length, new Set(idsOf(body)).size]).toEqual([201, 1_000, 1_000]);
  const seen: number[] = [];
  while (seen.length < 1_000) {
    const jobs = await claim(space, 50);
    if (jobs.length === 0) break;
    seen.push(...jobs.map(({ payload }) => payload.n));
  }
  expect(seen).toEqual(all.map(({ payload }) => payload.n));
});

it('returns the current state of the jobs of an earlier call with the same idempotency key', async () => {
  const space = newSpace();
  const list = [{ name: 'a', payload: { n: 1 } }, { name: 'b' }, { name: 'a' }];
  const first = await create(space, list, 'again');
  await service.call('POST', `/jobs/${first.body[1].id}/kill`);
  const again = await create(space, list, 'again');
  expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
  expect(again.body).toEqual(first.body.map((job: Any, n: number) => (n === 1 ? { ...job, status: 'killed' } : job)));
  // The first job of a list is that of a single create with this key.
  const single = await create(space, list[0], 'again');
  expect([single.headers['idempotent-replayed'], single.body.id]).toEqual(['true', first.body[0].id]);
});

it.each([
  ['without options', {}],
  ['with options', { priority: 1 }],
])('completes a list %s of which only a part was stored', async (_, fields) => {
  const space = newSpace();
  const list = Array.from({ length: 5 }, (_, n) => ({ name: `n${n}`, ...fields }));
  const part = await create(space, list.slice(0, 2), 'part');
  const whole = await create(space, list, 'part');
  expect([whole.status, whole.headers['idempotent-replayed']]).toEqual([201, undefined]);
  expect(whole.body.slice(0, 2)).toEqual(part.body);
  expect((await service.call('GET', `/spaces/${space}/stats`)).body.jobs.total).toBe(5);
  expect((await create(space, list, 'part')).body).toEqual(whole.body);
});

it.each([
  ['without options', {}],
  ['with options', { delaySeconds: 60 }],
])('stops at the job whose idempotency key was already used with a different body, in a list %s', async (_, fields) => {
  const space = newSpace();
  const list = Array.from({ length: 150 }, (_, n) => ({ name: 'work', payload: { n }, ...fields }));
  const first = await create(space, list.slice(0, 121), 'mixed');
  list[120] = { name: 'work', payload: { n: -1 }, ...fields };
  const { status, body } = await create(space, list, 'mixed');
  const error = 'Idempotency-Key was already used with a different body';
  expect([status, body]).toEqual([422, { error, code: 'IDEMPOTENCY_MISMATCH', stored: 120 }]);
  list[0] = { name: 'other', payload: { n: 0 }, ...fields };
  expect((await create(space, list, 'mixed')).body).toEqual({ error, code: 'IDEMPOTENCY_MISMATCH' });
  expect((await service.call('GET', `/spaces/${space}/stats`)).body.jobs.total).toBe(first.body.length);
});

/** Fields of a record whose values differ between two jobs of one request. */
const VARYING = new Set(['scheduledFor', 'startBy', 'fingerprint']);

const pick = (from: Any, names: string[]) => Object.fromEntries(names.map((name) => [name, from[name]]));

/** Return a job as it must be with the id, the space and the time of another. */
function inSpace({ id, spaceId, createdAt }: Any, job: Any): Any {
  const times = { createdAt, ...('updatedAt' in job && { updatedAt: createdAt }) };
  const events = job.events?.map((event: Any) => ({ ...event, id: `${id}.1`, jobId: id, spaceId, createdAt }));
  return {
    ...job,
    ...times,
    ...('scheduledFor' in job && { scheduledFor: expect.any(String) }),
    ...(events && { events }),
    id,
    spaceId,
  };
}
