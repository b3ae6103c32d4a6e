import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { withApiProcess } from '../logs/api-process.js';
import { createJob } from '../support/jobs.js';
import { withProxiedNode } from '../support/redis/proxied-node.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// Lists of jobs while their connection to Redis is cut, and lists that could use hundreds of megabytes of memory.

const { proxy, redis } = withProxiedNode();
const service = withService({}, { app: 'api', hasDefaultTimeouts: true, redis });

const LIST = Array.from({ length: 1_000 }, (_, n) => ({ name: 'work', payload: { n } }));
const createJobs = (space: string, body: object[]) =>
  service.call('POST', `/spaces/${space}/jobs`, { body, headers: { 'idempotency-key': 'cut' } });

it.each([
  ['lose reply', 'without options', {}],
  ['lose request', 'without options', {}],
  ['lose reply', 'with options', { priority: 1 }],
] as const)(
  'stores each job of a list once when connections %s repeatedly and the client retries with the same key: %s',
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

type Claimed = { id: string; deliveryToken: string };

const post = (path: string, body: object) => service.call('POST', `/spaces/${path}`, { body });
const poll = async (space: string, count: number): Promise<Claimed[]> =>
  (await post(`${space}/jobs/poll`, { count, autoAck: true })).body.jobs;
const complete = ({ id, deliveryToken }: Claimed) => ({ jobId: id, deliveryToken, action: 'complete', result: id });

/** Calls with outcomes, by their name: how to make one, and where it lists what it did. */
const CALLS = {
  settle: (space: string, held: Claimed[]) => post(`${space}/jobs/settle`, { outcomes: held.map(complete) }),
  turn: (space: string, held: Claimed[]) =>
    post(`${space}/jobs/poll`, { settle: held.map(complete), count: held.length, autoAck: true }),
};

describe.each(['settle', 'turn'] as const)('the call %s', (kind) => {
  it.each([
    ['lose reply', 1],
    ['lose reply', 10],
    ['lose request', 1],
    ['lose request', 10],
  ] as const)(
    `${kind} completes each job once when connections %s and it is sent again with %i jobs`,
    async (...row) => {
      const [action, size] = row;
      const space = `${kind}-${action.replace(' ', '-')}-${size}`;
      for (let n = 0; n < 2 * size; n++) await createJob(service, space);
      const held = await poll(space, size);
      const isCall = (words: string[]) =>
        words[0]?.toLowerCase() === 'evalsha' && words.includes(held[0]?.id as string);
      const lost = proxy.intercept(isCall, { action, end: 'cut' });
      const { status, body } = await CALLS[kind](space, held);
      await lost.happened;
      expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
      // The connection that was cut works again.
      await until(async () => (await post('other/jobs', { name: 'work' })).status === 201);
      const before = (await service.call('GET', `/spaces/${space}/stats`)).body.jobs;
      const isDone = action === 'lose reply';
      expect([before.completed, before.pending]).toEqual([isDone ? size : 0, isDone && kind === 'turn' ? 0 : size]);

      const again = await CALLS[kind](space, held);
      expect(again.status).toBe(200);
      expect(again.body.results ?? again.body.settled).toEqual(held.map(({ id }) => ({ jobId: id, success: true })));
      for (const { id } of held) {
        const job = (await service.call('GET', `/jobs/${id}`)).body;
        expect([job.status, job.result, job.attemptNumber]).toEqual(['completed', id, 1]);
        const types = job.events.map(({ type }: { type: string }) => type);
        expect(types).toEqual(['created', 'delivered', 'acked', 'completed']);
      }
      // No job of the lost response is lost: it runs, until its time is over.
      const { jobs } = (await service.call('GET', `/spaces/${space}/stats`)).body;
      expect([jobs.completed, jobs.pending + jobs.running]).toEqual([size, size]);
    },
  );
});
