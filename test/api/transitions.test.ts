import { expect, it } from '@jest/globals';
import { refusalOf, STATUSES, type Status, TRANSITIONS } from '@yardmaster/protocol';
import type { JobVerb } from '../model/index.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { bodyOf, PREDICTIONS, type Prediction, VERBS } from './predictions.js';

const service = withService();

/** Sentences of docs/errors.md. */
const SENTENCES: Record<string, string> = {
  JOB_NOT_RUNNING: 'Job is not running',
  JOB_NOT_DELIVERED: 'Job is not in a valid state for ack',
  JOB_KILLED: 'Job has been killed',
  JOB_ENDED: 'Job has already ended',
  JOB_NOT_PENDING: 'Job is not pending',
  JOB_NOT_DEAD: 'Job is neither dead nor killed',
};

const isMove = ({ outcome }: Prediction) => STATUSES.includes(outcome as Status);

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const call = (id: string, verb: JobVerb) => service.call('POST', `/jobs/${id}/${verb}`, { body: bodyOf(verb) });

it.each(PREDICTIONS.filter(isMove))('$verb moves a $from job to $outcome', async ({ verb, from, outcome, event }) => {
  const id = await jobIn(service, from, 'moves', { maxRetries: 0 });
  const before = await read(id);

  const response = await call(id, verb);

  expect(response.status).toBe(200);
  if (verb !== 'claim') expect(response.body).toEqual({ success: true });
  const after = await read(id);
  expect(after.status).toBe(outcome);
  const added = after.events.slice(before.events.length);
  if (event === null) return expect(added).toEqual([]);
  const of = { id: `${id}.${after.events.length}`, jobId: id, spaceId: 'moves', createdAt: after.updatedAt };
  expect(added).toEqual([{ ...of, ...event }]);
});

it.each(PREDICTIONS.filter((cell) => !isMove(cell)))(
  'refuses $verb of a $from job with $outcome and changes nothing',
  async ({ verb, from, outcome, response }) => {
    const id = await jobIn(service, from, 'refused');
    const before = await read(id);
    const { status, body } = await call(id, verb);
    expect({ status, body }).toEqual(
      response !== null
        ? { status: 200, body: response }
        : { status: 409, body: { error: SENTENCES[outcome], code: outcome, jobStatus: from } },
    );
    expect(await read(id)).toEqual(before);
  },
);

it('the tests cover every trigger that can be a call about a job', () => {
  const notAboutAJob = ['poll', 'replace', 'due', 'start_timeout', 'delivery_timeout', 'execution_timeout'];
  const triggers = new Set(TRANSITIONS.map(({ trigger }) => trigger).filter((one) => !notAboutAJob.includes(one)));
  expect([...triggers].sort()).toEqual([...VERBS].sort());
});

it('the model and the protocol refuse the same calls with the same codes', () => {
  const refused = PREDICTIONS.filter((cell) => !isMove(cell));
  expect(refused.map(({ verb, from }) => [verb, from, refusalOf(verb, from) ?? 'not_pending'])).toEqual(
    refused.map(({ verb, from, outcome }) => [verb, from, outcome]),
  );
});

it.each(STATUSES)('a poll takes a %s job only if it is pending', async (status) => {
  const id = await jobIn(service, status, `polled-${status}`);
  const { body } = await service.call('POST', `/spaces/polled-${status}/jobs/poll`, { body: { count: 50 } });
  expect(body.jobs.map((job: { id: string }) => job.id)).toEqual(status === 'pending' ? [id] : []);
  if (status === 'pending')
    expect(await read(id)).toMatchObject({ status: 'delivered', deliveredAt: expect.any(String), startedAt: null });
});

it('counts attempts at the ack, retries until maxRetries is used up, and then makes the job dead', async () => {
  const { id } = await createJob(service, 'attempts', { maxRetries: 2 });
  for (const attemptNumber of [1, 2, 3]) {
    expect((await call(id, 'claim')).body.job.attemptNumber).toBe(attemptNumber - 1);
    await call(id, 'ack');
    expect(await read(id)).toMatchObject({ status: 'running', attemptNumber, startedAt: expect.any(String) });
    const error = `no ${attemptNumber}`;
    await service.call('POST', `/jobs/${id}/fail`, { body: { error } });
    const { events, ...job } = await read(id);
    if (attemptNumber <= 2) {
      expect(job).toMatchObject({ status: 'pending', attemptNumber, deliveredAt: null, startedAt: null });
      expect(events.at(-1)).toMatchObject({ type: 'retried', data: { error, attemptNumber } });
    } else {
      expect(job).toMatchObject({ status: 'dead', attemptNumber, result: null, completedAt: null });
      expect(events.at(-1)).toMatchObject({ type: 'dead', data: { error } });
    }
  }
});

it('puts a retried job at the end of the queue, and passes its latest checkpoint to the next attempt', async () => {
  const first = await jobIn(service, 'running', 'retry-order');
  const second = await createJob(service, 'retry-order');
  for (const page of [1, 2]) await service.call('POST', `/jobs/${first}/checkpoint`, { body: { page } });
  await call(first, 'fail');

  const { body } = await service.call('POST', '/spaces/retry-order/jobs/poll', { body: { count: 10 } });

  expect(body.jobs).toMatchObject([
    { id: second.id, checkpoint: null },
    { id: first, checkpoint: { page: 2 } },
  ]);
  const listed = await service.call('GET', '/spaces/retry-order/jobs');
  expect(listed.body.map((job: { id: string }) => job.id)).toEqual([second.id, first]);
});

it('shows a long history completely, in order and without gaps', async () => {
  const id = await jobIn(service, 'running', 'long');
  const numbers = Array.from({ length: 250 }, (_, i) => i);
  for (const n of numbers) await service.call('POST', `/jobs/${id}/event`, { body: n });
  const events: { id: string; data: unknown }[] = (await read(id)).events;
  expect(events.map((event) => event.id)).toEqual(Array.from({ length: 253 }, (_, i) => `${id}.${i + 1}`));
  expect(events.slice(3).map(({ data }) => data)).toEqual(numbers);
});
