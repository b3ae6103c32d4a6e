import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { beforeAll, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { callEndpoint, ENDPOINTS, targetFor } from './endpoints.js';

// What the API sends to Redis. `npm run bench:instructions` counts what Redis does for it inside scripts. A Redis of its own,
// and the API alone, so that only the calls send commands.
const redis = withRedis();
const service = withService({}, { redis, app: 'api' });

const SPACE = 'counted';

/** The endpoints of producers, workers and readers that send anything but one script. */
const SENT: Record<string, string> = {
  ...{ 'List Spaces': 'evalsha 1, zrangebyscore 64', 'Get Job Progress': 'hmget 1' },
  'Settle Jobs': '', // It has no job of its space.
  // Their scripts, and that of an entry in the audit, for which the space of the job is read before.
  ...{ 'Kill Job': 'evalsha 2, hget 1', 'Requeue Job': 'evalsha 2, hget 1', 'Delete Job': 'evalsha 2, hget 1' },
  ...{ 'Reschedule Job': 'evalsha 2, hget 1', 'Copy Job': 'evalsha 2, hget 1' },
  'Redeliver Callback': 'evalsha 2, hget 1',
  'Create Stream Token': 'evalsha 1', // It is signed only. The audit has one entry of a caller in an hour.
  ...{ 'Start Operation': 'evalsha 3', 'Cancel Operation': 'evalsha 2' }, // The third reads the operation for the response.
};

/** What the connections of the API send on their own, and what this test sends; and keys that it reads or writes at intervals. */
const IGNORED = ['ping', 'time', 'info', 'echo'];
const AT_INTERVALS = /:(settings|used)"/;

/** A line of MONITOR: who sends a command, and its name. */
const LINE = /^\+[\d.]+ \[\d+ (\S+)\] "(\w+)"/;

/** Return what Redis carries out during an action, as lines of MONITOR. */
async function monitored(act: () => Promise<void>): Promise<string[]> {
  const { path, host, port } = service.redis.options;
  // Not by ioredis, which fails when the first line comes together with the reply to MONITOR.
  const socket = connect(path === undefined ? { host: host as string, port: port as number } : { path });
  const lines = createInterface({ input: socket });
  const seen: string[] = [];
  try {
    socket.write('MONITOR\r\n');
    await once(lines, 'line');
    const isSeen = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        seen.push(line);
        if (/ "echo" "seen"$/i.test(line)) resolve();
      });
    });
    await act();
    await service.redis.echo('seen');
    await isSeen;
    return seen;
  } finally {
    socket.destroy();
  }
}

/** Return the commands that the API sends during an action, by name. */
async function commandsOf(act: () => Promise<void>): Promise<string> {
  const counts = new Map<string, number>();
  for (const line of await monitored(act)) {
    const [, source, name = ''] = LINE.exec(line) ?? [];
    const command = name.toLowerCase();
    const isIgnored = source === 'lua' || IGNORED.includes(command) || AT_INTERVALS.test(line);
    if (!isIgnored) counts.set(command, (counts.get(command) ?? 0) + 1);
  }
  return [...counts]
    .map(([name, count]) => `${name} ${count}`)
    .sort()
    .join(', ');
}

beforeAll(async () => {
  await createJob(service, SPACE);
});

it.each(ENDPOINTS.filter(({ scopes }) => scopes[0]?.startsWith('jobs:')))(
  '$name sends Redis exactly one script, unless an exception is listed',
  async (endpoint) => {
    const target = await targetFor(service, endpoint, SPACE);
    const sent = await commandsOf(async () => {
      const { status } = await callEndpoint(service, endpoint, target);
      expect(status).toBe(endpoint.success ?? 200);
    });
    expect(sent).toBe(SENT[endpoint.name] ?? 'evalsha 1');
  },
);

const listOf = (count: number) => Array.from({ length: count }, () => ({ name: 'work' }));
const running = (count: number) => Promise.all(listOf(count).map(() => jobIn(service, 'running', SPACE)));
const completing = async (count: number) => (await running(count)).map((jobId) => ({ jobId, action: 'complete' }));

it.each<[scripts: string, what: string, path: string, body: () => unknown]>([
  ['one script', 'a list of 100 jobs is created', 'jobs', () => listOf(100)],
  ['two scripts', 'a list of 101 jobs is created', 'jobs', () => listOf(101)],
  ['one script', '50 jobs are polled', 'jobs/poll', () => ({ count: 50 })],
  ['one script', 'a poll that may wait finds a job', 'jobs/poll', () => ({ waitSeconds: 20 })],
  [
    'one script',
    'a job is completed and the next is claimed',
    'jobs/poll',
    async () => ({ settle: await completing(1) }),
  ],
  ['one script', '50 jobs are completed', 'jobs/settle', async () => ({ outcomes: await completing(50) })],
])('the API sends Redis %s when %s', async (scripts, _what, path, prepare) => {
  const body = await prepare();
  const sent = await commandsOf(async () => {
    const { status } = await service.call('POST', `/spaces/${SPACE}/${path}`, { body });
    expect([200, 201]).toContain(status);
  });
  expect(sent).toBe(scripts === 'one script' ? 'evalsha 1' : 'evalsha 2');
});

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

it('lists the keys bound to a space with the same Redis commands even if another space has 20,000 keys', async () => {
  const { id, key } = await service.key(['keys:manage'], { spaceId: 'quiet' });
  for (let n = 0; n < 3; n++) await service.key(['jobs:read'], { spaceId: 'quiet' });
  const list = async () => expect((await service.call('GET', '/keys', { key })).body).toHaveLength(4);
  const commands = async () =>
    (await monitored(list))
      .map((line) => line.replace(/^.*?\] /, ''))
      .filter((line) => line.includes('{keys}') && !line.startsWith('"hget"')); // By which the key is checked, when it is not cached.
  const before = await commands();
  expect(before.map((line) => line.split(' ')[0])).toEqual(['"evalsha"', '"ZREVRANGEBYLEX"', '"HMGET"', '"HMGET"']);

  const { apiKeys, apiKeyIndex } = service.store.keys;
  const record = JSON.parse((await service.redis.hget(apiKeys, id)) as string);
  const pipeline = service.redis.pipeline();
  for (let n = 0; n < 20_000; n++) {
    const other = { ...record, id: `0${n}`, spaceId: 'noisy' };
    pipeline.hset(apiKeys, other.id, JSON.stringify(other));
    pipeline.zadd(apiKeyIndex, 0, `/${other.id}`, 0, `noisy/${other.id}`);
  }
  await pipeline.exec();
  expect(await commands()).toEqual(before);
});
