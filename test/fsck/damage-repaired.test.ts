import { expect, it } from '@jest/globals';
import { STATUSES, type Status } from '@yardmaster/protocol';
import { partitionOf, redisNow } from '@yardmaster/store';
import { jobIn, step } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { check, expectRepaired, type Short } from './checking.js';

// No scheduler: what is damaged stays so until it is checked.
const service = withService({}, { app: 'api', isOwn: true });

const HOOK = { callbackUrl: 'https://example.com/hook' };
const FAR = 9_000_000_000_000;
const QUEUES = ['queue', 'queue/work'] as const;
const AHEAD = { priority: 600 };
const START = { startWithinSeconds: 3_600 };

/** Where a job stands, and a connection to do damage with. */
interface Site {
  id: string;
  /** Keys of its space, e.g. `queue`. */
  space: (index: string) => string;
  /** Keys of its partition, e.g. `deadlines`. */
  own: (key: string) => string;
  redis: TestService['redis'];
}

interface Damage {
  title: string;
  /** Where the job is before. Default pending. */
  status?: Status;
  fields?: Record<string, unknown>;
  harm: (site: Site) => Promise<unknown>;
  /** Kind and key of each fault; `queue` stands for that of the space, `{deadlines}` for that of the partition. */
  faults: [kind: string, key: string][];
  /** Whether they are about no job. */
  ofNoJob?: boolean;
  /** A fault of the space beside them. */
  alsoSpace?: string;
}

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

const retried = async ({ id }: Site) => {
  for (const [verb, body] of [['claim'], ['ack'], ['fail', { error: 'no' }]] as const) {
    expect((await service.call('POST', `/jobs/${id}/${verb}`, { body })).status).toBe(200);
  }
};

const DAMAGES: Damage[] = [
  {
    title: 'not in the jobs of its space',
    harm: ({ redis, space, id }) => redis.zrem(space('jobs'), id),
    faults: [['entry_missing', 'jobs']],
  },
  {
    title: 'at a wrong place in the jobs of its space',
    harm: ({ redis, space, id }) => redis.zincrby(space('jobs'), -5, id),
    faults: [['entry_misplaced', 'jobs']],
  },
  {
    title: 'in a space that is not listed',
    harm: ({ redis, own }) => redis.del(own('spaces')),
    faults: [['space_missing', '{spaces}']],
    ofNoJob: true,
  },
  {
    title: 'killed, and in a space that is not listed',
    status: 'killed',
    harm: ({ redis, own }) => redis.del(own('spaces')),
    faults: [['space_missing', '{spaces}']],
    ofNoJob: true,
  },
  {
    title: 'newer than the last order of its space',
    harm: ({ redis, own }) => redis.zadd(own('spaces'), 'XX', 5, 'damaged'),
    faults: [['space_behind', '{spaces}']],
    ofNoJob: true,
  },
  {
    title: 'in a space whose order is at its maximum',
    harm: ({ redis, own }) => redis.zadd(own('spaces'), 'inf', 'damaged'),
    faults: [['space_ahead', '{spaces}']],
    ofNoJob: true,
  },
  {
    title: 'retried, in no queue, and in a space whose order is at its maximum',
    fields: { maxRetries: 1 },
    harm: async (site) => {
      await retried(site);
      await site.redis.del(site.space('queue'), site.space('queue/work'));
      await site.redis.zadd(site.own('spaces'), 'inf', 'damaged');
    },
    faults: [
      ['entry_missing', 'queue'],
      ['entry_missing', 'queue/work'],
    ],
    alsoSpace: 'space_ahead',
  },
  ...STATUSES.flatMap((status): Damage[] => [
    {
      title: `${status}, and not in the index of its status`,
      status,
      harm: ({ redis, space, id }) => redis.zrem(space(`status/${status}`), id),
      faults: [['entry_missing', `status/${status}`]],
    },
    {
      title: `${status}, and also in the index of another status`,
      status,
      harm: ({ redis, space, id }) => redis.zadd(space(`status/${status === 'dead' ? 'killed' : 'dead'}`), 1, id),
      faults: [['entry_wrong', `status/${status === 'dead' ? 'killed' : 'dead'}`]],
    },
    {
      title: `${status}, and at a wrong place in the index of its status`,
      status,
      harm: ({ redis, space, id }) => redis.zadd(space(`status/${status}`), 1, id),
      faults: [['entry_misplaced', `status/${status}`]],
    },
  ]),
  {
    title: 'pending, and not in the queue',
    harm: ({ redis, space, id }) => redis.zrem(space('queue'), id),
    faults: [['entry_missing', 'queue']],
  },
  {
    title: 'pending, and not in the queue of its name',
    harm: ({ redis, space, id }) => redis.zrem(space('queue/work'), id),
    faults: [['entry_missing', 'queue/work']],
  },
  {
    title: 'pending, and in no queue',
    harm: async ({ redis, space, id }) => [
      await redis.zrem(space('queue'), id),
      await redis.zrem(space('queue/work'), id),
    ],
    faults: [
      ['entry_missing', 'queue'],
      ['entry_missing', 'queue/work'],
    ],
  },
  {
    title: 'retried, and in no queue',
    fields: { maxRetries: 1 },
    harm: async (site) => {
      await retried(site);
      await site.redis.del(site.space('queue'), site.space('queue/work'));
    },
    faults: [
      ['entry_missing', 'queue'],
      ['entry_missing', 'queue/work'],
    ],
  },
  {
    title: 'retried, and at a wrong place in the queue of its name',
    harm: async (site) => {
      await retried(site);
      await site.redis.zincrby(site.space('queue/work'), 7, site.id);
    },
    faults: [['entry_misplaced', 'queue/work']],
  },
  {
    title: 'pending, and too early in the queue',
    harm: ({ redis, space, id }) => redis.zadd(space('queue'), 1, id),
    faults: [['entry_misplaced', 'queue']],
  },
  ...(['scheduled', 'pending'] as const).map(
    (status): Damage => ({
      title: `${status}, and has a deadline`,
      status,
      harm: ({ redis, own, id }) => redis.zadd(own('deadlines'), FAR, id),
      faults: [['entry_wrong', '{deadlines}']],
    }),
  ),
  {
    title: 'rescheduled, and in no queue',
    harm: async (site) => {
      await step(service, site.id, 'reschedule', { delaySeconds: 0 });
      await site.redis.del(site.space('queue'), site.space('queue/work'));
    },
    faults: [
      ['entry_missing', 'queue'],
      ['entry_missing', 'queue/work'],
    ],
  },
  {
    title: 'released after a failed attempt, and not at its place by creation',
    harm: async (site) => {
      await retried(site);
      await step(service, site.id, 'claim');
      await step(service, site.id, 'release', {});
      for (const queue of QUEUES) await site.redis.zincrby(site.space(queue), 1, site.id);
    },
    faults: QUEUES.map((queue) => ['entry_misplaced', queue]),
  },
  {
    title: 'pending with a head start, and in no queue',
    fields: AHEAD,
    harm: ({ redis, space }) => redis.del(space('queue'), space('queue/work')),
    faults: QUEUES.map((queue) => ['entry_missing', queue]),
  },
  ...([600, -600] as const).map(
    (priority): Damage => ({
      title: `returned to its queues without its head start of ${priority} s, as by an earlier release`,
      fields: { priority },
      harm: async ({ redis, space, id }) => {
        await step(service, id, 'claim');
        await step(service, id, 'release', {});
        for (const queue of QUEUES) await redis.zincrby(space(queue), priority * 1_024_000, id);
      },
      faults: QUEUES.map((queue) => ['entry_misplaced', queue]),
    }),
  ),
  {
    title: 'retried, and in its queues without its head start, as by an earlier release',
    fields: AHEAD,
    harm: async (site) => {
      await retried(site);
      for (const queue of QUEUES) await site.redis.zincrby(site.space(queue), AHEAD.priority * 1_024_000, site.id);
    },
    faults: QUEUES.map((queue) => ['entry_misplaced', queue]),
  },
  {
    title: 'pending with a head start, and in its queues at the place of another one',
    fields: AHEAD,
    harm: ({ redis, space, id }) => redis.zincrby(space('queue/work'), -1_024_000, id),
    faults: [['entry_misplaced', 'queue/work']],
  },
  ...(
    [
      ['scheduled', {}],
      ['pending', START],
    ] as const
  ).flatMap(([status, fields]): Damage[] => [
    {
      title: `${status}, and waits for no time`,
      status,
      fields,
      harm: ({ redis, own, id }) => redis.zrem(own('due'), id),
      faults: [['entry_missing', '{due}']],
    },
    {
      title: `${status}, and waits for a wrong time`,
      status,
      fields,
      harm: ({ redis, own, id }) => redis.zincrby(own('due'), -1, id),
      faults: [['entry_misplaced', '{due}']],
    },
  ]),
  {
    title: 'scheduled for after the end of its time to start, and waits for the schedule only',
    fields: START,
    harm: async ({ redis, own, id }) => {
      await step(service, id, 'claim');
      await step(service, id, 'release', { delaySeconds: 7_200 });
      await redis.zincrby(own('due'), 3_600_000, id);
    },
    faults: [['entry_misplaced', '{due}']],
  },
  {
    title: 'delivered, and waits for a wrong time',
    status: 'delivered',
    fields: START,
    harm: ({ redis, own, id }) => redis.zincrby(own('due'), -1, id),
    faults: [['entry_misplaced', '{due}']],
  },
  ...(['pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const).map(
    (status): Damage => ({
      title: `${status}, and waits for a time`,
      status,
      harm: ({ redis, own, id }) => redis.zadd(own('due'), FAR, id),
      faults: [['entry_wrong', '{due}']],
    }),
  ),
  {
    title: 'acked, and still waits for the end of its time to start',
    status: 'running',
    fields: START,
    harm: ({ redis, own, id }) => redis.zadd(own('due'), FAR, id),
    faults: [['entry_wrong', '{due}']],
  },
  {
    title: 'running, and is due long after the end of its run',
    status: 'running',
    fields: { timeoutSeconds: 86_400, maxRunSeconds: 1 },
    harm: ({ redis, own, id }) => redis.zincrby(own('deadlines'), 3_600_000, id),
    faults: [['deadline_late', '{deadlines}']],
  },
  ...(['scheduled', 'delivered', 'running', 'killed'] as const).map(
    (status): Damage => ({
      title: `${status}, and in the queue`,
      status,
      harm: ({ redis, space, id }) => redis.zadd(space('queue'), 1, id),
      faults: [['entry_wrong', 'queue']],
    }),
  ),
  ...(['delivered', 'running', 'completed', 'dead', 'killed'] as const).map(
    (status): Damage => ({
      title: `${status}, and has no deadline`,
      status,
      harm: ({ redis, own, id }) => redis.zrem(own('deadlines'), id),
      faults: [['deadline_missing', '{deadlines}']],
    }),
  ),
  ...(['delivered', 'running'] as const).map(
    (status): Damage => ({
      title: `${status}, and has a deadline in a hundred years`,
      status,
      harm: ({ redis, own, id }) => redis.zadd(own('deadlines'), FAR, id),
      faults: [['deadline_late', '{deadlines}']],
    }),
  ),
  ...(['completed', 'dead', 'killed'] as const).map(
    (status): Damage => ({
      title: `${status}, and has lost its pending callback`,
      status,
      fields: { ...HOOK, callbackOn: ['completed', 'dead', 'killed'] },
      harm: ({ redis, own, id }) => redis.zrem(own('callbacks'), id),
      faults: [['callback_forgotten', '{callbacks}']],
    }),
  ),
  {
    title: 'completed, and has lost the retry of its callback',
    status: 'completed',
    fields: HOOK,
    harm: async ({ redis, own, id }) => {
      await redis.hset(own(`job:${id}`), { callbackAttempts: 1, callbackDueAt: FAR });
      const events = ['delivered', 'acked', 'completed', 'callback_failed'].map((type) => `["${type}",1]`);
      await redis.rpush(own(`job:${id}:events`), ...events);
      await redis.zrem(own('callbacks'), id);
    },
    faults: [['callback_forgotten', '{callbacks}']],
  },
  {
    title: 'completed, and has a pending callback that its producer does not want',
    status: 'completed',
    fields: { ...HOOK, callbackOn: ['dead', 'killed'] },
    harm: ({ redis, own, id }) => redis.zadd(own('callbacks'), FAR, id),
    faults: [['entry_wrong', '{callbacks}']],
  },
  ...(['scheduled', 'pending', 'running', 'killed'] as const).map(
    (status): Damage => ({
      title: `${status}, and has a pending callback`,
      status,
      fields: HOOK,
      harm: ({ redis, own, id }) => redis.zadd(own('callbacks'), FAR, id),
      faults: [['entry_wrong', '{callbacks}']],
    }),
  ),
  {
    title: 'completed, and has a pending callback without a callback URL',
    status: 'completed',
    harm: ({ redis, own, id }) => redis.zadd(own('callbacks'), FAR, id),
    faults: [['entry_wrong', '{callbacks}']],
  },
  {
    title: 'in the queue of another name',
    harm: ({ redis, space, id }) => redis.zadd(space('queue/rest'), 1, id),
    faults: [['entry_stray', 'queue/rest']],
  },
];

const pathOf = (key: string, partition: string) =>
  key.startsWith('{') ? `{${partition}}:${key.slice(1, -1)}` : `{${partition}}:space:damaged/${key}`;

it('fsck does not move the last order of a space into the future for a job behind others', async () => {
  const { store, redis } = service;
  const id = await jobIn(service, 'pending', 'damaged', { priority: -600 });
  const spaces = store.keys.spaces(partitionOf('damaged'));
  await redis.del(spaces);
  expect((await check(store, true)).short.map(([kind, jobId]) => [kind, jobId])).toEqual([['space_missing', null]]);
  expect(Number(await redis.zscore(spaces, 'damaged'))).toBeLessThanOrEqual((await redisNow(store)) * 1024);
  await step(service, id, 'kill');
});

it.each(DAMAGES)(
  'fsck repairs all faults of a job that is $title, and the job works again',
  async ({ status = 'pending', fields = {}, harm, faults, ofNoJob, alsoSpace }) => {
    const { store, redis } = service;
    const partition = partitionOf('damaged');
    const base = store.keys.baseOf(partition);
    const id = await jobIn(service, status, 'damaged', fields);
    const own = (key: string) => base + key;
    await harm({ id, redis, own, space: (index) => `${base}space:damaged/${index}` });

    const expected = [...faults, ...(alsoSpace ? [[alsoSpace, '{spaces}'] as const] : [])]
      .map(
        ([kind, key]): Short => [kind, ofNoJob || kind === alsoSpace ? null : id, pathOf(key, partition), 'possible'],
      )
      .sort();
    await expectRepaired(store, expected);

    const [verb, body] = NEXT[status];
    const response = await service.call('POST', `/jobs/${id}/${verb}`, { body });
    expect(response.status).toBe(status === 'completed' || status === 'dead' ? 409 : 200);
    // Nothing of it is left to be handed out.
    await service.call('POST', `/jobs/${id}/kill`);
    expect((await service.call('POST', '/spaces/damaged/jobs/poll', { body: { count: 50 } })).body.jobs).toEqual([]);
    expect((await check(store)).short).toEqual([]);
  },
);
