import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// Operations on many jobs of a space. Schedulers carry them out.

const service = withService();

const start = (spaceId: string, body: unknown, options = {}) =>
  service.call('POST', `/spaces/${spaceId}/operations`, { body, ...options });
const read = async (id: string) => (await service.call('GET', `/operations/${id}`)).body;
const statusOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body.status;
const jobs = (count: number, create: (i: number) => Promise<string>) =>
  Promise.all(Array.from({ length: count }, (_, i) => create(i)));
const countsOf = async (spaceId: string) => (await service.call('GET', `/spaces/${spaceId}/stats`)).body.jobs;

/** Start an operation, wait until it has ended, and return it. */
async function run(spaceId: string, body: unknown) {
  const response = await start(spaceId, body);
  expect(response).toMatchObject({ status: 202 });
  await until(async () => (await read(response.body.id)).status !== 'running');
  return read(response.body.id);
}

/** Create jobs of a space with one call, and return their ids. */
async function createMany(spaceId: string, bodies: unknown[]): Promise<string[]> {
  const { body } = await service.call('POST', `/spaces/${spaceId}/jobs`, { body: bodies });
  return body.map(({ id }: { id: string }) => id);
}

it('an operation requeues and counts all dead jobs of a space', async () => {
  const dead = await jobs(60, () => jobIn(service, 'dead', 'op-requeue'));
  const killed = await jobIn(service, 'killed', 'op-requeue');

  const { status, headers, body } = await start('op-requeue', { action: 'requeue', filter: { status: 'dead' } });

  expect(status).toBe(202);
  expect(headers['idempotent-replayed']).toBeUndefined();
  expect(body).toEqual({
    id: expect.stringMatching(new RegExp(`^${dead[0]?.slice(0, 2)}[a-z2-7]{26}$`)),
    spaceId: 'op-requeue',
    action: 'requeue',
    filter: { status: ['dead'] },
    status: 'running',
    ...{ looked: 0, changed: 0, skipped: 0, left: 60 },
    startedAt: expect.any(String),
    finishedAt: null,
  });
  await until(async () => (await read(body.id)).status === 'done');
  const done = await read(body.id);
  expect(done).toEqual({
    ...body,
    status: 'done',
    ...{ looked: 60, changed: 60, skipped: 0, left: 0 },
    finishedAt: expect.any(String),
  });
  expect(await countsOf('op-requeue')).toMatchObject({ pending: 60, dead: 0, killed: 1 });
  expect(await statusOf(killed)).toBe('killed');
  const { events } = (await service.call('GET', `/jobs/${dead[0]}`)).body;
  expect(events.at(-1)).toMatchObject({ type: 'requeued' });
  expect((await service.call('GET', '/spaces/op-requeue/operations')).body).toEqual({ operations: [done] });
});

it('an operation kills pending and running jobs with its reason, each once', async () => {
  const all = await Promise.all(
    (['scheduled', 'pending', 'delivered', 'running'] as const).map((status) => jobIn(service, status, 'op-kill')),
  );
  const done = await run('op-kill', {
    action: 'kill',
    filter: { status: ['running', 'delivered', 'pending', 'scheduled'] },
    reason: 'moved away',
  });
  expect(done).toMatchObject({ reason: 'moved away', looked: 4, changed: 4, skipped: 0, left: 0 });
  for (const id of all) {
    const { status, events } = (await service.call('GET', `/jobs/${id}`)).body;
    expect({ status, last: events.at(-1) }).toMatchObject({
      status: 'killed',
      last: { type: 'killed', data: { reason: 'moved away' } },
    });
  }
});

it('an operation deletes jobs that have ended', async () => {
  const [completed] = await Promise.all(
    (['completed', 'dead', 'killed'] as const).map((status) => jobIn(service, status, 'op-delete')),
  );
  const done = await run('op-delete', { action: 'delete', filter: { status: ['completed', 'dead', 'killed'] } });
  expect(done).toMatchObject({ changed: 3, left: 0 });
  expect((await service.call('GET', `/jobs/${completed}`)).status).toBe(404);
  expect(await countsOf('op-delete')).toMatchObject({ total: 0 });
});

it.each([
  ['now', 0, ['scheduled', 'pending'], 'pending'],
  ['later', 3_600, ['pending', 'scheduled'], 'scheduled'],
])('an operation reschedules waiting jobs for %s, each once', async (title, delaySeconds, status, after) => {
  const spaceId = `op-reschedule-${title}`;
  await jobs(3, () => jobIn(service, 'scheduled', spaceId));
  await jobs(3, () => jobIn(service, 'pending', spaceId));
  const done = await run(spaceId, { action: 'reschedule', filter: { status }, delaySeconds });
  expect(done).toMatchObject({ looked: 6, changed: 6, skipped: 0 });
  expect(await countsOf(spaceId)).toMatchObject({ [after]: 6 });
});

it('an operation changes only jobs that match its names, times and text', async () => {
  const spaceId = 'op-filter';
  const old = await createMany(spaceId, [{ name: 'a', payload: { city: 'KÖLN' } }, { name: 'a' }]);
  const { createdAt } = (await service.call('GET', `/jobs/${old[1]}`)).body;
  await until(() => Date.now() > Date.parse(createdAt) + 1);
  const later = await createMany(spaceId, [
    ...[
      { name: 'a', payload: { city: 'KÖLN' } },
      { name: 'b', payload: { city: 'köln' } },
    ],
    ...[{ name: 'a' }, { name: 'c', payload: { city: 'köln' } }, { name: 'b' }],
  ]);
  const createdAfter = (await service.call('GET', `/jobs/${later[0]}`)).body.createdAt;
  const filter = { status: 'pending', names: ['a', 'b'], createdAfter, q: 'köLn' };
  const done = await run(spaceId, { action: 'kill', filter });
  expect(done).toMatchObject({ filter: { ...filter, status: ['pending'] }, looked: 5, changed: 2 });
  const statuses = await Promise.all([...old, ...later].map(statusOf));
  expect(statuses).toEqual(['pending', 'pending', 'killed', 'killed', 'pending', 'pending', 'pending']);
  const before = await run(spaceId, { action: 'kill', filter: { status: 'pending', createdBefore: createdAfter } });
  expect(before).toMatchObject({ looked: 2, changed: 2 });
});

it('an operation changes only jobs that have all of its tags', async () => {
  const spaceId = 'op-tags';
  await createMany(spaceId, [
    { name: 'a', tags: ['eu', 'x'] },
    { name: 'a', tags: ['eu'] },
    { name: 'a', tags: ['x y', 'eu'] },
  ]);
  const done = await run(spaceId, { action: 'kill', filter: { status: 'pending', tags: ['x', 'eu'] } });
  expect(done).toMatchObject({ looked: 3, changed: 1 });
});

it('an operation finds a text in errors and results, in more jobs than one step reads', async () => {
  const spaceId = 'op-text';
  const big = { text: 'x'.repeat(30_000) };
  const ids = await jobs(30, () => jobIn(service, 'completed', spaceId, { payload: big }));
  await jobIn(service, 'dead', spaceId);
  const done = await run(spaceId, {
    action: 'delete',
    filter: { status: ['completed', 'dead'], q: '"answer":42' },
  });
  expect(done).toMatchObject({ looked: 31, changed: ids.length, left: 0 });
  const rest = await run(spaceId, { action: 'requeue', filter: { status: 'dead', q: 'BROKEN' } });
  expect(rest).toMatchObject({ looked: 1, changed: 1 });
});

it('an operation with a list of jobs changes only these, and counts those in another status as skipped', async () => {
  const spaceId = 'op-ids';
  const dead = await jobs(3, () => jobIn(service, 'dead', spaceId));
  const { id: pending } = await createJob(service, spaceId);
  const { id: elsewhere } = await createJob(service, 'op-ids-other');
  const ids = [dead[0], pending, elsewhere, `${pending.slice(0, 2)}${'a'.repeat(26)}`, dead[2]];
  const done = await run(spaceId, { action: 'delete', filter: { status: 'dead', ids } });
  expect(done).toMatchObject({ looked: 5, changed: 2, skipped: 1, left: 0 });
  expect(await statusOf(dead[1] as string)).toBe('dead');
  expect(await statusOf(elsewhere)).toBe('pending');
});

it('an operation stops at its limit, and reports how many jobs it has not examined', async () => {
  const spaceId = 'op-limit';
  await createMany(spaceId, Array(130).fill({ name: 'a' }));
  const done = await run(spaceId, { action: 'kill', filter: { status: 'pending' }, limit: 120 });
  expect(done).toMatchObject({ limit: 120, looked: 120, changed: 120, left: 10 });
  expect(await countsOf(spaceId)).toMatchObject({ pending: 10, killed: 120 });
});

it('an operation with dryRun only counts jobs', async () => {
  const spaceId = 'op-dry';
  await createMany(spaceId, Array(150).fill({ name: 'a' }));
  const done = await run(spaceId, { action: 'kill', filter: { status: 'pending' }, dryRun: true });
  expect(done).toMatchObject({ dryRun: true, looked: 150, changed: 150, skipped: 0 });
  expect(await countsOf(spaceId)).toMatchObject({ pending: 150 });
});

it('an operation skips a job whose unique key another job has taken, even with dryRun', async () => {
  const spaceId = 'op-unique';
  await jobIn(service, 'dead', spaceId, { unique: { key: 'one' } });
  await createJob(service, spaceId, { unique: { key: 'one' } });
  const free = await jobIn(service, 'dead', spaceId, { unique: { key: 'two' } });
  const requeue = { action: 'requeue', filter: { status: 'dead' } };
  const counts = { looked: 2, changed: 1, skipped: 1 };
  expect(await run(spaceId, { ...requeue, dryRun: true })).toMatchObject(counts);
  expect(await statusOf(free)).toBe('dead');
  expect(await run(spaceId, requeue)).toMatchObject(counts);
  expect(await statusOf(free)).toBe('pending');
});

it('an operation leaves jobs unchanged that are created after its start', async () => {
  const spaceId = 'op-later';
  await createMany(spaceId, Array(300).fill({ name: 'a' }));
  const { body } = await start(spaceId, { action: 'kill', filter: { status: 'pending' } });
  const { id } = await createJob(service, spaceId);
  await until(async () => (await read(body.id)).status === 'done');
  expect(await read(body.id)).toMatchObject({ looked: 300, changed: 300 });
  expect(await statusOf(id)).toBe('pending');
});

it('an operation completes immediately in a space without jobs', async () => {
  const done = await run('op-empty', { action: 'kill', filter: { status: 'pending' } });
  expect(done).toMatchObject({ looked: 0, changed: 0, left: 0 });
});

it('a canceled operation stops, and keeps its changes', async () => {
  const spaceId = 'op-cancel';
  const bodies = Array(1_000).fill({ name: 'a' });
  for (let i = 0; i < 5; i++) await createMany(spaceId, bodies);
  const { body } = await start(spaceId, { action: 'kill', filter: { status: 'pending' } });
  expect((await service.call('DELETE', `/operations/${body.id}`)).body).toEqual({ success: true });
  const cancelled = await read(body.id);
  expect(cancelled).toMatchObject({ status: 'cancelled', finishedAt: expect.any(String) });
  expect(cancelled.changed + cancelled.left).toBe(5_000);
  expect((await service.call('DELETE', `/operations/${body.id}`)).body).toEqual({ success: true });
  await run(spaceId, { action: 'kill', filter: { status: 'pending' }, limit: 1 }); // After which the first one would have gone on.
  expect(await read(body.id)).toEqual(cancelled);
  expect(await countsOf(spaceId)).toMatchObject({ killed: cancelled.changed + 1 });
});

it('an operation reports each change to streams and callbacks like a single call', async () => {
  const { id } = await createJob(service, 'op-callback', {
    callbackUrl: 'http://127.0.0.1:9/none',
    callbackOn: ['killed'],
  });
  await run('op-callback', { action: 'kill', filter: { status: 'pending' } });
  await until(async () => {
    const { events } = (await service.call('GET', `/jobs/${id}`)).body;
    return events.some(({ type }: { type: string }) => type.startsWith('callback'));
  });
});

it.each([
  [{ filter: { status: 'dead', nmaes: ['a'] } }, 'unknown field filter.nmaes, did you mean names?'],
  [{ filter: { status: 'dead' }, dryrun: true }, 'unknown field dryrun, did you mean dryRun?'],
])('refuses an operation with a misspelled field, and starts nothing: %j', async (fields, error) => {
  const { status, body } = await start('op-refused', { action: 'requeue', ...fields });
  expect({ status, body }).toEqual({ status: 400, body: { code: 'INVALID_REQUEST', error } });
  expect((await service.call('GET', '/spaces/op-refused/operations')).body).toEqual({ operations: [] });
});

it('refuses a kill operation without jobs:kill, or outside the space of the key', async () => {
  const { key } = await service.key(['jobs:manage'], { spaceId: 'op-scope' });
  const kill = { action: 'kill', filter: { status: 'pending' } };
  const refused = await start('op-scope', kill, { key });
  expect(refused).toMatchObject({ status: 403, body: { error: 'Missing required scope: jobs:kill' } });
  const { status, body } = await start('op-scope', { action: 'requeue', filter: { status: 'dead' } }, { key });
  expect(status).toBe(202);
  const other = await service.key(['jobs:manage'], { spaceId: 'op-scope-other' });
  for (const method of ['GET', 'DELETE']) {
    const call = await service.call(method, `/operations/${body.id}`, { key: other.key });
    expect(call).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  }
});

it.each(['nope', '00aaaaaaaaaaaaaaaaaaaaaaaaaa'])('responds with 404 to the unknown operation %s', async (id) => {
  for (const method of ['GET', 'DELETE']) {
    const call = await service.call(method, `/operations/${id}`);
    expect(call).toMatchObject({ status: 404, body: { code: 'OPERATION_NOT_FOUND' } });
  }
});

it('starts one operation per idempotency key, and refuses the key with another body', async () => {
  await jobIn(service, 'dead', 'op-keyed');
  const headers = { 'idempotency-key': 'a' };
  const body = { action: 'requeue', filter: { status: 'dead' } };
  const first = await start('op-keyed', body, { headers });
  await until(async () => (await read(first.body.id)).status === 'done');
  const again = await start('op-keyed', body, { headers });
  expect(again).toMatchObject({ status: 202, headers: { 'idempotent-replayed': 'true' } });
  expect(again.body).toEqual(await read(first.body.id));
  const other = await start('op-keyed', { ...body, limit: 1 }, { headers });
  expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_MISMATCH' } });
  const { operations } = (await service.call('GET', '/spaces/op-keyed/operations')).body;
  expect(operations).toHaveLength(1);
});

it('refuses to start an operation while ten operations of the space are running', async () => {
  const spaceId = 'op-many';
  const bodies = Array(1_000).fill({ name: 'a' });
  for (let i = 0; i < 2; i++) await createMany(spaceId, bodies);
  const body = { action: 'kill', filter: { status: 'pending', names: ['none'] } };
  const responses = await Promise.all(Array.from({ length: 11 }, () => start(spaceId, body)));
  const refused = responses.filter(({ status }) => status !== 202);
  expect(refused).toMatchObject([{ status: 429, body: { code: 'TOO_MANY_OPERATIONS' } }]);
  const started = responses.filter(({ status }) => status === 202).map(({ body: { id } }) => id);
  for (const id of started) await until(async () => (await read(id)).status === 'done');
  expect(await read(started[0])).toMatchObject({ looked: 2_000, changed: 0 });
  expect(await start(spaceId, body)).toMatchObject({ status: 202 });
});
