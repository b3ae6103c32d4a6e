import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { withApiProcess } from '../logs/api-process.js';
import { during } from '../support/during.js';
import { startNode } from '../support/redis/node.js';
import { startProxy } from '../support/redis/proxy.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// Lists of jobs while their connection to Redis is cut, and lists that could use hundreds of megabytes of memory.

const node = during(
  () => startNode({ lines: (port) => [`port ${port}`] }),
  (started) => started.stop(),
);
const proxy = during(
  () => startProxy(node.port),
  (started) => started.stop(),
);
const service = withService(
  {},
  {
    app: 'api',
    hasDefaultTimeouts: true,
    redis: {
      get url() {
        return `redis://127.0.0.1:${proxy.port}`;
      },
    },
  },
);

const LIST = Array.from({ length: 1_000 }, (_, n) => ({ name: 'work', payload: { n } }));
const createJobs = (space: string, body: object[]) =>
  service.call('POST', `/spaces/${space}/jobs`, { body, headers: { 'idempotency-key': 'cut' } });

it.each([
  ['lose reply', 'without options', {}],
  ['lose request', 'without options', {}],
  ['lose reply', 'with options', { priority: 1 }],
] as const)(
  'stores each job of a list once when connections %s repeatedly, and its client resends it with its key: %s',
  async (action, kind, options) => {
    const space = `${action} ${kind}`.replaceAll(' ', '-');
    const list = LIST.map((job) => ({ ...job, ...options }));
    const create = () => createJobs(space, list);
    for (const chunk of [1, 4, 10]) {
      let seen = 0;
      const isChunk = (words: string[]) =>
        words[0]?.toLowerCase() === 'evalsha' && words.includes(space) && ++seen === chunk;
      const lost = proxy.intercept(isChunk, { action, end: 'cut' });
      const { status, body } = await create();
      await lost.happened;
      expect([status, body.code, body.stored]).toEqual([
        503,
        'UNAVAILABLE',
        chunk === 1 ? undefined : (chunk - 1) * 100,
      ]);
      // The connection that was cut works again.
      await until(async () => (await createJobs('other', LIST.slice(0, 1))).status === 201);
    }
    const { status, body } = await create();
    expect([status, body.length]).toEqual([201, 1_000]);
    const { jobs, names } = (await service.call('GET', `/spaces/${space}/stats`)).body;
    expect([jobs.pending, jobs.total, names]).toMatchObject([
      1_000,
      1_000,
      [{ name: 'work', total: 1_000, pending: 1_000 }],
    ]);
    const again = await create();
    expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', body]);
    const seen: number[] = [];
    while (seen.length < 1_000) {
      const poll = await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 50 } });
      seen.push(...poll.body.jobs.map(({ payload }: { payload: { n: number } }) => payload.n));
    }
    expect(seen.sort((a, b) => a - b)).toEqual(LIST.map(({ payload }) => payload.n));
  },
);

const shared = withService();
const measured = withApiProcess(shared);

/** Return a list of 5 MB whose jobs have as many empty arrays as they may. */
function denseList(): string {
  const job = JSON.stringify({ name: 'work', payload: { a: 'x' } }).replace('"x"', `[${'[],'.repeat(85_000)}[]]`);
  return `[${Array(20).fill(job).join()}]`;
}

it.each([
  ['as they are', (list: string) => ({ raw: list })],
  ['compressed', (list: string) => ({ raw: gzipSync(list), headers: { 'content-encoding': 'gzip' } })],
])('serves or refuses concurrent dense lists %s with little memory', async (_, written) => {
  const sent = written(denseList());
  const create = () => measured.call('POST', '/spaces/dense/jobs', sent);
  expect((await create()).status).toBe(201);
  const before = measured.peakMegabytes();
  const responses = await Promise.all(Array.from({ length: 12 }, create));
  for (const { status } of responses) expect([201, 503]).toContain(status);
  // Parsed at once, one of them would take some 200 MB.
  expect(measured.peakMegabytes() - before).toBeLessThan(400);
});
