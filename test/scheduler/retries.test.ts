import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const service = withService();

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const step = async (id: string, verb: string, body?: unknown) => {
  const { status, body: response } = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  expect({ verb, status }).toEqual({ verb, status: 200 });
  return response;
};
const timeOut = async (id: string) => {
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
  ['it times out', timeOut, 'Job timed out after 86.25 seconds without a heartbeat'],
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

it('a job that is retried goes to the end of the queue', async () => {
  const [timedOut, failed] = [await jobIn(service, 'running', 'queue'), await jobIn(service, 'running', 'queue')];
  const waiting = await createJob(service, 'queue');
  await timeOut(timedOut);
  await step(failed, 'fail', { error: 'x' });
  const { jobs } = (await service.call('POST', '/spaces/queue/jobs/poll', { body: { count: 5 } })).body;
  expect(jobs.map(({ id }: { id: string }) => id)).toEqual([waiting.id, timedOut, failed]);
});
