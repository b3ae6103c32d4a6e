import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ DELIVERY_TIMEOUT_SECONDS: '2' });
});
afterAll(() => service.stop());

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const step = async (id: string, verb: string, body?: unknown) => {
  const answer = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  expect({ verb, status: answer.status }).toEqual({ verb, status: 200 });
  return answer.body;
};
const withoutTimes = (events: { type: string; data: unknown }[]) => events.map(({ type, data }) => ({ type, data }));
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** How an attempt comes to fail, and the error that is told of it. */
const WAYS: Record<string, { fields: object; error: unknown; happens: (id: string) => Promise<unknown> }> = {
  fail: {
    fields: {},
    error: { why: ['broken'] },
    happens: (id) => step(id, 'fail', { error: { why: ['broken'] } }),
  },
  'time-out': {
    fields: { timeoutSeconds: 1.25 },
    error: 'Job timed out after 1.25 seconds without a heartbeat',
    happens: (id) => until(async () => (await read(id)).status !== 'running'),
  },
};

interface Row {
  way: string;
  maxRetries: number;
}

/** Run a job until it is dead, and keep what it shows at each step. */
async function liveAndDie({ way, maxRetries }: Row) {
  const { fields, happens } = WAYS[way] as (typeof WAYS)[string];
  const { id } = await createJob(service, `${way}-${maxRetries}`, { maxRetries, ...fields });
  const claimed = [];
  const running = [];
  const failed = [];
  for (let attempt = 1; attempt <= maxRetries + 1; attempt++) {
    claimed.push((await step(id, 'claim')).job);
    await step(id, 'ack');
    await step(id, 'checkpoint', { attempt, part: 1 });
    await step(id, 'checkpoint', { attempt, part: 2 });
    running.push(await read(id));
    await happens(id);
    failed.push(await read(id));
  }
  return { id, claimed, running, failed };
}

const ROWS: Row[] = Object.keys(WAYS).flatMap((way) => [0, 1, 3].map((maxRetries) => ({ way, maxRetries })));
/** All at once, since most of their time is waiting. */
const lives = new Map<string, Awaited<ReturnType<typeof liveAndDie>>>();
const nameOf = ({ way, maxRetries }: Row) => `${way} ${maxRetries}`;
beforeAll(async () => {
  await Promise.all(ROWS.map(async (row) => lives.set(nameOf(row), await liveAndDie(row))));
});

describe.each(ROWS)('a job with maxRetries $maxRetries whose attempts end by $way', ({ way, maxRetries }) => {
  const attempts = Array.from({ length: maxRetries + 1 }, (_, i) => i + 1);
  const { error } = WAYS[way] as (typeof WAYS)[string];
  let life: Awaited<ReturnType<typeof liveAndDie>>;
  beforeAll(() => {
    life = lives.get(nameOf({ way, maxRetries })) as typeof life;
  });

  it('counts the attempt as it starts', () => {
    expect(life.running.map(({ status, attemptNumber }) => [status, attemptNumber])).toEqual(
      attempts.map((attempt) => ['running', attempt]),
    );
  });

  it('hands the latest checkpoint to the next attempt', () => {
    expect(life.claimed.map(({ attemptNumber, checkpoint }) => [attemptNumber, checkpoint])).toEqual(
      attempts.map((attempt) => [attempt - 1, attempt === 1 ? null : { attempt: attempt - 1, part: 2 }]),
    );
  });

  it('waits anew after each failure but the last, which it dies of', () => {
    const shown = life.failed.map(({ status, attemptNumber, deliveredAt, startedAt, completedAt, result }) => ({
      status,
      attemptNumber,
      deliveredAt,
      startedAt,
      completedAt,
      result,
    }));
    expect(shown).toEqual(
      attempts.map((attempt) => {
        const isLast = attempt > maxRetries;
        const time = isLast ? TIME : null;
        return {
          status: isLast ? 'dead' : 'pending',
          attemptNumber: attempt,
          deliveredAt: time,
          startedAt: time,
          completedAt: null,
          result: null,
        };
      }),
    );
  });

  it('has it all in its history', () => {
    const ofAttempt = (attempt: number) => [
      { type: 'delivered', data: null },
      { type: 'acked', data: null },
      { type: 'checkpoint', data: { attempt, part: 1 } },
      { type: 'checkpoint', data: { attempt, part: 2 } },
      attempt > maxRetries
        ? { type: 'dead', data: { error } }
        : { type: 'retried', data: { error, attemptNumber: attempt } },
    ];
    const { events } = life.failed.at(-1);
    expect(withoutTimes(events)).toEqual([{ type: 'created', data: null }, ...attempts.flatMap(ofAttempt)]);
  });

  it('refuses another attempt once it is dead', async () => {
    const claim = await service.call('POST', `/jobs/${life.id}/claim`);
    expect(claim.body).toEqual({ claimed: false, reason: 'not_pending', status: 'dead' });
  });
});

it('a job that is retried goes to the end of the queue', async () => {
  const first = await jobIn(service, 'running', 'queue', { timeoutSeconds: 0.05 });
  const second = await createJob(service, 'queue');
  await until(async () => (await read(first)).status === 'pending');
  const { jobs } = (await service.call('POST', '/spaces/queue/jobs/poll', { body: { count: 5 } })).body;
  expect(jobs.map(({ id }: { id: string }) => id)).toEqual([second.id, first]);
});

describe('streams', () => {
  const told = ({ messages }: StreamClient) =>
    messages.map(({ type, status, data }) => ({ type, status, data })).filter(({ type }) => type !== 'init');

  it('tell time-outs as they happen, but not to those who see only progress', async () => {
    const { id } = await createJob(service, 'told', { timeoutSeconds: 0.05, maxRetries: 1 });
    const [job, space, anonymous] = await Promise.all([
      StreamClient.open(service.url, `/${id}?token=${ADMIN_KEY}`),
      StreamClient.open(service.url, `/spaces/told?token=${ADMIN_KEY}`),
      StreamClient.open(service.url, `/${id}`),
    ]);
    await step(id, 'claim');
    await job.next('delivery_timeout');
    await step(id, 'claim');
    await step(id, 'ack');
    await job.next('retried');
    await step(id, 'claim');
    await step(id, 'ack');
    await job.next('dead');
    await space.next('dead');

    const error = 'Job timed out after 0.05 seconds without a heartbeat';
    const messages = [
      { type: 'delivered', status: 'delivered', data: null },
      { type: 'delivery_timeout', status: 'pending', data: null },
      { type: 'delivered', status: 'delivered', data: null },
      { type: 'acked', status: 'running', data: null },
      { type: 'retried', status: 'pending', data: { error, attemptNumber: 1 } },
      { type: 'delivered', status: 'delivered', data: null },
      { type: 'acked', status: 'running', data: null },
      { type: 'dead', status: 'dead', data: { error } },
    ];
    expect(told(job)).toEqual(messages);
    expect(told(space)).toEqual(messages);
    expect(told(anonymous)).toEqual([]);
    const { events } = await read(id);
    expect(job.messages.at(-1).timestamp).toBe(events.at(-1).createdAt);
    await Promise.all([job, space, anonymous].map((client) => client.close()));
  });
});
