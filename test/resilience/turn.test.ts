import { describe, expect, it } from '@jest/globals';
import { during } from '../support/during.js';
import { createJob } from '../support/jobs.js';
import { startNode } from '../support/redis/node.js';
import { startProxy } from '../support/redis/proxy.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// Outcomes of several jobs whose call to Redis is lost on its way there, or on its way back.

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
        words[0]?.toLowerCase() === 'evalsha' && words.includes(held[0]?.id as string) && words.includes('complete');
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
