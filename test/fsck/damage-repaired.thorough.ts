import { expect, it } from '@jest/globals';
import { STATUSES, type Status } from '@yardmaster/protocol';
import { PARTITION_TAGS, partitionOf, redisNow } from '@yardmaster/store';
import { changeState } from '../support/job-state.js';
import { jobIn, step } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { check, expectRepaired, type Short } from './checking.js';

// No scheduler: what is damaged stays so until it is checked.
const service = withService({}, { app: 'api', isOwn: true });

const HOOK = { callbackUrl: 'https://example.com/hook' };
const FAR = 9_000_000_000_000;
/** Where the job of a test stands, and a connection to do damage with. */
interface Site {
  id: string;
  space: string;
  /** Return the key of an index of the job's space, for example `queue`, or of its partition, for example `{due}`. */
  at: (index: string) => string;
  redis: TestService['redis'];
}

type Harm = (site: Site) => Promise<unknown>;

/** Damage, the faults that it causes, as kind and index, and the job before. */
type Damage = [
  title: string,
  harm: Harm,
  faults: `${string} ${string}`[],
  job?: [status: Status, fields?: Record<string, unknown>],
];

const remove =
  (...indexes: string[]): Harm =>
  ({ redis, at, id }) =>
    Promise.all(indexes.map((index) => redis.zrem(at(index), id)));
const put =
  (index: string, score = 1): Harm =>
  ({ redis, at, id }) =>
    redis.zadd(at(index), score, id);
const move =
  (by: number, ...indexes: string[]): Harm =>
  ({ redis, at, id }) =>
    Promise.all(indexes.map((index) => redis.zincrby(at(index), by, id)));
const setLastOrder =
  (order: number | string): Harm =>
  ({ redis, at, space }) =>
    redis.zadd(at('{spaces}'), order, space);
const call =
  (verb: string, body?: object): Harm =>
  ({ id }) =>
    step(service, id, verb, body);
/** Do one thing after the other. */
const inTurn =
  (...harms: Harm[]): Harm =>
  async (site) => {
    for (const harm of harms) await harm(site);
  };
const claim = call('claim');
const retry = inTurn(claim, call('ack'), call('fail', { error: 'no' }));

/** The call that must succeed afterwards. */
const NEXT: Record<Status, [verb: string, body?: object]> = {
  scheduled: ['reschedule', { delaySeconds: 0 }],
  pending: ['claim'],
  delivered: ['ack'],
  running: ['complete', { result: 1 }],
  completed: ['kill'],
  dead: ['kill'],
  killed: ['kill'],
};

const QUEUES = ['queue', 'queue/work'];
const HEAD_START_S = 600;
const HEAD_START = HEAD_START_S * 1_024_000; // In units of the claim order.
const AHEAD: Damage[3] = ['pending', { priority: HEAD_START_S }];
const START = { startWithinSeconds: 3_600 };
const RETRIED: Damage[3] = ['pending', { maxRetries: 1 }];
const NOT_QUEUED: Damage[2] = ['entry_missing queue', 'entry_missing queue/work'];
const MISQUEUED: Damage[2] = ['entry_misplaced queue', 'entry_misplaced queue/work'];

const DAMAGES: Damage[] = [
  ['not in the jobs of its space', remove('jobs'), ['entry_missing jobs']],
  ['at a wrong place in the jobs of its space', move(-5, 'jobs'), ['entry_misplaced jobs']],
  ...(['pending', 'killed'] as const).map((status): Damage => {
    const unlist: Harm = ({ redis, at }) => redis.del(at('{spaces}'));
    return [`${status}, and in a space that is not listed`, unlist, ['space_missing {spaces}'], [status]];
  }),
  ['newer than the last order of its space', setLastOrder(5), ['space_behind {spaces}']],
  ['in a space whose order is at its maximum', setLastOrder('inf'), ['space_ahead {spaces}']],
  [
    'retried, in no queue, and in a space whose order is at its maximum',
    inTurn(retry, remove(...QUEUES), setLastOrder('inf')),
    [...NOT_QUEUED, 'space_ahead {spaces}'],
    RETRIED,
  ],
  ...STATUSES.flatMap((status): Damage[] => {
    const [own, other] = [`status/${status}`, `status/${status === 'dead' ? 'killed' : 'dead'}`];
    return [
      [`${status}, and not in the index of its status`, remove(own), [`entry_missing ${own}`], [status]],
      [`${status}, and also in the index of another status`, put(other), [`entry_wrong ${other}`], [status]],
      [`${status}, and at a wrong place in the index of its status`, put(own), [`entry_misplaced ${own}`], [status]],
    ];
  }),
  ['pending, and not in the queue', remove('queue'), ['entry_missing queue']],
  ['pending, and not in the queue of its name', remove('queue/work'), ['entry_missing queue/work']],
  ['pending, and in no queue', remove(...QUEUES), NOT_QUEUED],
  ['retried, and in no queue', inTurn(retry, remove(...QUEUES)), NOT_QUEUED, RETRIED],
  [
    'retried, and at a wrong place in the queue of its name',
    inTurn(retry, move(7, 'queue/work')),
    ['entry_misplaced queue/work'],
    RETRIED,
  ],
  ['pending, and too early in the queue', put('queue'), ['entry_misplaced queue']],
  ['rescheduled, and in no queue', inTurn(call('reschedule', { delaySeconds: 0 }), remove(...QUEUES)), NOT_QUEUED],
  [
    'released after a failed attempt, and not at its place by creation',
    inTurn(retry, claim, call('release', {}), move(1, ...QUEUES)),
    MISQUEUED,
  ],
  ['pending with a head start, and in no queue', remove(...QUEUES), NOT_QUEUED, AHEAD],
  ...([HEAD_START_S, -HEAD_START_S] as const).map(
    (priority): Damage => [
      `released, and in its queues without its head start of ${priority} s`,
      inTurn(claim, call('release', {}), move(priority * 1_024_000, ...QUEUES)),
      MISQUEUED,
      ['pending', { priority }],
    ],
  ),
  ['retried, and in its queues without its head start', inTurn(retry, move(HEAD_START, ...QUEUES)), MISQUEUED, AHEAD],
  [
    'pending with a head start, and in the queue of its name at the place of another one',
    move(-1_024_000, 'queue/work'),
    ['entry_misplaced queue/work'],
    AHEAD,
  ],
  ...([['scheduled'], ['pending', START]] satisfies Damage[3][]).flatMap((job): Damage[] => [
    [`${job[0]}, and waits for no time`, remove('{due}'), ['entry_missing {due}'], job],
    [`${job[0]}, and waits for a wrong time`, move(-1, '{due}'), ['entry_misplaced {due}'], job],
  ]),
  [
    'scheduled for after the end of its time to start, and waits for the schedule only',
    inTurn(claim, call('release', { delaySeconds: 7_200 }), move(3_600_000, '{due}')),
    ['entry_misplaced {due}'],
    ['pending', START],
  ],
  ['delivered, and waits for a wrong time', move(-1, '{due}'), ['entry_misplaced {due}'], ['delivered', START]],
  ...(['pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const).map(
    (status): Damage => [`${status}, and waits for a time`, put('{due}', FAR), ['entry_wrong {due}'], [status]],
  ),
  [
    'acked, and still waits for the end of its time to start',
    put('{due}', FAR),
    ['entry_wrong {due}'],
    ['running', START],
  ],
  [
    'running, and is due long after the end of its run',
    move(3_600_000, '{deadlines}'),
    ['deadline_late {deadlines}'],
    ['running', { timeoutSeconds: 86_400, maxRunSeconds: 1 }],
  ],
  ...(['scheduled', 'delivered', 'running', 'killed'] as const).map(
    (status): Damage => [`${status}, and in the queue`, put('queue'), ['entry_wrong queue'], [status]],
  ),
  ...(['scheduled', 'pending'] as const).map(
    (status): Damage => [
      `${status}, and has a deadline`,
      put('{deadlines}', FAR),
      ['entry_wrong {deadlines}'],
      [status],
    ],
  ),
  ...(['delivered', 'running', 'completed', 'dead', 'killed'] as const).map(
    (status): Damage => [
      `${status}, and has no deadline`,
      remove('{deadlines}'),
      ['deadline_missing {deadlines}'],
      [status],
    ],
  ),
  ...(['delivered', 'running'] as const).map((status): Damage => {
    const title = `${status}, and has a deadline in a hundred years`;
    return [title, put('{deadlines}', FAR), ['deadline_late {deadlines}'], [status]];
  }),
  ...(['completed', 'dead', 'killed'] as const).map((status): Damage => {
    const fields = { ...HOOK, callbackOn: ['completed', 'dead', 'killed'] };
    const title = `${status}, and has lost its pending callback`;
    return [title, remove('{callbacks}'), ['callback_forgotten {callbacks}'], [status, fields]];
  }),
  [
    'completed, and has lost the retry of its callback',
    async ({ redis, at, id }) => {
      await redis.hset(at(`{job:${id}}`), { callbackAttempts: 1, callbackDueAt: FAR });
      const events = ['delivered', 'acked', 'completed', 'callback_failed'].map((type) => `["${type}",1]`);
      await redis.rpush(at(`{job:${id}:events}`), ...events);
      await changeState(redis, at(`{job:${id}}`), { seq: 5, flags: '-ch' });
      await redis.zrem(at('{callbacks}'), id);
    },
    ['callback_forgotten {callbacks}'],
    ['completed', HOOK],
  ],
  [
    'completed, and has a pending callback that its producer does not want',
    put('{callbacks}', FAR),
    ['entry_wrong {callbacks}'],
    ['completed', { ...HOOK, callbackOn: ['dead', 'killed'] }],
  ],
  ...(['scheduled', 'pending', 'running', 'killed'] as const).map((status): Damage => {
    const title = `${status}, and has a pending callback`;
    return [title, put('{callbacks}', FAR), ['entry_wrong {callbacks}'], [status, HOOK]];
  }),
  [
    'completed, and has a pending callback without a callback URL',
    put('{callbacks}', FAR),
    ['entry_wrong {callbacks}'],
    ['completed'],
  ],
  ['in the queue of another name', put('queue/rest'), ['entry_stray queue/rest']],
];

it('fsck does not move the last order of a space into the future for a job that is behind others', async () => {
  const { store, redis } = service;
  const id = await jobIn(service, 'pending', 'damaged', { priority: -600 });
  const spaces = store.keys.spaces(partitionOf('damaged'));
  await redis.del(spaces);
  expect((await check(store, true)).short.map(([kind, jobId]) => [kind, jobId])).toEqual([['space_missing', null]]);
  expect(Number(await redis.zscore(spaces, 'damaged'))).toBeLessThanOrEqual((await redisNow(store)) * 1024);
  await step(service, id, 'kill');
});

/** A space in each partition. */
const SPACES = new Map<string, string>();
for (let n = 0; SPACES.size < PARTITION_TAGS.length; n++) SPACES.set(partitionOf(`damaged-${n}`), `damaged-${n}`);

/** As many damages at once as there are partitions, because some concern a whole partition. */
const rounds = Array.from({ length: Math.ceil(DAMAGES.length / SPACES.size) }, (_, n) =>
  DAMAGES.slice(n * SPACES.size, (n + 1) * SPACES.size),
);

it.each(rounds.map((damages) => ({ damages })))(
  'fsck repairs all faults of damaged jobs, after which they work, round %#',
  async ({ damages }) => {
    const { store, redis } = service;
    const spaces = [...SPACES.values()];
    /** What was done to a partition, by its tag, so that a failure names it. */
    const titles = new Map<string, string>();
    const jobs: { id: string; status: Status; space: string }[] = [];
    const expected: Short[] = [];
    for (const [n, [title, harm, faults, job]] of damages.entries()) {
      const [status, fields = {}] = job ?? ['pending'];
      const space = spaces[n] as string;
      const tag = `{${partitionOf(space)}}`;
      const pathOf = (index: string) =>
        index.startsWith('{') ? `${tag}:${index.slice(1, -1)}` : `${tag}:space:${space}/${index}`;
      titles.set(tag, title);
      const id = await jobIn(service, status, space, fields);
      await harm({ id, space, redis, at: (index) => `${service.prefix}:${pathOf(index)}` });
      jobs.push({ id, status, space });
      for (const fault of faults) {
        const [kind = '', index = ''] = fault.split(' ');
        expected.push([kind, kind.startsWith('space_') ? null : id, pathOf(index), 'possible']);
      }
    }
    await expectRepaired(store, expected, { titles });

    for (const { id, status, space } of jobs) {
      const title = titles.get(`{${partitionOf(space)}}`);
      const [verb, body] = NEXT[status];
      const response = await service.call('POST', `/jobs/${id}/${verb}`, { body });
      expect([title, response.status]).toEqual([title, status === 'completed' || status === 'dead' ? 409 : 200]);
      // Nothing of it is left to be handed out.
      await service.call('POST', `/jobs/${id}/kill`);
      const poll = await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 50 } });
      expect([title, poll.body.jobs]).toEqual([title, []]);
    }
    expect((await check(store)).short).toEqual([]);
  },
);
