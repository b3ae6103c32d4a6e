import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { LOG_LEVELS } from '@yardmaster/protocol';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, jobWithLogs, readLogs, type Sent } from './reading.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
});
afterAll(() => service.stop());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function redisNow(): Promise<number> {
  const [seconds, micros] = await service.redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

function expectBetween(timestamp: string, from: number, to: number): void {
  expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(from);
  expect(Date.parse(timestamp)).toBeLessThanOrEqual(to);
}

/** The one entry of a job to which this one was appended. */
async function stored(entry: Sent) {
  const id = await jobWithLogs(service, [entry]);
  const { logs } = await readLogs(service, id);
  expect(logs).toHaveLength(1);
  return { id, entry: logs[0] as (typeof logs)[number] };
}

it('shows all fields of a whole entry', async () => {
  const sent = {
    message: 'disk full',
    level: 'fatal' as const,
    timestamp: '2024-02-29T12:30:00.5+02:00',
    source: 'disk-watcher',
    metadata: { free: 0, disks: [] },
    unknown: 'ignored',
  };
  const from = await redisNow();
  const { id, entry } = await stored(sent);
  const to = await redisNow();

  expect(entry).toEqual({
    id: `${id}.1`,
    seq: 1,
    level: 'fatal',
    message: 'disk full',
    source: 'disk-watcher',
    metadata: { free: 0, disks: [] },
    loggedAt: '2024-02-29T10:30:00.500Z',
    createdAt: expect.stringMatching(ISO),
  });
  expectBetween(entry.createdAt, from, to);
});

it.each<[string, Sent]>([
  ['a string', 'plain'],
  ['an object with a message only', { message: 'plain' }],
])('shows %s with its defaults, logged when it was stored', async (_, sent) => {
  const from = await redisNow();
  const { id, entry } = await stored(sent);
  const to = await redisNow();

  const { createdAt } = entry;
  expect(entry).toEqual({
    id: `${id}.1`,
    seq: 1,
    level: 'info',
    message: 'plain',
    source: 'worker',
    metadata: {},
    loggedAt: createdAt,
    createdAt: expect.stringMatching(ISO),
  });
  expectBetween(createdAt, from, to);
});

it.each(LOG_LEVELS)('shows the level %s, also when it alone is given', async (level) => {
  expect((await stored({ message: '', level })).entry).toMatchObject({ level, message: '', source: 'worker' });
});

it.each<[string, Sent, object]>([
  ['the source alone', { message: 'm', source: 's' }, { level: 'info', source: 's', metadata: {} }],
  ['an empty source', { message: 'm', source: '' }, { level: 'info', source: '', metadata: {} }],
  ['the source that is the default', { message: 'm', source: 'worker' }, { source: 'worker', metadata: {} }],
  ['metadata alone', { message: 'm', metadata: { a: null } }, { source: 'worker', metadata: { a: null } }],
  ['empty metadata', { message: 'm', metadata: {} }, { source: 'worker', metadata: {} }],
  [
    'the timestamp alone',
    { message: 'm', timestamp: '1969-12-31T23:59:59.999Z' },
    { level: 'info', source: 'worker', metadata: {}, loggedAt: '1969-12-31T23:59:59.999Z' },
  ],
  [
    'the first moment of 1970',
    { message: 'm', timestamp: '1970-01-01T00:00:00Z' },
    { loggedAt: '1970-01-01T00:00:00.000Z' },
  ],
])('shows %s, and the rest by default', async (_, sent, expected) => {
  expect((await stored(sent)).entry).toMatchObject(expected);
});

it('gives metadata back equal to the last byte', async () => {
  const metadata = '{"z":1,"a":[],"__proto__":{"x":[{}]},"10":2,"9":null,"n":1e300,"u":"\\ud800é🚂"}';
  const { id } = await createJob(service, 'metadata');
  await service.call('POST', `/jobs/${id}/logs`, { raw: `[{"message":"m","metadata":${metadata}}]` });
  const { logs } = await readLogs(service, id);
  expect(JSON.stringify(logs[0]?.metadata)).toBe(JSON.stringify(JSON.parse(metadata)));
});

it('gives the entries of several batches ids and seqs of one row, and each batch one time', async () => {
  const id = await jobWithLogs(service, ['a', 'b']);
  await append(service, id, ['c']);
  await append(service, id, ['d', 'e', 'f']);
  const { logs } = await readLogs(service, id);
  expect(logs.map(({ message, id, seq }) => [message, id, seq])).toEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((message, i) => [message, `${id}.${i + 1}`, i + 1]),
  );
  const times = logs.map(({ createdAt }) => createdAt);
  expect(new Set(times.slice(0, 2)).size).toBe(1);
  expect(new Set(times.slice(3)).size).toBe(1);
  expect(times).toEqual(times.toSorted());
});

it.each(['pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const)(
  'shows the logs of a %s job',
  async (status) => {
    const id = await jobIn(service, status, 'every-status');
    await append(service, id, ['said']);
    expect((await readLogs(service, id)).logs).toMatchObject([{ message: 'said' }]);
  },
);

it('the names of the page are those of the specification and no others', async () => {
  const page = await readLogs(service, await jobWithLogs(service, ['a', 'b']));
  expect(Object.keys(page)).toEqual(['logs', 'cursor']);
  expect(Object.keys(page.cursor)).toEqual(['mode', 'oldestSeq', 'newestSeq', 'hasMore']);
});
