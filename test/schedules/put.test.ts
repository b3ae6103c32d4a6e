import { describe, expect, it } from '@jest/globals';
import { withService } from '../support/service.js';
import { EVERY_MINUTE, iso, schedulesOf } from './schedules.js';

const service = withService();
const limited = withService({ SCHEDULES_PER_SPACE: '3' });
const roomy = withService({ SCHEDULES_PER_SPACE: '2000' });
const of = (name: string) => schedulesOf(service, `schedules-put-${name}`);

const JOB = { name: 'report', payload: { kind: 'daily' }, maxRetries: 5 };
const NIGHTLY = { cron: '0 3 * * *', timezone: 'Europe/Berlin', job: JOB };

it('creates a schedule, changes it, and changes nothing when the same body is repeated', async () => {
  const { call } = of('one');
  const created = await call('PUT', '/nightly', NIGHTLY);
  expect(created.status).toBe(201);
  const { nextAt, createdAt, ...rest } = created.body;
  expect(rest).toEqual({
    ...{ id: 'nightly', spaceId: 'schedules-put-one', ...NIGHTLY, overlap: 'skip', missed: 'once' },
    ...{ missedWithinSeconds: 86_400, spreadSeconds: 0, paused: false },
    ...{ lastAt: null, lastJobId: null, fired: 0, skipped: 0, lastSkipped: null },
  });
  expect(new Date(nextAt).toLocaleTimeString('de', { timeZone: 'Europe/Berlin' })).toBe('03:00:00');
  const repeated = await call('PUT', '/nightly', { ...NIGHTLY, everySeconds: null, spreadSeconds: 0, startsAt: null });
  expect(repeated).toMatchObject({ status: 200, body: created.body });
  const changed = await call('PUT', '/nightly', { ...NIGHTLY, job: { name: 'other' }, overlap: 'allow' });
  expect(changed).toMatchObject({
    status: 200,
    body: { ...created.body, job: { name: 'other' }, overlap: 'allow', createdAt, nextAt },
  });
  expect((await call('GET', '/nightly')).body).toMatchObject(changed.body);
});

it('shows the next five times of a schedule, and none while it is paused', async () => {
  const { put, get, call } = of('upcoming');
  const startsAt = '2200-01-01T00:00:30.500Z';
  await put('every', { everySeconds: 10.25, startsAt });
  const first = Date.parse(startsAt);
  expect((await get('every')).upcoming).toEqual([0, 1, 2, 3, 4].map((n) => iso(first + n * 10_250)));
  await put('ending', { everySeconds: 60, startsAt, endsAt: '2200-01-01T00:01:30.500Z' });
  expect((await get('ending')).upcoming).toEqual([startsAt, '2200-01-01T00:01:30.500Z']);
  const over = { nextAt: null, paused: false, upcoming: [] };
  await put('over', { cron: EVERY_MINUTE, endsAt: '2020-01-01T00:00:00Z' });
  expect(await get('over')).toMatchObject(over);
  await call('PATCH', '/every', { paused: true });
  expect(await get('every')).toMatchObject({ ...over, paused: true });
});

it('stays paused when a body without `paused` is put', async () => {
  const { put, call } = of('paused');
  expect(await put('a', { everySeconds: 60, paused: true })).toMatchObject({ paused: true, nextAt: null });
  expect(await put('a', { everySeconds: 90 })).toMatchObject({ paused: true, nextAt: null, everySeconds: 90 });
  const resumed = await call('PATCH', '/a', { paused: false });
  expect(resumed.body).toMatchObject({ paused: false, nextAt: expect.any(String) });
  expect(Date.parse(resumed.body.nextAt)).toBeGreaterThan(Date.now());
  expect(await put('a', { everySeconds: 90, paused: true })).toMatchObject({ paused: true });
});

it('counts an interval from the creation of the schedule, whatever changes later', async () => {
  const { put } = of('interval');
  const { createdAt, nextAt } = await put('a', { everySeconds: 3_600 });
  expect(Date.parse(nextAt as string) - Date.parse(createdAt)).toBe(3_600_000);
  const changed = await put('a', { everySeconds: 7_200 });
  expect(Date.parse(changed.nextAt as string) - Date.parse(createdAt)).toBe(7_200_000);
});

it('pages through schedules in the order of their creation', async () => {
  const { put, call } = of('pages');
  const ids = ['b', 'a', 'd', 'c', 'e'];
  for (const id of ids) await put(id, NIGHTLY);
  await put('a', { ...NIGHTLY, overlap: 'allow' });
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await call('GET', `?limit=2${cursor && `&cursor=${cursor}`}`);
    expect(body.schedules.length).toBeLessThanOrEqual(2);
    found.push(...body.schedules.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }
  expect(found).toEqual(ids);
});

it.each([
  ['GET', '/none', undefined],
  ['PATCH', '/none', { paused: true }],
  ['DELETE', '/none', undefined],
  ['POST', '/none/run', {}],
])('responds to %s %s of an unknown schedule with 404', async (method, path, body) => {
  const { call, put } = of('unknown');
  await put('another', NIGHTLY);
  const { status, body: error } = await call(method, path, body);
  expect({ status, error }).toEqual({
    status: 404,
    error: { error: 'Schedule not found', code: 'SCHEDULE_NOT_FOUND' },
  });
});

it('deletes a schedule, but not its jobs', async () => {
  const { call, put, jobs } = of('delete');
  await put('a', NIGHTLY);
  await call('POST', '/a/run');
  expect((await call('DELETE', '/a')).body).toEqual({ success: true });
  expect((await call('GET', '/a')).status).toBe(404);
  expect(await jobs('a')).toHaveLength(1);
});

describe('an owner', () => {
  const declare = (name: string, body: object) => of(name).call('PUT', '', body);

  it('creates, changes and prunes its schedules, and no others', async () => {
    const { put, call } = of('sync');
    await put('foreign', { ...NIGHTLY, owner: 'another' });
    await put('free', NIGHTLY);
    const both = [
      { id: 'a', ...NIGHTLY },
      { id: 'b', everySeconds: 60, job: JOB },
    ];
    const declared = { owner: 'me', schedules: both };
    expect((await declare('sync', declared)).body).toEqual({ created: 2, changed: 0, unchanged: 0, deleted: 0 });
    expect((await declare('sync', declared)).body).toEqual({ created: 0, changed: 0, unchanged: 2, deleted: 0 });
    const less = { owner: 'me', schedules: [{ id: 'b', everySeconds: 90, job: JOB }], prune: true };
    expect((await declare('sync', less)).body).toEqual({ created: 0, changed: 1, unchanged: 0, deleted: 1 });
    const { schedules } = (await call('GET')).body;
    expect(schedules.map(({ id, owner }: { id: string; owner?: string }) => [id, owner])).toEqual([
      ['foreign', 'another'],
      ['free', undefined],
      ['b', 'me'],
    ]);
    const taken = await declare('sync', { owner: 'me', schedules: [{ id: 'free', ...NIGHTLY }] });
    expect(taken.body).toMatchObject({ changed: 1 });
    expect((await call('GET', '/free')).body).toMatchObject({ owner: 'me' });
  });

  it('refuses to let others change a schedule, and stores nothing of a refused call', async () => {
    const { put, call } = of('owned');
    await put('a', { ...NIGHTLY, owner: 'me' });
    const refused = {
      status: 409,
      body: { error: 'me has declared schedule a', code: 'SCHEDULE_OWNED' },
    };
    for (const owner of ['you', null]) expect(await call('PUT', '/a', { ...NIGHTLY, owner })).toMatchObject(refused);
    const schedules = ['b', 'a'].map((id) => ({ id, ...NIGHTLY }));
    expect(await declare('owned', { owner: 'you', schedules })).toMatchObject(refused);
    expect((await call('GET', '/b')).status).toBe(404);
    expect((await call('PATCH', '/a', { paused: true })).status).toBe(200);
  });

  it('prunes 1,200 schedules in one call', async () => {
    const { call } = schedulesOf(roomy, 'roomy');
    for (let n = 0; n < 6; n++) {
      const schedules = Array.from({ length: 200 }, (_, i) => ({ id: `${n}-${i}`, ...NIGHTLY }));
      expect((await call('PUT', '', { owner: 'me', schedules })).body).toMatchObject({ created: 200 });
    }
    const pruned = await call('PUT', '', { owner: 'me', schedules: [], prune: true });
    expect(pruned.body).toEqual({ created: 0, changed: 0, unchanged: 0, deleted: 1_200 });
    expect((await call('GET')).body.schedules).toEqual([]);
  });

  it('prunes before the limit of schedules is checked', async () => {
    const { call } = schedulesOf(limited, 'limited');
    const declared = (...ids: string[]) => ({
      ...{ owner: 'me', prune: true },
      schedules: ids.map((id) => ({ id, ...NIGHTLY })),
    });
    const full = { error: 'Space has reached its limit of schedules; nothing was stored', code: 'TOO_MANY_SCHEDULES' };
    expect((await call('PUT', '', declared('a', 'b', 'c'))).status).toBe(200);
    expect(await call('PUT', '', declared('a', 'b', 'c', 'd'))).toMatchObject({ status: 429, body: full });
    expect((await call('PUT', '', declared('b', 'c', 'd'))).body).toMatchObject({ created: 1, deleted: 1 });
    expect(await call('PUT', '/e', NIGHTLY)).toMatchObject({ status: 429, body: full });
    expect((await call('PUT', '/d', { ...NIGHTLY, owner: 'me', overlap: 'allow' })).status).toBe(200);
  });
});

it('keeps concurrent changes of one schedule whole', async () => {
  const { call, get } = of('concurrent');
  const bodies = Array.from({ length: 8 }, (_, n) => ({ everySeconds: 60 + n, job: { name: `n${n}` } }));
  const responses = await Promise.all(bodies.map((body) => call('PUT', '/a', body)));
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  const { everySeconds, job } = await get('a');
  expect(job.name).toBe(`n${(everySeconds as number) - 60}`);
});
