import { expect, it } from '@jest/globals';
import { refusalOf, STATUSES, type Status, TRANSITIONS } from '@yardmaster/protocol';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';

const service = withService();

type Verb =
  | 'claim'
  | 'ack'
  | 'progress'
  | 'checkpoint'
  | 'event'
  | 'keepalive'
  | 'complete'
  | 'fail'
  | 'release'
  | 'kill'
  | 'reschedule'
  | 'requeue';

/** What to send with each call on a job, and the data of the event that it records. */
const CALLS: Record<Verb, { body?: unknown; data: unknown }> = {
  claim: { data: null },
  ack: { data: null },
  progress: { body: { percent: 12.5, message: 'on it' }, data: { percent: 12.5, message: 'on it' } },
  checkpoint: { body: [1, {}], data: [1, {}] },
  event: { body: 'seen', data: 'seen' },
  keepalive: { data: null },
  complete: { body: { result: { ok: true } }, data: { ok: true } },
  fail: { body: { error: { why: 'broken' } }, data: { error: { why: 'broken' } } },
  release: { body: { reason: 'stop' }, data: { reason: 'stop' } },
  kill: { body: { reason: 'enough' }, data: { reason: 'enough' } },
  reschedule: { body: { delaySeconds: 0 }, data: { scheduledFor: null } },
  requeue: { data: null },
};
const VERBS = Object.keys(CALLS) as Verb[];

const NOT_PENDING = 'NOT_PENDING';
const IDLE = 'JOB_NOT_RUNNING';
const WRONG = 'JOB_NOT_DELIVERED';
const DEAD = 'JOB_KILLED';
const ENDED = 'JOB_ENDED';
const TAKEN = 'JOB_NOT_PENDING';
const ALIVE = 'JOB_NOT_DEAD';

/**
 * Outcome of every call in every status (§3): the status after it, or the code that refuses it. A failed job has no
 * retries left here. Columns: scheduled, pending, delivered, running, completed, dead, killed.
 */
const TABLE: Record<Verb, readonly string[]> = {
  claim: [NOT_PENDING, 'delivered', NOT_PENDING, NOT_PENDING, NOT_PENDING, NOT_PENDING, NOT_PENDING],
  ack: [WRONG, WRONG, 'running', WRONG, WRONG, WRONG, WRONG],
  progress: [IDLE, IDLE, IDLE, 'running', IDLE, IDLE, DEAD],
  checkpoint: [IDLE, IDLE, IDLE, 'running', IDLE, IDLE, DEAD],
  event: [IDLE, IDLE, IDLE, 'running', IDLE, IDLE, DEAD],
  keepalive: [IDLE, IDLE, IDLE, 'running', IDLE, IDLE, DEAD],
  complete: [IDLE, IDLE, IDLE, 'completed', IDLE, IDLE, IDLE],
  fail: [IDLE, IDLE, IDLE, 'dead', IDLE, IDLE, IDLE],
  release: [IDLE, IDLE, 'pending', 'pending', IDLE, IDLE, DEAD],
  kill: ['killed', 'killed', 'killed', 'killed', ENDED, ENDED, 'killed'],
  reschedule: ['pending', 'pending', TAKEN, TAKEN, TAKEN, TAKEN, TAKEN],
  requeue: [ALIVE, ALIVE, ALIVE, ALIVE, ALIVE, 'pending', 'pending'],
};

/** Sentences of docs/errors.md. */
const SENTENCES: Record<string, string> = {
  [IDLE]: 'Job is not running',
  [WRONG]: 'Job is not in a valid state for ack',
  [DEAD]: 'Job has been killed',
  [ENDED]: 'Job has already ended',
  [TAKEN]: 'Job is not pending',
  [ALIVE]: 'Job is neither dead nor killed',
};

/** Event that a move records; none for a keepalive, nor for a second kill. */
const EVENTS: Partial<Record<Verb, string>> = {
  claim: 'delivered',
  ack: 'acked',
  progress: 'progress',
  checkpoint: 'checkpoint',
  event: 'event',
  complete: 'completed',
  fail: 'dead',
  release: 'released',
  kill: 'killed',
  reschedule: 'rescheduled',
  requeue: 'requeued',
};

const cells = VERBS.flatMap((verb) =>
  STATUSES.map((from, column) => ({ verb, from, outcome: TABLE[verb][column] as string })),
);
const isMove = ({ outcome }: { outcome: string }) => STATUSES.includes(outcome as Status);

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const call = (id: string, verb: Verb) => service.call('POST', `/jobs/${id}/${verb}`, { body: CALLS[verb].body });

it.each(cells.filter(isMove))('$verb moves a $from job to $outcome', async ({ verb, from, outcome }) => {
  const id = await jobIn(service, from, 'moves', { maxRetries: 0 });
  const before = await read(id);

  const response = await call(id, verb);

  expect(response.status).toBe(200);
  if (verb !== 'claim') expect(response.body).toEqual({ success: true });
  const after = await read(id);
  expect(after.status).toBe(outcome);
  const added = after.events.slice(before.events.length);
  const type = verb === 'kill' && from === 'killed' ? undefined : EVENTS[verb];
  if (type === undefined) return expect(added).toEqual([]);
  const event = { id: `${id}.${after.events.length}`, jobId: id, spaceId: 'moves', type, data: CALLS[verb].data };
  expect(added).toEqual([{ ...event, createdAt: after.updatedAt }]);
});

it.each(cells.filter((cell) => !isMove(cell)))(
  'refuses $verb of a $from job with $outcome and changes nothing',
  async ({ verb, from, outcome }) => {
    const id = await jobIn(service, from, 'refused');
    const before = await read(id);
    const { status, body } = await call(id, verb);
    expect({ status, body }).toEqual(
      outcome === NOT_PENDING
        ? { status: 200, body: { claimed: false, reason: 'not_pending', status: from } }
        : { status: 409, body: { error: SENTENCES[outcome], code: outcome, jobStatus: from } },
    );
    expect(await read(id)).toEqual(before);
  },
);

it('tests every trigger that can be a call about a job', () => {
  const notAboutAJob = ['poll', 'replace', 'due', 'start_timeout', 'delivery_timeout', 'execution_timeout'];
  const triggers = new Set(TRANSITIONS.map(({ trigger }) => trigger).filter((one) => !notAboutAJob.includes(one)));
  expect([...triggers].sort()).toEqual([...VERBS].sort());
});

it('the tests and the protocol list the same transitions', () => {
  const rows = TRANSITIONS.filter(({ when = 'at once' }) => ['at once', 'no retries remain'].includes(when));
  for (const { verb, from, outcome } of cells) {
    const row = rows.find((one) => one.trigger === verb && one.from.includes(from));
    const inProtocol = row ? [row.to, row.event] : [refusalOf(verb, from) ?? NOT_PENDING];
    const event = verb === 'kill' && from === 'killed' ? null : (EVENTS[verb] ?? null);
    expect({ verb, from, inProtocol }).toEqual({ verb, from, inProtocol: row ? [outcome, event] : [outcome] });
  }
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

it('puts a retried job at the end of the queue, and gives its latest checkpoint to the next attempt', async () => {
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

it('shows a long history complete, in order and without gaps', async () => {
  const id = await jobIn(service, 'running', 'long');
  const numbers = Array.from({ length: 250 }, (_, i) => i);
  for (const n of numbers) await service.call('POST', `/jobs/${id}/event`, { body: n });
  const events: { id: string; data: unknown }[] = (await read(id)).events;
  expect(events.map((event) => event.id)).toEqual(Array.from({ length: 253 }, (_, i) => `${id}.${i + 1}`));
  expect(events.slice(3).map(({ data }) => data)).toEqual(numbers);
});
