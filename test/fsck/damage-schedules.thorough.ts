import { afterEach, expect, it } from '@jest/globals';
import { fireSchedules, listSchedules, partitionOf, redisNow } from '@yardmaster/store';
import { removeJobs } from '../support/fsck.js';
import { setField } from '../support/job-state.js';
import { step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check, expectRepaired, type Short } from './checking.js';

// No scheduler: schedules run only when a test fires them.
const service = withService({}, { app: 'api', isOwn: true });
afterEach(() => removeJobs(service.redis, service.prefix));

const SPACE = 'planned';
const PARTITION = partitionOf(SPACE);
const keys = () => service.store.keys;
const RECORD = `{${PARTITION}}:schedule:${SPACE}/nightly`;
const LIST = `{${PARTITION}}:space:${SPACE}/schedules`;
const DUE = `{${PARTITION}}:schedules`;
const MEMBER = `${SPACE}/nightly`;

type Fields = Record<string, unknown>;

/** Create a schedule, and return its next time. */
async function put(fields: Fields = {}, id = 'nightly'): Promise<number> {
  const timing = fields.everySeconds === undefined ? { cron: '0 3 * * *' } : {};
  const body = { ...timing, job: { name: 'report' }, ...fields };
  const response = await service.call('PUT', `/spaces/${SPACE}/schedules/${id}`, { body });
  if (response.status > 201) throw new Error(response.text);
  return Date.parse(response.body.nextAt);
}

/** Make the next time due and fire it, after which the record of its job may be damaged. */
async function fire(): Promise<string> {
  await put({ everySeconds: 10 });
  const { redis, store } = service;
  const now = await redisNow(store);
  await redis.hset(keys().schedule(SPACE, 'nightly'), 'nextAt', now - 1);
  await redis.zadd(keys().schedules(PARTITION), now - 1, MEMBER);
  expect(await fireSchedules(store, PARTITION, now)).toMatchObject({ fired: 1 });
  return (await redis.hget(keys().schedule(SPACE, 'nightly'), 'lastJobId')) as string;
}

const fault = (kind: string, key: string): Short => [kind, null, key, 'possible'];
const write = (key: string, score: number | string, member: string) =>
  service.redis.zadd(`${service.prefix}:${key}`, score, member);
const remove = (key: string, member: string) => service.redis.zrem(`${service.prefix}:${key}`, member);

it.each<[title: string, fields: Fields]>([
  ['with a cron expression', {}],
  ['with an interval', { everySeconds: 600, startsAt: '2030-01-01T00:00:00Z' }],
  ['in a time zone', { timezone: 'Europe/Berlin', overlap: 'replace', missed: 'skip', owner: 'billing' }],
  ['with a spread', { spreadSeconds: 3_600, missedWithinSeconds: 0 }],
  ['that is paused', { paused: true }],
  ['that is over', { endsAt: '2020-01-01T00:00:00Z' }],
  ['of a job with options', { job: { name: 'report', payload: { a: [] }, tags: ['a'], retry: { delaySeconds: 5 } } }],
])('fsck finds no fault in a schedule %s', async (_, fields) => {
  await put(fields);
  expect((await check(service.store)).short).toEqual([]);
  expect((await service.call('POST', `/spaces/${SPACE}/schedules/nightly/run`)).status).toBe(201);
  expect((await check(service.store)).short).toEqual([]);
});

it('fsck finds no fault in a job of a schedule that was rescheduled to now', async () => {
  const id = await fire();
  await step(service, id, 'reschedule', { delaySeconds: 0 });
  expect(await service.redis.hget(keys().job(id), 'scheduledFor')).toBeNull();
  expect((await check(service.store)).short).toEqual([]);
});

it('fsck finds no fault in a copy of a job of a schedule', async () => {
  await service.call('POST', `/jobs/${await fire()}/copy`, { body: {} });
  expect((await check(service.store)).short).toEqual([]);
});

it.each<[title: string, harm: (nextAt: number) => unknown, faults: Short[], fields?: Fields]>([
  ['is not listed', () => remove(LIST, 'nightly'), [fault('schedule_unlisted', LIST)]],
  ['is listed too early', () => write(LIST, 1, 'nightly'), [fault('schedule_misplaced', LIST)]],
  ['is listed after all others', () => write(LIST, 'inf', 'nightly'), [fault('schedule_misplaced', LIST)]],
  ['is never due', () => remove(DUE, MEMBER), [fault('schedule_unlisted', DUE)]],
  ['is due too early', (nextAt) => write(DUE, nextAt - 1, MEMBER), [fault('schedule_misplaced', DUE)]],
  ['is due too late', (nextAt) => write(DUE, nextAt + 1, MEMBER), [fault('schedule_misplaced', DUE)]],
  [
    'is due after its spread',
    (nextAt) => write(DUE, nextAt + 60_001, MEMBER),
    [fault('schedule_misplaced', DUE)],
    { spreadSeconds: 60 },
  ],
  ['is paused and due', () => write(DUE, 1, MEMBER), [fault('schedule_stray', DUE)], { paused: true }],
  ['is over and due', () => write(DUE, 1, MEMBER), [fault('schedule_stray', DUE)], { endsAt: '2020-01-01T00:00:00Z' }],
  [
    'has lost its record',
    () => service.redis.del(keys().schedule(SPACE, 'nightly')),
    [fault('schedule_stray', DUE), fault('schedule_stray', LIST)],
  ],
])('fsck repairs a schedule that %s', async (_, harm, faults, fields = {}) => {
  await harm(await put(fields));
  await expectRepaired(service.store, faults);
});

it('fsck removes entries that cannot be those of a schedule', async () => {
  for (const member of ['nonsense', `${SPACE}/`, '/nightly']) await write(DUE, 1, member);
  await write(LIST, 1, 'a/b');
  const strays = [DUE, DUE, DUE, LIST].map((key) => fault('schedule_stray', key));
  await expectRepaired(service.store, strays);
});

it('fsck accepts a schedule that was postponed by a minute, and sets one right that was postponed for longer', async () => {
  const { redis, store } = service;
  await put();
  const now = await redisNow(store);
  await redis.hset(keys().schedule(SPACE, 'nightly'), 'nextAt', now - 1_000);
  await write(DUE, now + 60_000, MEMBER);
  expect((await check(store)).short).toEqual([]);
  await write(DUE, now + 3_600_000, MEMBER);
  await expectRepaired(store, [fault('schedule_misplaced', DUE)]);
  expect(await redis.zscore(keys().schedules(PARTITION), MEMBER)).toBe(String(now - 1_000));
});

it('fsck restores the list of a space so that each page continues after the one before', async () => {
  const ids = ['a', 'b', 'c'];
  const schedules = ids.map((id) => ({ id, everySeconds: 60, job: { name: 'report' } }));
  await service.call('PUT', `/spaces/${SPACE}/schedules`, { body: { owner: 'team', schedules } });
  await service.redis.del(keys().schedulesOf(SPACE));
  await expectRepaired(
    service.store,
    ids.map(() => fault('schedule_unlisted', LIST)),
  );
  const found: string[] = [];
  for (let cursor: number | null = null; found.length === 0 || cursor !== null; ) {
    const page = await listSchedules(service.store, SPACE, { limit: 1, cursor });
    found.push(...page.schedules.map(({ id }) => id));
    cursor = page.nextCursor === null ? null : Number(page.nextCursor);
  }
  expect(found.sort()).toEqual(ids);
});

it.each<[field: string, value: string | null, detail: string, fields?: Fields]>([
  ['version', null, 'version is missing'],
  ['version', '1', 'version is invalid: 1'],
  ['definition', null, 'definition is missing'],
  ['definition', '{', 'definition is invalid'],
  ['definition', 'null', 'definition is invalid'],
  ['definition', '{"cron":"0 3 * * *"}', 'definition is invalid'],
  ['definition', '{"cron":"0 3 * *","job":{"name":"report"}}', 'definition is invalid'],
  ['definition', '{"everySeconds":0,"job":{"name":"report"}}', 'definition is invalid'],
  ['createdAt', null, 'createdAt is missing'],
  ['createdAt', 'now', 'createdAt is invalid: now'],
  ['nextAt', 'soon', 'nextAt is invalid: soon'],
  ['nextAt', null, 'nextAt is missing'],
  ['nextAt', '1', 'nextAt must be absent, because the schedule is paused', { paused: true }],
  ['lastAt', '', 'lastAt is invalid: '],
  ['lastJobId', 'last', 'lastJobId is invalid: last'],
  ['fired', '-1', 'fired is invalid: -1'],
  ['skipped', '1.5', 'skipped is invalid: 1.5'],
  ['lastSkipped', '1 LATE', 'lastSkipped is invalid: 1 LATE'],
])('fsck reports a schedule whose %s is %j, and leaves it unchanged', async (field, value, detail, fields = {}) => {
  await put(fields);
  const key = keys().schedule(SPACE, 'nightly');
  if (value === null) await service.redis.hdel(key, field);
  else await service.redis.hset(key, field, value);
  for (const isRepairing of [false, true]) {
    const { faults, short } = await check(service.store, isRepairing);
    expect(short.filter(([kind]) => kind !== 'schedule_stray')).toEqual([['schedule_broken', null, RECORD, 'none']]);
    expect(faults.find(({ kind }) => kind === 'schedule_broken')?.detail).toBe(detail);
  }
});

it.each([
  ['schedule', RECORD, 'hash'],
  ['list of schedules', LIST, 'zset'],
  ['list of due schedules', DUE, 'zset'],
])('fsck reports a %s of the wrong type', async (_, key, type) => {
  await put();
  await service.redis.set(`${service.prefix}:${key}`, 'x');
  const { faults } = await check(service.store, true);
  expect(faults.map(({ kind, detail }) => [kind, detail])).toEqual([
    ['key_wrong_type', `it is a string, but must be a ${type}`],
  ]);
});

it('fsck reports a schedule in the partition of another space as an unknown key', async () => {
  const key = `{${PARTITION === '00' ? '01' : '00'}}:schedule:${MEMBER}`;
  await service.redis.hset(`${service.prefix}:${key}`, 'version', '1');
  expect((await check(service.store)).short).toEqual([['key_unknown', null, key, 'none']]);
});

it('fsck adds a job to the index of its schedule, and removes it from that of another one', async () => {
  const id = await fire();
  expect((await check(service.store)).short).toEqual([]);
  const indexOf = (schedule: string) => `{${PARTITION}}:space:${SPACE}/tag/\u0001${schedule}`;
  await service.redis.del(`${service.prefix}:${indexOf('nightly')}`);
  await write(indexOf('night'), 1, id);
  await expectRepaired(service.store, [
    ['entry_missing', id, indexOf('nightly'), 'possible'],
    ['entry_stray', id, indexOf('night'), 'possible'],
  ]);
});

it.each([
  ['tags', 'a\u0001b', 'tags is invalid: a\u0001b'],
  ['tags', '\u0001', 'tags is invalid: \u0001'],
  ['tags', '\u0001nightly\na', 'tags is invalid: \u0001nightly\na'],
  ['tags', 'a\na\n\u0001nightly', 'tags is invalid: a\na\n\u0001nightly'],
  ['tags', '\n\u0001nightly', 'tags is invalid: \n\u0001nightly'],
  ['tags', `\u0001${'n'.repeat(129)}`, `tags is invalid: \u0001${'n'.repeat(79)}`],
  ['scheduledFor', null, 'scheduledFor is missing'],
])('fsck reports a job of a schedule whose %s is %j', async (field, value, detail) => {
  const id = await fire();
  await setField(service.redis, keys().job(id), field, value);
  const { faults } = await check(service.store);
  const broken = faults.filter(({ kind }) => kind === 'record_broken');
  expect(broken.map(({ jobId, detail }) => [jobId, detail])).toEqual([[id, detail]]);
});

it('fsck repairs schedules while Redis is out of memory', async () => {
  const { redis, store } = service;
  await put();
  await redis.del(keys().schedulesOf(SPACE), keys().schedules(PARTITION));
  const most = (await redis.config('GET', 'maxmemory')) as string[];
  await redis.config('SET', 'maxmemory', '1');
  try {
    expect((await check(store, true)).short.map(([kind, , , repair]) => [kind, repair])).toEqual([
      ['schedule_unlisted', 'done'],
      ['schedule_unlisted', 'done'],
    ]);
  } finally {
    await redis.config('SET', 'maxmemory', most[1] as string);
  }
});
