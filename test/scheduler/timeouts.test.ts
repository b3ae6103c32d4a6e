import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
/** Takes jobs back that are not acked within half a second. */
let hasty: TestService;
beforeAll(async () => {
  service = await startService();
  hasty = await startService({ DELIVERY_TIMEOUT_SECONDS: '0.5' });
});
afterAll(async () => {
  await service.stop();
  await hasty.stop();
});

interface Event {
  type: string;
  createdAt: string;
}
const read = async (from: TestService, id: string) => (await from.call('GET', `/jobs/${id}`)).body;
const typesOf = async (from: TestService, id: string) => (await read(from, id)).events.map(({ type }: Event) => type);
const timeOf = (event: Event | undefined) => Date.parse(event?.createdAt as string);
const ENDS = ['retried', 'dead'];

describe('an execution time-out', () => {
  const SIGNS: [verb: string, body?: unknown][] = [
    ['progress', { percent: 1, message: 'on it' }],
    ['checkpoint', { at: 1 }],
    ['event', 'seen'],
    ['keepalive'],
  ];

  /** One job and how its worker behaves. */
  interface Life {
    id: string;
    timeoutSeconds: number;
    maxRetries: number;
    sign: string | null;
    /** Signs of life that were accepted. */
    accepted: number;
    /** Redis' clock shortly before the last of them; 0 without any. */
    seenMs: number;
  }

  /** Give three signs of life, each after more than half of the window. */
  async function keepAlive(life: Life, body: unknown): Promise<void> {
    for (let n = 0; n < 3; n++) {
      await delay(600 * life.timeoutSeconds);
      const before = await redisNow(service.store);
      const { status } = await service.call('POST', `/jobs/${life.id}/${life.sign}`, { body });
      if (status !== 200) return; // This machine was too slow; the job has timed out, which is looked at below.
      life.accepted++;
      life.seenMs = before;
    }
  }

  async function live(n: number): Promise<Life> {
    const isKept = n % 3 === 0;
    const timeoutSeconds = isKept ? 0.5 + (1.5 * n) / 200 : 0.2 + (3.8 * n) / 200;
    const maxRetries = n % 2;
    const id = await jobIn(service, 'running', `spread-${n % 10}`, { timeoutSeconds, maxRetries });
    const [sign, body] = SIGNS[n % 4] as [string, unknown];
    const life: Life = { id, timeoutSeconds, maxRetries, sign: isKept ? sign : null, accepted: 0, seenMs: 0 };
    if (isKept) await keepAlive(life, body);
    return life;
  }

  it('meets every job once, and none before its whole window has passed since the last sign of life', async () => {
    const lives = await Promise.all(Array.from({ length: 200 }, (_, n) => live(n)));
    const outlived = new Set<string | null>();
    for (const { id, timeoutSeconds, maxRetries, sign, accepted, seenMs } of lives) {
      await until(async () => (await typesOf(service, id)).some((type: string) => ENDS.includes(type)));
      const events: Event[] = (await read(service, id)).events;
      const types = events.map(({ type }) => type).filter((type) => type !== sign);
      expect(types).toEqual(['created', 'delivered', 'acked', maxRetries === 0 ? 'dead' : 'retried']);
      const silentSince = Math.max(timeOf(events.at(-2)), seenMs);
      // Both times are rounded down: of an equal number of milliseconds, some microseconds may be missing.
      expect(timeOf(events.at(-1)) - silentSince).toBeGreaterThan(Math.ceil(timeoutSeconds * 1_000));
      if (accepted === 3) outlived.add(sign);
    }
    expect([...outlived].sort()).toEqual(SIGNS.map(([verb]) => verb).sort());
  });

  it('does not meet a job that has ended, or waits', async () => {
    const fields = { timeoutSeconds: 0.1, maxRetries: 0 };
    const ended = [await jobIn(service, 'completed', 'over', fields), await jobIn(service, 'dead', 'over', fields)];
    const killed = await jobIn(service, 'running', 'over', fields);
    await service.call('POST', `/jobs/${killed}/kill`);
    const others = [killed, await jobIn(service, 'delivered', 'over', fields), await jobIn(service, 'pending', 'over')];
    const before = await Promise.all([...ended, ...others].map((id) => read(service, id)));
    const fence = await jobIn(service, 'running', 'over', fields);
    await until(async () => (await read(service, fence)).status === 'dead');
    expect(await Promise.all([...ended, ...others].map((id) => read(service, id)))).toEqual(before);
  });

  // The attempt is over, so its worker may change nothing any more (contract §2). Once another worker has acked the
  // job, it is running again, and calls do not tell who makes them.
  it.each([
    ['pending', 1],
    ['delivered', 1],
    ['dead', 0],
  ])('makes every call of its worker a 409 once the job is %s', async (jobStatus, maxRetries) => {
    const id = await jobIn(service, 'running', 'late', { timeoutSeconds: 0.05, maxRetries });
    await until(async () => (await read(service, id)).status !== 'running');
    if (jobStatus === 'delivered') await service.call('POST', `/jobs/${id}/claim`);
    const before = await read(service, id);
    for (const [verb, body] of [...SIGNS, ['complete', { result: 1 }], ['fail', { error: 'x' }]] as const) {
      const { status, body: answer } = await service.call('POST', `/jobs/${id}/${verb}`, { body });
      const error = { error: 'Job is not running', code: 'JOB_NOT_RUNNING', jobStatus };
      expect({ verb, status, answer }).toEqual({ verb, status: 409, answer: error });
    }
    expect(await read(service, id)).toEqual(before);
  });
});

describe('a delivery time-out', () => {
  const poll = async (spaceId: string, count: number) =>
    (await hasty.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { count } })).body.jobs;
  const timedOut = (id: string) => until(async () => (await typesOf(hasty, id)).includes('delivery_timeout'));

  it('puts every job back once, and none before the whole window has passed', async () => {
    const ids = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => (await createJob(hasty, `d-${n % 3}`)).id),
    );
    for (let n = 0; n < 12; n++) {
      await poll(`d-${n % 3}`, 5);
      await delay(40);
    }
    for (const id of ids) {
      await timedOut(id);
      const events: Event[] = (await read(hasty, id)).events;
      expect(events.map(({ type }) => type)).toEqual(['created', 'delivered', 'delivery_timeout']);
      expect(timeOf(events[2]) - timeOf(events[1])).toBeGreaterThan(500);
    }
  });

  it('puts a job back to its old place in the queue, as if it had never been delivered', async () => {
    const created = [];
    for (let n = 0; n < 3; n++) created.push(await createJob(hasty, 'place'));
    const [first, second] = await poll('place', 2);
    await timedOut(first.id);
    await timedOut(second.id);
    const { events, updatedAt, ...job } = await read(hasty, first.id);
    expect(events.at(-1)).toMatchObject({ type: 'delivery_timeout', data: null, createdAt: updatedAt });
    const { updatedAt: _, ...asCreated } = created[0] as { updatedAt?: string };
    expect(job).toEqual(asCreated);
    const late = await hasty.call('POST', `/jobs/${first.id}/ack`);
    const error = 'Job is not in a valid state for ack';
    expect(late).toMatchObject({ status: 409, body: { error, code: 'JOB_NOT_DELIVERED', jobStatus: 'pending' } });
    expect((await poll('place', 5)).map(({ id }: { id: string }) => id)).toEqual(created.map(({ id }) => id));
  });

  it('counts as no attempt', async () => {
    const id = await jobIn(hasty, 'running', 'again', { maxRetries: 1 });
    await hasty.call('POST', `/jobs/${id}/fail`, { body: { error: 'x' } });
    const [claimed] = await poll('again', 1);
    expect(claimed).toMatchObject({ id, attemptNumber: 1 });
    await timedOut(id);
    expect(await read(hasty, id)).toMatchObject({ status: 'pending', attemptNumber: 1, deliveredAt: null });
    await hasty.call('POST', `/jobs/${id}/claim`);
    await hasty.call('POST', `/jobs/${id}/ack`);
    expect(await read(hasty, id)).toMatchObject({ status: 'running', attemptNumber: 2 });
  });

  it('does not meet a job that was acked in time', async () => {
    const id = await jobIn(hasty, 'running', 'acked');
    await timedOut(await jobIn(hasty, 'delivered', 'acked'));
    expect(await typesOf(hasty, id)).toEqual(['created', 'delivered', 'acked']);
  });
});
