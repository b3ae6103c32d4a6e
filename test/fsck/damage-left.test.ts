import { describe, expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { appendEvents, changeState, readState, setField } from '../support/job-state.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check, type Short } from './checking.js';

const service = withService({}, { app: 'api', isOwn: true });

const PARTITION = partitionOf('left');

/** Expect just these faults, by a check and by a repair, which leaves them. */
async function expectLeft(faults: Short[], details: string[]) {
  for (const isRepairing of [false, true]) {
    const found = await check(service.store, isRepairing);
    expect(found.short).toEqual(faults.sort());
    expect(found.faults.map(({ detail }) => detail).sort()).toEqual(details.sort());
  }
}

const IMPOSSIBLE = 'state is impossible: ';
const attempts = (count: number) => `state has an impossible number of attempts: ${count}`;

it.each([
  ...[
    ['status', 'lost'],
    ['status', ''],
    ['order', 'first'],
    ['order', '9007199254740993'],
    ['attempt', '-1'],
    ['returns', '-1'],
    ['seq', '1.5'],
    ['updatedAt', 'now'],
    ['maxRetries', 'many'],
    ['timeoutSeconds', '0'],
    ['timeoutSeconds', 'long'],
    ['flags', ''],
    ['flags', '-x'],
  ].map(([part = '', value = '']) => ['pending', part, value, IMPOSSIBLE] as const),
  ['running', 'attempt', 0, attempts(0)],
  ['running', 'attempt', 5, attempts(5)],
  ['dead', 'attempt', 0, attempts(0)],
  ['killed', 'updatedAt', 0, 'state has no time of its last change'],
  ['pending', 'state', 'pending', IMPOSSIBLE],
  ['pending', 'space', 'elsewhere', IMPOSSIBLE],
  ['pending', 'space', null, IMPOSSIBLE],
  ['pending', 'name', null, IMPOSSIBLE],
  ['pending', 'deliveredAt', '1700000000000', 'deliveredAt must be absent, because the job is pending'],
  ['delivered', 'deliveredAt', null, 'deliveredAt is missing'],
  ['delivered', 'startedAt', '1700000000000', 'startedAt must be absent, because the job is delivered'],
  ['running', 'startedAt', 'now', 'startedAt is impossible: now'],
  ['delivered', 'deliveryTimeouts', 'many', 'deliveryTimeouts is impossible: many'],
  ['pending', 'missedWindowMs', '1.5', 'missedWindowMs is impossible: 1.5'],
  ['completed', 'result', null, 'result is missing'],
  ['completed', 'startedAt', null, 'startedAt is missing'],
  ['pending', 'unique', 'never return 0 k', 'unique is impossible: never return 0 k'],
  ['pending', 'unique', 'ended wait 0 k', 'unique is impossible: ended wait 0 k'],
  ['pending', 'unique', 'expired return 0 k', 'unique is impossible: expired return 0 k'],
  ['pending', 'unique', 'ended return 60 k', 'unique is impossible: ended return 60 k'],
  ['pending', 'unique', 'ended return 0 ', 'unique is impossible: ended return 0 '],
  ['running', 'uniqueFreed', 'yes', 'uniqueFreed is impossible: yes'],
  ['dead', 'kept', 'yes', 'kept is impossible: yes'],
  ['pending', 'fingerprint', 'short', 'fingerprint is impossible: short'],
  ['scheduled', 'scheduledFor', null, 'scheduledFor is missing'],
  ['scheduled', 'scheduledFor', 'soon', 'scheduledFor is impossible: soon'],
  ['scheduled', 'deliveredAt', '1700000000000', 'deliveredAt must be absent, because the job is scheduled'],
  ['scheduled', 'startedAt', '1700000000000', 'startedAt must be absent, because the job is scheduled'],
  ['pending', 'maxRunSeconds', '0', 'maxRunSeconds is impossible: 0'],
  ['pending', 'maxRunSeconds', '604801', 'maxRunSeconds is impossible: 604801'],
  ['running', 'runBy', '9000000000000', 'maxRunSeconds is missing'],
  ['pending', 'startWithinSeconds', '-1', 'startWithinSeconds is impossible: -1'],
  ['pending', 'startWithinSeconds', '31622401', 'startWithinSeconds is impossible: 31622401'],
  ['running', 'startBy', '0', 'startWithinSeconds is missing'],
  ['pending', 'startBy', '1.5', 'startBy is impossible: 1.5'],
  ...['0', '1.5', '+5', '604801', '-604801', 'first'].map(
    (value) => ['pending', 'priority', value, `priority is impossible: ${value}`] as const,
  ),
  ...`5|5 1 60 0 0|,5 1 60 0|5,,6 1 60 0|0x5 1 60 0|604801 1 60 0|5,6 2 60 0|5 0.5 60 0|5 11 60 0|${'5,'.repeat(20)}5 1 60 0`
    .split('|')
    .map((value) => ['pending', 'retry', value, `retry is impossible: ${value.slice(0, 80)}`] as const),
] as const)('fsck reports a %s job in which %s is %s, and leaves it', async (status, field, value, detail) => {
  const id = await jobIn(service, status, 'left');
  const key = service.store.keys.job(id);
  const before = await service.redis.hgetall(key);
  await setField(service.redis, key, field, value);
  const state = await service.redis.hget(key, 'state');
  await expectLeft(
    [['record_broken', id, `{${PARTITION}}:job:${id}`, 'none']],
    [detail === IMPOSSIBLE ? detail + state?.slice(0, 80) : detail],
  );
  await service.redis.del(key);
  await service.redis.hset(key, before);
  expect((await check(service.store)).short).toEqual([]);
});

it.each(
  Object.entries({
    ...{
      unique: 'ended return 0 k',
      callbackUrl: 'https://example.com/hook',
      tags: 'a',
      priority: '5',
      retry: '5 1 60 0',
    },
    ...{ startWithinSeconds: '60', maxRunSeconds: '60', checkpoint: '1', deliveryTimeouts: '1' },
  }),
)('fsck reports a state and the field %s that disagree, and leaves them', async (field, value) => {
  const id = await jobIn(service, 'scheduled', 'left');
  const key = service.store.keys.job(id);
  const { flags } = await readState(service.redis, key);
  const isReported = async () =>
    expect((await check(service.store)).faults.map(({ detail }) => detail)).toContain(`state and ${field} disagree`);
  await setField(service.redis, key, field, value);
  const flagged = await readState(service.redis, key);
  await changeState(service.redis, key, { flags });
  await isReported();
  await service.redis.hdel(key, field);
  await changeState(service.redis, key, flagged);
  await isReported();
  await changeState(service.redis, key, { flags });
  expect((await check(service.store)).short).toEqual([]);
});

describe('fsck of a record with options, of which one is broken', () => {
  const fields = { maxRunSeconds: 60, startWithinSeconds: 60, callbackUrl: 'https://example.com/hook' };
  it.each([
    ['completed', 'callbackOn', '', 'callbackOn is impossible: '],
    ['completed', 'callbackOn', 'completed dead', 'callbackOn is impossible: completed dead'],
    ['completed', 'callbackOn', 'dead completed', 'callbackOn is impossible: dead completed'],
    ['completed', 'callbackOn', 'completed,killed', 'callbackOn is impossible: completed,killed'],
    ['completed', 'callbackOn', 'running', 'callbackOn is impossible: running'],
    ['running', 'maxRunSeconds', null, 'maxRunSeconds is missing'],
    ['running', 'startWithinSeconds', null, 'startWithinSeconds is missing'],
    ...(['scheduled', 'pending', 'delivered'] as const).map(
      (status) => [status, 'runBy', '9000000000000', `runBy must be absent, because the job is ${status}`] as const,
    ),
  ] as const)('fsck reports a %s job whose option %s is %s, and leaves it', async (status, field, value, detail) => {
    const id = await jobIn(service, status, 'left', fields);
    const key = service.store.keys.job(id);
    await setField(service.redis, key, field, value);
    await expectLeft([['record_broken', id, `{${PARTITION}}:job:${id}`, 'none']], [detail]);
    await setField(service.redis, key, field, value === null ? 60 : null);
    expect((await check(service.store)).short).toEqual([]);
  });
});

it.each([
  ['without its oldest events', 'running', ['["acked",1700000000000]'], 'history_incomplete', 'it begins with acked'],
  [
    'that ends in another status',
    'pending',
    ['["delivered",1700000000000]'],
    'history_disagrees',
    'the status is pending in the record and delivered in the history',
  ],
  [
    'without the delivery before its release',
    'pending',
    ['["released",1700000000000,{"reason":null}]'],
    'history_incomplete',
    'it begins with released',
  ],
  [
    'that ends in a retry at once',
    'scheduled',
    ['["delivered",1]', '["retried",2,{"error":{"scheduledFor":"2030-01-01T00:00:00.000Z"},"attemptNumber":1}]'],
    'history_disagrees',
    'the status is scheduled in the record and pending in the history',
  ],
  [
    'that ends in a delayed retry',
    'pending',
    ['["delivered",1]', '["retried",2,{"error":1,"attemptNumber":1,"scheduledFor":"2030-01-01T00:00:00.000Z"}]'],
    'history_disagrees',
    'the status is pending in the record and scheduled in the history',
  ],
  [
    'that ends in a delay',
    'pending',
    ['["rescheduled",2,{"scheduledFor":"2030-01-01T00:00:00.000Z","priority":5}]'],
    'history_disagrees',
    'the status is pending in the record and scheduled in the history',
  ],
  [
    'that ends at its time',
    'scheduled',
    ['["ready",2]'],
    'history_disagrees',
    'the status is scheduled in the record and pending in the history',
  ],
  ['with an unreadable entry', 'running', ['nonsense'], 'history_unreadable', 'entry -1 is not valid'],
] as const)('fsck reports a history %s, and leaves it', async (_, status, entries, kind, detail) => {
  const id = await jobIn(service, status, 'left');
  const job = service.store.keys.job(id);
  const before = await service.redis.lrange(`${job}:events`, 0, -1);
  const state = await readState(service.redis, job);
  await service.redis.del(`${job}:events`);
  await service.redis.rpush(`${job}:events`, ...entries);
  await changeState(service.redis, job, { seq: 1 + entries.length, flags: '-h' });
  await expectLeft([[kind, id, `{${PARTITION}}:job:${id}:events`, 'none']], [detail]);
  await service.redis.del(`${job}:events`);
  if (before.length > 0) await service.redis.rpush(`${job}:events`, ...before);
  await changeState(service.redis, job, state);
});

it('fsck finds the status in a history that ends with heartbeats and callbacks', async () => {
  const id = await jobIn(service, 'running', 'left');
  for (const verb of ['progress', 'event', 'checkpoint']) {
    const body = verb === 'progress' ? { percent: 1, message: 'on' } : { a: 1 };
    expect((await service.call('POST', `/jobs/${id}/${verb}`, { body })).status).toBe(200);
  }
  await appendEvents(service.redis, service.store.keys.job(id), ...Array(19).fill('["callback_sent",1,{}]'));
  expect((await check(service.store)).short).toEqual([]);
});

it('fsck reports a job that has lost all its logs, and leaves it', async () => {
  const id = await jobIn(service, 'pending', 'left');
  await service.redis.hset(service.store.keys.job(id), 'logsDropped', 7);
  const detail = 'it has lost its oldest 7 entries, and the others too';
  await expectLeft([['entries_lost', id, `{${PARTITION}}:job:${id}:logs`, 'none']], [detail]);
  await service.redis.hdel(service.store.keys.job(id), 'logsDropped');
});

describe('fsck of a wrong key', () => {
  const id = `${PARTITION}${'a'.repeat(26)}`;
  it.each([
    `{${PARTITION}}:jobs`,
    'other',
    '{40}:deadlines',
    `{${PARTITION}}:job:${id}x`,
    `{${PARTITION}}:job:${id}:notes`,
    `{${PARTITION}}:space:left/status/lost`,
    `{${PARTITION}}:space:left/queue/`,
    `{${PARTITION === '00' ? '01' : '00'}}:space:left/queue`,
    `{${partitionOf('job')}}:space:jobs`,
    `{${partitionOf('')}}:space:/jobs`,
  ])('fsck reports the unknown key %s, and leaves it', async (name) => {
    await service.redis.set(`${service.prefix}:${name}`, 'x');
    await expectLeft([['key_unknown', null, name, 'none']], ['it is a string']);
    await service.redis.del(`${service.prefix}:${name}`);
  });

  it.each([
    [`{${PARTITION}}:job:${id}`, 'hash', id],
    [`{${PARTITION}}:job:${id}:logs`, 'list', id],
    ['{3f}:spaces', 'zset', null],
    ['{3f}:callbacks', 'zset', null],
    ['{3f}:due', 'zset', null],
    ['{keys}:records', 'hash', null],
  ])('fsck reports the key %s when it has another type, and leaves it', async (name, type, jobId) => {
    await service.redis.set(`${service.prefix}:${name}`, 'x');
    await expectLeft([['key_wrong_type', jobId, name, 'none']], [`it is a string, and must be a ${type}`]);
    await service.redis.del(`${service.prefix}:${name}`);
  });

  it('fsck checks all other jobs when a key has another type', async () => {
    const hurt = await jobIn(service, 'running', 'left');
    const other = await jobIn(service, 'running', 'left');
    await writeHistory(service, hurt);
    const history = `${service.store.keys.job(hurt)}:events`;
    await service.redis.rename(history, 'kept-aside');
    await service.redis.set(history, 'x');
    await service.redis.zrem(service.store.keys.jobs('left'), other);
    const { short } = await check(service.store);
    expect(short.map(([kind, jobId]) => [kind, jobId])).toEqual([
      ['entry_missing', other],
      ['job_unreadable', hurt],
      ['key_wrong_type', hurt],
    ]);
    await service.redis.rename('kept-aside', history);
    await check(service.store, true);
    expect((await check(service.store)).short).toEqual([]);
  });
});

describe('fsck of a broken API key', () => {
  const valid = { id: 'broken', name: 'x', scopes: ['jobs:read'], spaceId: null, expiresAt: null };
  const secretHash = Buffer.alloc(32).toString('base64');
  const until = '2026-01-01T00:00:00.000Z';
  const withField = (field: object) => JSON.stringify({ ...valid, secretHash, ...field });
  const FIELDS = [
    ...[{ rotations: 'one' }, { limits: { perSecond: 0, burst: 1 } }, { limits: { perSecond: 1 } }, { previous: {} }],
    ...[{ previous: { secretHash, until: 'soon' } }, { previous: { secretHash: 'short', until } }],
    ...[{ createdBy: 7 }, { shared: {} }, { shared: [{ perSecond: 1, burst: 1 }] }, { shared: [{ keyId: 'x' }] }],
  ];

  it('fsck finds no fault in an API key that was rotated and has limits', async () => {
    const limits = { perSecond: 0.5, burst: 1 };
    const of = { createdBy: 'gone', shared: [{ keyId: 'gone', ...limits }] };
    const key = withField({ rotations: 1, limits, previous: { secretHash, until }, ...of });
    await service.redis.hset(service.store.keys.apiKeys, 'broken', key);
    await service.redis.zadd(service.store.keys.apiKeyIndex, 0, '/broken');
    expect((await check(service.store)).short).toEqual([]);
    await service.redis.hdel(service.store.keys.apiKeys, 'broken');
    await service.redis.zrem(service.store.keys.apiKeyIndex, '/broken');
  });

  it.each([...['{', '{}', '{"id":"other"}'], ...FIELDS.map(withField)])(
    'fsck reports an API key with the record %s, leaves it, and the other keys are listed',
    async (record) => {
      const { id } = await service.key(['jobs:read']);
      await service.redis.hset(service.store.keys.apiKeys, 'broken', record);
      await expectLeft(
        [['api_key_broken', null, '{keys}:records', 'none']],
        ['key broken: revoke it, and make another'],
      );
      expect((await service.call('GET', '/keys')).body).toContainEqual(expect.objectContaining({ id }));
      await service.redis.hdel(service.store.keys.apiKeys, 'broken');
      expect((await check(service.store)).seen.apiKeys).toBeGreaterThan(0);
    },
  );
});
