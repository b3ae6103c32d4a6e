import { beforeAll, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { ENDPOINTS } from './endpoints.js';

// A Redis of its own, and the API alone, so that only the calls send commands to Redis.
const redis = withRedis();
const service = withService({}, { redis, app: 'api' });

const SPACE = 'counted';
const callback = { callbackUrl: 'http://callback.example/' };

/** Create jobs to poll in a space that has no others. */
const pending = (spaceId: string, count: number) => async () => {
  await Promise.all(Array.from({ length: count }, () => createJob(service, spaceId)));
  return '';
};
const job =
  (status: Parameters<typeof jobIn>[1], fields = {}) =>
  () =>
    jobIn(service, status, SPACE, fields);

/** Create a delivered job that was not acked when it was delivered before. */
const unacked = async () => {
  const id = await jobIn(service, 'delivered', SPACE);
  await service.redis.hset(service.store.keys.job(id), 'deliveryTimeouts', 1);
  return id;
};

const occupied = () => jobIn(service, 'pending', SPACE, { unique: { key: 'k2' } });

/** Prepares what a call needs. @returns the id of its job; '' when it needs none */
type Prepare = () => Promise<string>;
type Row = [name: string, call: string, prepare: Prepare, commands: string, body?: unknown];

/** Make the row of a call on a job. @param name a verb, and more words after a comma where needed */
const ofJob = (name: string, ...rest: [Prepare, string, unknown?]): Row => [
  ...([name, `POST /jobs/:jobId/${name.split(',')[0]}`] as const),
  ...rest,
];
/**
 * Return the commands of an act, which the audit records: the script with XTRIM and XADD, and an HGET of the space of a job,
 * since the key of this test is bound to none.
 */
const audited = (commands: string, isOfJob = true): string => {
  const counts = new Map(commands.split(', ').map((each) => each.split(' ') as [string, string]));
  for (const name of ['evalsha', ...(isOfJob ? ['hget'] : []), 'time', 'xadd', 'xtrim'])
    counts.set(name, `${Number(counts.get(name) ?? 0) + 1}`);
  const place = (name: string) => (name === 'evalsha' ? '' : name);
  const sorted = [...counts].sort(([a], [b]) => (place(a) < place(b) ? -1 : 1));
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
};
const none = async () => '';
const noOperation = async () => {
  await service.redis.del(service.store.keys.operationsOf(SPACE));
  return '';
};
const JOBS = `POST /spaces/${SPACE}/jobs`;
const CREATE = 'evalsha 1, hset 1, publish 2, time 1, zadd 5, zincrby 1';
const FOR_LATER = 'evalsha 1, hset 2, publish 1, time 1, zadd 4, zincrby 1';
const POLL = 'evalsha 1, exists 1, hgetall 1, hset 1, publish 2, time 1, zadd 2, zpopmin 1, zrem 2';
const POLL_50 = 'evalsha 1, exists 1, hgetall 50, hset 50, publish 100, time 1, zadd 100, zpopmin 50, zrem 100';
const CLAIM = 'evalsha 1, exists 1, hgetall 1, hset 1, publish 2, time 1, zadd 2, zrem 3';
const MOVED = 'evalsha 1, hmget 1, hset 1, publish 2, rpushx 1, time 1';
const KILLED = 'evalsha 1, hget 1, hmget 2, hset 1, publish 2, rpush 1, rpushx 1, time 1';
const HEARTBEAT = 'evalsha 1, hmget 2, hset 1, publish 2, rpush 1, rpushx 2, time 1, zadd 1, zrem 1';
const RETRIED = 'evalsha 1, hdel 1, hmget 2, hset 1, publish 3, rpush 1, rpushx 1, time 1, zadd 4, zrem 2';
const RELEASED = 'evalsha 1, hdel 1, hmget 2, hset 1, publish 3, rpush 1, rpushx 1, time 1, zadd 3, zrem 2';
const DEAD = 'evalsha 1, hget 1, hmget 3, hset 1, publish 2, rpush 1, rpushx 1, time 1, zadd 2, zrem 1';
const OWING = 'evalsha 1, hmget 1, hset 1, publish 3, rpushx 1, time 1, zadd 3, zrem 1';
const REDELIVERED = 'evalsha 1, hdel 1, hmget 2, hset 1, publish 1, time 1, zadd 1';
const LOGS = 'evalsha 1, hget 1, hmget 1, publish 2, rpush 1, time 1';
const STATISTICS = 'evalsha 1, hget 2, hgetall 1, time 1, zcard 11, zrange 2, zrevrange 1';
const TURN =
  'evalsha 1, exists 1, hget 1, hgetall 1, hmget 1, hset 2, pubsub 1, rpushx 1, time 1, zadd 4, zpopmin 1, zrem 3';
const SETTLE_50 = 'evalsha 1, hget 1, hmget 50, hset 50, pubsub 1, rpushx 50, time 1, zadd 2, zrem 2';
const TURNS = 'POST /spaces/turns/jobs';
let toSettle: { jobId: string; action: string }[] = [];
/** Start the attempts of jobs that the next call completes. */
const running = async (count: number) => {
  const ids = await Promise.all(Array.from({ length: count }, () => jobIn(service, 'running', 'turns')));
  toSettle = ids.map((jobId) => ({ jobId, action: 'complete' }));
  return '';
};
const turn = async () => {
  await running(1);
  return pending('turns', 1)();
};
const fifty = () => running(50);
const ofTurn = () => ({ settle: toSettle });
const ofFifty = () => ({ outcomes: toSettle });
const LATER = { name: 'work', delaySeconds: 60 };
const LATER_AGAIN = 'evalsha 1, hdel 1, hmget 2, hset 2, publish 2, rpush 1, rpushx 1, time 1, zadd 2, zrem 2';
const RESCHEDULED = 'evalsha 1, hdel 1, hmget 1, hset 1, publish 3, rpush 1, rpushx 1, time 1, zadd 4, zrem 3';
const PUT_OFF = 'evalsha 1, hmget 1, hset 2, publish 2, rpush 1, rpushx 1, time 1, zadd 2, zrem 4';
const REQUEUED = 'evalsha 1, hdel 2, hmget 1, hset 1, publish 3, rpushx 1, time 1, zadd 4, zrem 4';
const REQUEUED_LATER = 'evalsha 1, hdel 2, hmget 1, hset 2, publish 2, rpushx 1, time 1, zadd 2, zrem 4';
const COPIED = 'evalsha 1, hget 1, hgetall 1, hmget 2, hset 1, publish 2, time 1, zadd 5, zincrby 1';
const DELETED = 'evalsha 1, hmget 1, time 1, unlink 1, zcard 1, zincrby 1, zrem 4, zscore 1';
const OPERATION =
  'evalsha 2, exists 1, hget 1, hgetall 1, hset 1, pexpire 2, time 1, zadd 2, zcount 1, zrange 1, zscore 1';
const listOf = (count: number, fields = {}) =>
  Array.from({ length: count }, () => ({ name: 'work', payload: { n: 1 }, ...fields }));
const everything = { name: 'work', payload: { n: 1 }, maxRetries: 1, timeoutSeconds: 5, ...callback };

/**
 * Every call of a producer or a worker, with the commands that Redis runs for it: their names, and how often. Calls
 * whose work depends on what they find have several rows. The API sends `evalsha`, in one round trip, and the script
 * calls all other commands of that row. An intended change of a script changes this table with it, and nothing else. A
 * failing test shows the row as it is now.
 */
const CALLS: Row[] = [
  ['create', JOBS, none, CREATE, { name: 'work', payload: { n: 1 } }],
  ['create, with everything', JOBS, none, CREATE, { ...everything, callbackHeaders: { a: 'b' } }],
  [
    'create, with a unique key',
    JOBS,
    none,
    `${CREATE.replace('hset 1', 'hget 1, hset 2')}`,
    { name: 'work', unique: { key: 'k' } },
  ],
  [
    'create, with an occupied unique key',
    JOBS,
    occupied,
    'evalsha 1, hget 1, hmget 2, time 1',
    { name: 'work', unique: { key: 'k2' } },
  ],
  ['create, a list of 1', JOBS, none, 'evalsha 1, hset 1, publish 1, pubsub 1, time 1, zadd 6, zincrby 1', listOf(1)],
  [
    'create, a list of 100',
    JOBS,
    none,
    'evalsha 1, hset 100, publish 1, pubsub 1, time 1, zadd 6, zincrby 1',
    listOf(100),
  ],
  [
    'create, a list of 101',
    JOBS,
    none,
    'evalsha 2, hset 101, publish 2, pubsub 2, time 2, zadd 12, zincrby 2',
    listOf(101),
  ],
  [
    'create, a list of 100 with priority',
    JOBS,
    none,
    'evalsha 1, hset 100, pubsub 1, time 1, zadd 5, zincrby 1, zscore 1',
    listOf(100, { priority: 5 }),
  ],
  ['poll 1', 'POST /spaces/poll/jobs/poll', pending('poll', 3), POLL, { count: 1 }],
  ['poll 1, by name', 'POST /spaces/by-name/jobs/poll', pending('by-name', 3), POLL, { types: ['work'] }],
  ['poll 50', 'POST /spaces/poll-50/jobs/poll', pending('poll-50', 53), POLL_50, { count: 50 }],
  ['empty poll', 'POST /spaces/empty/jobs/poll', none, 'evalsha 1, exists 1, time 1, zpopmin 1', { count: 1 }],
  [
    'empty poll, by name',
    'POST /spaces/empty/jobs/poll',
    none,
    'evalsha 1, exists 1, time 1, zpopmin 1',
    { types: ['work'] },
  ],
  ['poll that may wait', 'POST /spaces/wait/jobs/poll', pending('wait', 1), POLL, { waitSeconds: 20 }],
  ['turn: complete one job, and claim one', `${TURNS}/poll`, turn, TURN, ofTurn],
  ['settle: complete 50 jobs', `${TURNS}/settle`, fifty, SETTLE_50, ofFifty],
  ofJob('claim', job('pending'), CLAIM),
  ofJob('ack', job('delivered'), `${MOVED}, zadd 2, zrem 1`),
  ofJob('ack, after a delivery time-out', unacked, `${MOVED.replace('hmget', 'hdel 1, hmget')}, zadd 2, zrem 1`),
  ofJob('progress', job('running'), HEARTBEAT, { percent: 1, message: 'x' }),
  ofJob('keepalive', job('running'), 'evalsha 1, hmget 1, hset 1, time 1, zadd 1, zrem 1'),
  ofJob('checkpoint', job('running'), HEARTBEAT, { at: 1 }),
  ofJob('event', job('running'), HEARTBEAT, 'seen'),
  ofJob('logs, one entry', job('running'), LOGS, ['a line']),
  ofJob('logs, ten entries', job('running'), LOGS, Array(10).fill('a line')),
  ofJob('complete', job('running'), `${MOVED}, zadd 2, zrem 1`, { result: 1 }),
  ofJob('complete, with a callback', job('running', callback), OWING, { result: 1 }),
  ofJob('fail, to be tried again', job('running'), RETRIED, { error: 'x' }),
  ofJob('fail, for good', job('running', { maxRetries: 0 }), DEAD, { error: 'x' }),
  ofJob('release', job('running'), RELEASED, { reason: 'x' }),
  ofJob('kill, of a pending job', job('pending'), audited(`${KILLED.replace('hmget 2', 'hmget 1')}, zadd 2, zrem 3`)),
  ofJob('kill, of a running job', job('running'), audited(`${KILLED}, zadd 2, zrem 1`)),
  ['create, for later', JOBS, none, FOR_LATER, LATER],
  ['create, with priority', JOBS, none, CREATE, { name: 'work', priority: 5 }],
  ['create, with tags', JOBS, none, CREATE.replace('zadd 5', 'zadd 7'), { name: 'work', tags: ['a', 'b'] }],
  ofJob('fail, with a delay', job('running'), LATER_AGAIN, { error: 'x', retryAfterSeconds: 60 }),
  ofJob('release, with a delay', job('running'), LATER_AGAIN, { delaySeconds: 60 }),
  ofJob('reschedule, of a pending job', job('pending'), PUT_OFF, { delaySeconds: 60 }),
  ofJob('reschedule, of a scheduled job', job('scheduled'), RESCHEDULED, { delaySeconds: 0 }),
  ofJob('requeue, of a dead job', job('dead'), audited(REQUEUED)),
  ofJob('requeue, with a delay', job('killed'), audited(REQUEUED_LATER), { delaySeconds: 60 }),
  ofJob('copy', job('completed'), COPIED),
  ['delete', 'DELETE /jobs/:jobId', job('completed'), audited(DELETED)],
  ofJob('callback/redeliver', job('completed', callback), REDELIVERED),
  [
    'pause',
    'POST /spaces/few/pause',
    none,
    audited('evalsha 1, hdel 1, hgetall 1, hset 1, time 1, zadd 1, zrem 1', false),
    { names: ['x'] },
  ],
  [
    'resume',
    'POST /spaces/few/resume',
    none,
    audited('evalsha 1, exists 1, hdel 2, hgetall 2, hset 1, publish 1, zrangebyscore 1', false),
  ],
  ['progress that is read', 'GET /jobs/:jobId/progress', job('running'), 'hmget 1'],
  // The schedulers change the jobs. The second script reads the operation for the response.
  [
    'operation',
    `POST /spaces/${SPACE}/operations`,
    noOperation,
    audited(OPERATION, false),
    { action: 'requeue', filter: { status: 'dead' } },
  ],
  ['statistics of 5 jobs', 'GET /spaces/few/stats', pending('few', 5), STATISTICS],
  ['statistics of 500 jobs', 'GET /spaces/many/stats', pending('many', 500), STATISTICS],
];

/** The calls of workers that send a delivery token, which takes no command more. */
const CALLS_WITH_TOKEN: Row[] = CALLS.flatMap(([name, call, prepare, commands, body]) => {
  const [verb = ''] = name.split(/,| with/);
  if (!['ack', 'progress', 'keepalive', 'checkpoint', 'event', 'complete', 'fail', 'release'].includes(verb)) return [];
  return [[`${name}, with a token`, call, prepare, commands, body]];
});

/** What the connections of the API send by themselves, and what this test sends. */
const IGNORED = ['ping', 'time', 'info', 'echo'];

/** Return the commands that Redis runs during `act`, as a row of the table: what the API sends first, then by name. */
async function commandsOf(act: () => Promise<void>): Promise<string> {
  const monitor = await service.redis.monitor();
  const counts = new Map<string, number>();
  try {
    const isSeen = new Promise<void>((resolve) => {
      monitor.on('monitor', (_time: string, [name = '', text]: string[], source: string) => {
        const command = name.toLowerCase();
        if (command === 'echo' && text === 'seen') resolve();
        // The same TIME comes from a script, and every second from each connection.
        if (source === 'lua' || !IGNORED.includes(command)) counts.set(command, (counts.get(command) ?? 0) + 1);
      });
    });
    await act();
    await service.redis.echo('seen');
    await isSeen;
  } finally {
    monitor.disconnect();
  }
  const place = (name: string) => (name === 'evalsha' ? '' : name);
  const sorted = [...counts].sort(([a], [b]) => (place(a) < place(b) ? -1 : 1));
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}

beforeAll(async () => {
  await createJob(service, SPACE); // The first job of a space may need other commands.
});

it('the tests list the Redis commands of every endpoint that producers and workers call', () => {
  const expected = ENDPOINTS.filter(({ method, path }) => method === 'POST' && /:(spaceId|jobId)/.test(path));
  const posts = CALLS.map(([, call]) => call.replace(/(?<=spaces\/)[^/]+/, ':spaceId')).filter((call) =>
    /^POST/.test(call),
  );
  expect([...new Set(posts)].sort()).toEqual(expected.map(({ path }) => `POST ${path}`).sort());
});

it.each([...CALLS, ...CALLS_WITH_TOKEN])(
  'runs only the listed Redis commands in one round trip: %s',
  async (...row) => {
    const [name, call, prepare, commands, body] = row;
    const headers = name.endsWith('a token') ? { 'x-delivery-token': '0.0' } : {};
    const count = async () => {
      const [method, path] = call.replace(':jobId', await prepare()).split(' ') as [string, string];
      return commandsOf(async () => {
        const { status } = await service.call(method, path, {
          body: typeof body === 'function' ? body() : body,
          headers,
        });
        expect([200, 201, 202]).toContain(status);
      });
    };
    // The keepalive sends one TIME a second, which may fall into a count but not into several in a row.
    let counted = await count();
    for (let more = 0; counted !== commands && more < 3; more++) counted = await count();
    expect(counted).toBe(commands);
  },
);

it('reads an uncached API key from Redis, and then from its cache for a while', async () => {
  const id = await jobIn(service, 'running', SPACE);
  const { key } = await service.key(['jobs:read:progress']);
  const read = async () => {
    expect((await service.call('GET', `/jobs/${id}/progress`, { key })).status).toBe(200);
  };
  expect(await commandsOf(read)).toBe('hget 1, hmget 1');
  await until(async () => (await commandsOf(read)) === 'hmget 1');
});

it('counts no job as created when Redis refused its creation', async () => {
  await service.redis.config('SET', 'maxmemory', '1mb');
  const { status } = await service.call('POST', '/spaces/refused/jobs', { body: { name: 'refused' } });
  await service.redis.config('SET', 'maxmemory', '0');
  expect(status).toBe(503);
  expect((await service.call('GET', '/spaces/refused/stats')).body).toMatchObject({ jobs: { total: 0 }, names: [] });
});
