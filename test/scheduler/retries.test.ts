import { expect, it } from '@jest/globals';
import type { JobEvent, JobWithEvents } from '@yardmaster/protocol';
import { createJob, jobIn } from '../support/jobs.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const service = withService();

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const step = async (id: string, verb: string, body?: unknown) => {
  const { status, body: response } = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  expect({ verb, status, response }).toMatchObject({ verb, status: 200 });
  return response;
};
const timeout = async (id: string) => {
  await makeDue(service, id);
  await until(async () => (await read(id)).status !== 'running');
};

interface Event {
  type: string;
  data: unknown;
}
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Ways in which an attempt fails, and the error that the job then shows. */
const WAYS: [way: string, happens: (id: string) => Promise<unknown>, error: unknown][] = [
  ['its worker fails it', (id) => step(id, 'fail', { error: { why: ['broken'] } }), { why: ['broken'] }],
  ['it times out', timeout, 'Job timed out after 86.25 seconds without a heartbeat'],
];
const ROWS = WAYS.flatMap(([way, happens, error]) =>
  [0, 1, 3].map((maxRetries) => ({ way, happens, error, maxRetries })),
);

it.concurrent.each(ROWS)(
  'a job is retried $maxRetries times when $way, and is then dead',
  async ({ happens, error, maxRetries }) => {
    const { id } = await createJob(service, 'retried', { maxRetries, timeoutSeconds: 86.25 });
    const history: Event[] = [{ type: 'created', data: null }];
    for (let attempt = 1; attempt <= maxRetries + 1; attempt++) {
      const checkpoint = attempt === 1 ? null : { attempt: attempt - 1 };
      expect((await step(id, 'claim')).job).toMatchObject({ attemptNumber: attempt - 1, checkpoint });
      await step(id, 'ack');
      await step(id, 'checkpoint', { early: true });
      await step(id, 'checkpoint', { attempt });
      expect(await read(id)).toMatchObject({ status: 'running', attemptNumber: attempt });
      await happens(id);

      const isLast = attempt > maxRetries;
      const time = isLast ? TIME : null;
      const job = await read(id);
      expect(job).toMatchObject({
        status: isLast ? 'dead' : 'pending',
        attemptNumber: attempt,
        deliveredAt: time,
        startedAt: time,
        completedAt: null,
        result: null,
      });
      history.push(
        { type: 'delivered', data: null },
        { type: 'acked', data: null },
        { type: 'checkpoint', data: { early: true } },
        { type: 'checkpoint', data: { attempt } },
        isLast ? { type: 'dead', data: { error } } : { type: 'retried', data: { error, attemptNumber: attempt } },
      );
      expect(job.events.map(({ type, data }: Event) => ({ type, data }))).toEqual(history);
    }
    const claim = await service.call('POST', `/jobs/${id}/claim`);
    expect(claim.body).toEqual({ claimed: false, reason: 'not_pending', status: 'dead' });
  },
);

it('a retried job goes to the end of the queue', async () => {
  const [timedOut, failed] = [await jobIn(service, 'running', 'queue'), await jobIn(service, 'running', 'queue')];
  const waiting = await createJob(service, 'queue');
  await timeout(timedOut);
  await step(failed, 'fail', { error: 'x' });
  const { jobs } = (await service.call('POST', '/spaces/queue/jobs/poll', { body: { count: 5 } })).body;
  expect(jobs.map(({ id }: { id: string }) => id)).toEqual([waiting.id, timedOut, failed]);
});

/** Bring a job that waits into its next attempt, whatever delay it has. */
async function startAttempt(id: string): Promise<void> {
  if ((await read(id)).status === 'scheduled') await step(id, 'reschedule', { delaySeconds: 0 });
  await step(id, 'claim');
  await step(id, 'ack');
}

/** Fail the attempt of a running job, and return the delay of the next one in ms; 0 for none. */
async function failAndMeasure(id: string, fields: object = {}): Promise<number> {
  const retriesOf = (job: JobWithEvents) => job.events.filter(({ type }) => type === 'retried');
  const before = retriesOf(await read(id)).length;
  await step(id, 'fail', { error: 'no', ...fields });
  const job: JobWithEvents = await read(id);
  // It may not be the last event: after a short delay, the job is soon ready again.
  const retries = retriesOf(job);
  expect(retries).toHaveLength(before + 1);
  const retried = retries.at(-1) as JobEvent;
  const { scheduledFor } = retried.data as { scheduledFor?: string };
  if (scheduledFor === undefined) {
    expect(job.status).toBe('pending');
    return 0;
  }
  if (job.status === 'scheduled') expect(job.scheduledFor).toBe(scheduledFor);
  return Date.parse(scheduledFor) - Date.parse(retried.createdAt);
}

const exactly = { jitter: 0 };

it.each<[title: string, retry: object, delays: number[]]>([
  ['is the number', { delaySeconds: 1.5, ...exactly }, [1_500, 1_500, 1_500]],
  ['is absent for 0', { delaySeconds: 0 }, [0, 0]],
  [
    'is that of the list, of which the last repeats',
    { delaySeconds: [1, 0, 2.5], ...exactly },
    [1_000, 0, 2_500, 2_500],
  ],
  ['grows by the factor', { delaySeconds: 2, factor: 3, ...exactly }, [2_000, 6_000, 18_000, 54_000]],
  ['is at most the maximum', { delaySeconds: 2, factor: 10, maxDelaySeconds: 30, ...exactly }, [2_000, 20_000, 30_000]],
  ['is at most the maximum with jitter', { delaySeconds: 100, maxDelaySeconds: 5, jitter: 1 }, []],
  ['is rounded up to whole milliseconds', { delaySeconds: 0.0001, ...exactly }, [1]],
  [
    'is at most a week without a maximum',
    { delaySeconds: 604_800, factor: 10, ...exactly },
    [604_800_000, 604_800_000],
  ],
])('the delay before a retry %s', async (_, retry, delays) => {
  const { id } = await createJob(service, 'policy-delays', { maxRetries: 10, retry });
  for (const [n, delayMs] of delays.entries()) {
    await startAttempt(id);
    expect({ n, delayMs: await failAndMeasure(id) }).toEqual({ n, delayMs });
  }
  if (delays.length > 0) return;
  await startAttempt(id);
  expect(await failAndMeasure(id)).toBeLessThanOrEqual(5_000);
});

it('jitter varies the delay before a retry by its fraction, by default a fifth', async () => {
  const measured: Record<string, number[]> = {};
  for (const [name, jitter] of [
    ['default', {}],
    ['half', { jitter: 0.5 }],
  ] as const) {
    const retry = { delaySeconds: 100, ...jitter };
    const ids = await Promise.all(
      Array.from({ length: 25 }, () => jobIn(service, 'running', 'policy-jitter', { retry })),
    );
    measured[name] = await Promise.all(ids.map((id) => failAndMeasure(id)));
  }
  for (const [name, share] of [
    ['default', 0.2],
    ['half', 0.5],
  ] as const) {
    const [least, most] = [Math.min(...(measured[name] ?? [])), Math.max(...(measured[name] ?? []))];
    expect(least).toBeGreaterThanOrEqual(100_000 * (1 - share));
    expect(most).toBeLessThanOrEqual(100_000 * (1 + share));
    expect(most - least).toBeGreaterThan(100_000 * share * 0.5); // By chance it is less once in ten million runs.
  }
});

it('the retry policy delays a retry after a timeout, with a jitter for each job', async () => {
  const retry = { delaySeconds: 1_000, jitter: 1 };
  const ids = await Promise.all(
    Array.from({ length: 5 }, () => jobIn(service, 'running', 'policy-timed-out', { retry })),
  );
  await makeDue(service, ...ids);
  await until(async () => (await Promise.all(ids.map(read))).every(({ status }) => status === 'scheduled'));
  const jobs = await Promise.all(ids.map(read));
  expect(new Set(jobs.map(({ scheduledFor }) => scheduledFor)).size).toBe(5);
  expect(jobs.map(({ error }) => error)).toEqual(Array(5).fill('Job timed out after 300 seconds without a heartbeat'));
});

it('a delayed retry runs its next attempt once the job is ready', async () => {
  const id = await jobIn(service, 'running', 'policy-whole', { retry: { delaySeconds: 0.3 } });
  await step(id, 'fail', { error: 'no' });
  await until(async () => (await read(id)).status === 'pending');
  await startAttempt(id);
  await step(id, 'complete', { result: 1 });
  const { events, ...job } = await read(id);
  const types = ['created', 'delivered', 'acked', 'retried', 'ready', 'delivered', 'acked', 'completed'];
  expect(events.map(({ type }: { type: string }) => type)).toEqual(types);
  expect(job).toMatchObject({ attemptNumber: 2, retry: { delaySeconds: 0.3 } });
});

it('the retry policy does not delay a job after a delivery that was not acked', async () => {
  const id = await jobIn(service, 'delivered', 'policy-unacked', { retry: { delaySeconds: 100 } });
  await makeDue(service, id);
  await until(async () => (await read(id)).status !== 'delivered');
  expect(await read(id)).toMatchObject({ status: 'pending', attemptNumber: 0 });
});

it.each([{}, { delaySeconds: 100 }])(
  'a worker sets the delay before a retry with retryAfterSeconds, whatever the policy %j says',
  async (retry) => {
    const fields = 'delaySeconds' in retry ? { retry } : {};
    for (const [retryAfterSeconds, delayMs] of [
      [2.5, 2_500],
      [0, 0],
      [604_800, 604_800_000],
    ] as const) {
      const id = await jobIn(service, 'running', 'policy-retry-after', fields);
      expect(await failAndMeasure(id, { retryAfterSeconds })).toBe(delayMs);
    }
  },
);

it('a worker makes a job dead with retryable: false even if retries are left', async () => {
  const id = await jobIn(service, 'running', 'policy-not-retryable', { maxRetries: 5 });
  await step(id, 'fail', { error: 'no image', retryable: false, retryAfterSeconds: 5 });
  const { events, ...job } = await read(id);
  expect(job).toMatchObject({ status: 'dead', attemptNumber: 1, error: 'no image' });
  expect(events.at(-1)).toMatchObject({ type: 'dead', data: { error: 'no image' } });
});

it('a failure with retryAfterSeconds makes the job dead when no retries are left', async () => {
  const id = await jobIn(service, 'running', 'policy-no-retries', { maxRetries: 0, retry: { delaySeconds: 5 } });
  await step(id, 'fail', { error: 'no', retryAfterSeconds: 5 });
  expect(await read(id)).toMatchObject({ status: 'dead' });
});

it.each(['delivered', 'running'] as const)(
  'a release with a delay postpones a %s job without using up an attempt',
  async (from) => {
    const id = await jobIn(service, from, 'policy-snooze');
    await step(id, 'release', { delaySeconds: 0.3, reason: 'busy' });
    const { events, ...job } = await read(id);
    const { scheduledFor } = job;
    expect(job).toMatchObject({ status: 'scheduled', attemptNumber: 0, deliveredAt: null, startedAt: null });
    expect(Date.parse(scheduledFor) - Date.parse(job.updatedAt)).toBe(300);
    expect(events.at(-1)).toMatchObject({ type: 'released', data: { reason: 'busy', scheduledFor } });
    await until(async () => (await read(id)).status === 'pending');
  },
);
