import { afterEach, describe, expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import { partitionOf } from '@yardmaster/store';
import { removeJobs } from '../support/fsck.js';
import { appendEvents, changeState, readState, setField } from '../support/job-state.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check } from './checking.js';

const service = withService({}, { app: 'api', isOwn: true });
afterEach(() => removeJobs(service.redis, service.prefix));

const PARTITION = partitionOf('left');

/** A fault. The key is given without the prefix. */
type Found = [kind: string, jobId: string | null, key: string, detail: string];

/** Check, and return all faults, and the repair of each. */
async function allFaults(isRepairing = false) {
  const { faults } = await check(service.store, isRepairing);
  const found = faults.map(
    ({ kind, jobId, key, detail }): Found => [kind, jobId, key.slice(service.prefix.length + 1), detail],
  );
  return { found, repairs: faults.map(({ repair }) => repair) };
}

/**
 * Do damage of each row, and expect that a check and a repair report just these faults, of all rows at once. When the damage
 * is undone, there must be no fault.
 *
 * @param damage returns the fault, and how to undo the damage
 */
async function expectAllLeft<Row>(
  rows: readonly Row[],
  damage: (row: Row) => Promise<{ fault: Found; undo: () => Promise<unknown> }>,
): Promise<void> {
  const rowOf = new Map<string | null, string>(); // By job, so that a failure names the row.
  const named = ([kind, jobId, key, detail]: Found) => [rowOf.get(jobId) ?? jobId, kind, key, detail];
  const damaged = [];
  for (const row of rows) {
    const each = await damage(row);
    damaged.push(each);
    if (each.fault[1] !== null) rowOf.set(each.fault[1], JSON.stringify(row));
  }
  const expected = damaged.map(({ fault }) => named(fault));
  for (const isRepairing of [false, true]) {
    const { found, repairs } = await allFaults(isRepairing);
    expect(found.map(named).sort()).toEqual(expected.sort());
    expect(repairs).toEqual(expected.map(() => 'none'));
  }
  for (const { undo } of damaged) await undo();
  expect((await check(service.store)).short).toEqual([]);
}

/** Damage the record of a job. @param harm returns what fsck says of it */
async function damageRecord(id: string, harm: (key: string) => Promise<string>) {
  const { redis, store } = service;
  const key = store.keys.job(id);
  const before = await redis.hgetall(key);
  const fault: Found = ['record_broken', id, `{${PARTITION}}:job:${id}`, await harm(key)];
  return { fault, undo: () => redis.multi().del(key).hset(key, before).exec() };
}

const IMPOSSIBLE = 'state is invalid: ';
const attempts = (count: number) => `state has an invalid number of attempts: ${count}`;

/** Fields that no job can have: status of the job, field, value, what fsck says of it. */
const BROKEN: (readonly [Status, string, string | number | null, string])[] = [
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
  ['killed', 'updatedAt', 0, 'state lacks the time of its last change'],
  ['pending', 'state', 'pending', IMPOSSIBLE],
  ['pending', 'space', 'elsewhere', IMPOSSIBLE],
  ['pending', 'space', null, IMPOSSIBLE],
  ['pending', 'name', null, IMPOSSIBLE],
  ['pending', 'deliveredAt', '1700000000000', 'deliveredAt must be absent, because the job is pending'],
  ['delivered', 'deliveredAt', null, 'deliveredAt is missing'],
  ['delivered', 'startedAt', '1700000000000', 'startedAt must be absent, because the job is delivered'],
  ['running', 'startedAt', 'now', 'startedAt is invalid: now'],
  ['delivered', 'deliveryTimeouts', 'many', 'deliveryTimeouts is invalid: many'],
  ['pending', 'missedWindowMs', '1.5', 'missedWindowMs is invalid: 1.5'],
  ['completed', 'result', null, 'result is missing'],
  ['completed', 'startedAt', null, 'startedAt is missing'],
  ['pending', 'unique', 'never return 0 k', 'unique is invalid: never return 0 k'],
  ['pending', 'unique', 'ended wait 0 k', 'unique is invalid: ended wait 0 k'],
  ['pending', 'unique', 'expired return 0 k', 'unique is invalid: expired return 0 k'],
  ['pending', 'unique', 'ended return 60 k', 'unique is invalid: ended return 60 k'],
  ['pending', 'unique', 'ended return 0 ', 'unique is invalid: ended return 0 '],
  ['running', 'uniqueFreed', 'yes', 'uniqueFreed is invalid: yes'],
  ['dead', 'kept', 'yes', 'kept is invalid: yes'],
  ['pending', 'fingerprint', 'short', 'fingerprint is invalid: short'],
  ['scheduled', 'scheduledFor', null, 'scheduledFor is missing'],
  ['scheduled', 'scheduledFor', 'soon', 'scheduledFor is invalid: soon'],
  ['scheduled', 'deliveredAt', '1700000000000', 'deliveredAt must be absent, because the job is scheduled'],
  ['scheduled', 'startedAt', '1700000000000', 'startedAt must be absent, because the job is scheduled'],
  ['pending', 'maxRunSeconds', '0', 'maxRunSeconds is invalid: 0'],
  ['pending', 'maxRunSeconds', '604801', 'maxRunSeconds is invalid: 604801'],
  ['running', 'runBy', '9000000000000', 'maxRunSeconds is missing'],
  ['pending', 'startWithinSeconds', '-1', 'startWithinSeconds is invalid: -1'],
  ['pending', 'startWithinSeconds', '31622401', 'startWithinSeconds is invalid: 31622401'],
  ['running', 'startBy', '0', 'startWithinSeconds is missing'],
  ['pending', 'startBy', '1.5', 'startBy is invalid: 1.5'],
  ...['0', '1.5', '+5', '604801', '-604801', 'first'].map(
    (value) => ['pending', 'priority', value, `priority is invalid: ${value}`] as const,
  ),
  ...`5|5 1 60 0 0|,5 1 60 0|5,,6 1 60 0|0x5 1 60 0|604801 1 60 0|5,6 2 60 0|5 0.5 60 0|5 11 60 0|${'5,'.repeat(20)}5 1 60 0`
    .split('|')
    .map((value) => ['pending', 'retry', value, `retry is invalid: ${value.slice(0, 80)}`] as const),
];

it('fsck reports all records with a field that no job can have, and leaves them unchanged', () =>
  expectAllLeft(BROKEN, async ([status, field, value, detail]) =>
    damageRecord(await jobIn(service, status, 'left'), async (key) => {
      await setField(service.redis, key, field, value);
      return detail === IMPOSSIBLE ? detail + (await service.redis.hget(key, 'state'))?.slice(0, 80) : detail;
    }),
  ));

const OPTIONAL = {
  ...{
    unique: 'ended return 0 k',
    callbackUrl: 'https://example.com/hook',
    tags: 'a',
    priority: '5',
    retry: '5 1 60 0',
  },
  ...{ startWithinSeconds: '60', maxRunSeconds: '60', checkpoint: '1', deliveryTimeouts: '1' },
};

it.each(['field', 'flag'])(
  'fsck reports all states and optional fields that disagree because only the %s exists',
  async (kept) => {
    const { redis, store } = service;
    const expected: Found[] = [];
    for (const [field, value] of Object.entries(OPTIONAL)) {
      const id = await jobIn(service, 'scheduled', 'left');
      const key = store.keys.job(id);
      const { flags } = await readState(redis, key);
      await setField(redis, key, field, value);
      if (kept === 'field') await changeState(redis, key, { flags });
      else await redis.hdel(key, field);
      expected.push(['record_broken', id, `{${PARTITION}}:job:${id}`, `state and ${field} disagree`]);
    }
    // To fsck, a tag and a unique key also seem to be missing from their indexes.
    const { found } = await allFaults();
    expect(found.filter(([kind]) => kind !== 'entry_missing').sort()).toEqual(expected.sort());
  },
);

/** Options of a job that are broken: status of the job, option, value, what fsck says of it. */
const BROKEN_OPTIONS: typeof BROKEN = [
  ['completed', 'callbackOn', '', 'callbackOn is invalid: '],
  ['completed', 'callbackOn', 'completed dead', 'callbackOn is invalid: completed dead'],
  ['completed', 'callbackOn', 'dead completed', 'callbackOn is invalid: dead completed'],
  ['completed', 'callbackOn', 'completed,killed', 'callbackOn is invalid: completed,killed'],
  ['completed', 'callbackOn', 'running', 'callbackOn is invalid: running'],
  ['running', 'maxRunSeconds', null, 'maxRunSeconds is missing'],
  ['running', 'startWithinSeconds', null, 'startWithinSeconds is missing'],
  ...(['scheduled', 'pending', 'delivered'] as const).map(
    (status) => [status, 'runBy', '9000000000000', `runBy must be absent, because the job is ${status}`] as const,
  ),
];

it('fsck reports all records with a broken option, and leaves them unchanged', () =>
  expectAllLeft(BROKEN_OPTIONS, async ([status, field, value, detail]) => {
    const fields = { maxRunSeconds: 60, startWithinSeconds: 60, callbackUrl: 'https://example.com/hook' };
    return damageRecord(await jobIn(service, status, 'left', fields), async (key) => {
      await setField(service.redis, key, field, value);
      return detail;
    });
  }));

/** Histories that do not fit: what is wrong, status of the job, events, what fsck says of it. */
const HISTORIES = [
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
] as const;

it('fsck reports all histories that contradict their jobs, and leaves them unchanged', () =>
  expectAllLeft(HISTORIES, async ([, status, entries, kind, detail]) => {
    const { redis, store } = service;
    const id = await jobIn(service, status, 'left');
    const job = store.keys.job(id);
    const events = `${job}:events`;
    const before = await redis.lrange(events, 0, -1);
    const state = await readState(redis, job);
    await redis
      .multi()
      .del(events)
      .rpush(events, ...entries)
      .exec();
    await changeState(redis, job, { seq: 1 + entries.length, flags: '-h' });
    async function undo() {
      await redis.del(events);
      if (before.length > 0) await redis.rpush(events, ...before);
      await changeState(redis, job, state);
    }
    return { fault: [kind, id, `{${PARTITION}}:job:${id}:events`, detail], undo };
  }));

it('fsck finds the status in a history that ends with heartbeats and callbacks', async () => {
  const id = await jobIn(service, 'running', 'left');
  for (const verb of ['progress', 'event', 'checkpoint']) {
    const body = verb === 'progress' ? { percent: 1, message: 'on' } : { a: 1 };
    expect((await service.call('POST', `/jobs/${id}/${verb}`, { body })).status).toBe(200);
  }
  await appendEvents(service.redis, service.store.keys.job(id), ...Array(19).fill('["callback_sent",1,{}]'));
  expect((await check(service.store)).short).toEqual([]);
});

it('fsck reports a job that has lost all its logs, and leaves it unchanged', () =>
  expectAllLeft([7], async (dropped) => {
    const id = await jobIn(service, 'pending', 'left');
    const job = service.store.keys.job(id);
    await service.redis.hset(job, 'logsDropped', dropped);
    const detail = `it has lost its oldest ${dropped} entries, and all others`;
    return {
      fault: ['entries_lost', id, `{${PARTITION}}:job:${id}:logs`, detail],
      undo: () => service.redis.hdel(job, 'logsDropped'),
    };
  }));

describe('fsck of a wrong key', () => {
  const id = `${PARTITION}${'a'.repeat(26)}`;
  const UNKNOWN = [
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
  ];
  it('fsck reports all unknown keys, and leaves them unchanged', () =>
    expectAllLeft(UNKNOWN, async (name) => {
      await service.redis.set(`${service.prefix}:${name}`, 'x');
      return {
        fault: ['key_unknown', null, name, 'it is a string'],
        undo: () => service.redis.del(`${service.prefix}:${name}`),
      };
    }));

  const TYPED = [
    [`{${PARTITION}}:job:${id}`, 'hash', id],
    [`{${PARTITION}}:job:${PARTITION}${'b'.repeat(26)}:logs`, 'list', `${PARTITION}${'b'.repeat(26)}`],
    ['{3f}:spaces', 'zset', null],
    ['{3f}:callbacks', 'zset', null],
    ['{3f}:due', 'zset', null],
    ['{keys}:records', 'hash', null],
  ] as const;
  it('fsck reports all keys of the wrong type, and leaves them unchanged', () =>
    expectAllLeft(TYPED, async ([name, type, jobId]) => {
      await service.redis.set(`${service.prefix}:${name}`, 'x');
      return {
        fault: ['key_wrong_type', jobId, name, `it is a string, but must be a ${type}`],
        undo: () => service.redis.del(`${service.prefix}:${name}`),
      };
    }));

  it('fsck checks all other jobs when a key has the wrong type', async () => {
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

  it('fsck reports all API keys with broken records, leaves them unchanged, and lists the other keys', async () => {
    const { apiKeys } = service.store.keys;
    const { id } = await service.key(['jobs:read']);
    let broken = 0;
    await expectAllLeft(['{', '{}', '{"id":"other"}', ...FIELDS.map(withField)], async (record) => {
      const field = `broken-${++broken}`;
      await service.redis.hset(apiKeys, field, record.replace('"broken"', JSON.stringify(field)));
      const detail = `key ${field}: revoke it and create a new one`;
      expect((await service.call('GET', '/keys')).body).toContainEqual(expect.objectContaining({ id }));
      return {
        fault: ['api_key_broken', null, '{keys}:records', detail],
        undo: () => service.redis.hdel(apiKeys, field),
      };
    });
    expect((await check(service.store)).seen.apiKeys).toBeGreaterThan(0);
  });
});
