import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ERRORS,
  refusalOf,
  STATUSES,
  type Status,
  TRANSITIONS,
  type Transition,
  type Trigger,
} from '@yardmaster/protocol';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Triggers that a caller can pull, and what to send. The clock's two have no endpoint. */
const CALLS: Partial<Record<Trigger, { verb: string; body?: unknown; data: unknown }>> = {
  claim: { verb: 'claim', data: null },
  ack: { verb: 'ack', data: null },
  progress: { verb: 'progress', body: { percent: 12.5, message: 'on it' }, data: { percent: 12.5, message: 'on it' } },
  checkpoint: { verb: 'checkpoint', body: [1, {}], data: [1, {}] },
  event: { verb: 'event', body: 'seen', data: 'seen' },
  keepalive: { verb: 'keepalive', data: null },
  complete: { verb: 'complete', body: { result: { ok: true } }, data: { ok: true } },
  fail: { verb: 'fail', body: { error: { why: 'broken' } }, data: { error: { why: 'broken' } } },
  kill: { verb: 'kill', body: { reason: 'enough' }, data: { reason: 'enough' } },
};

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;

/** Start with retries when the row says that some remain. */
const fieldsFor = (row: Transition) => (row.when ? { maxRetries: row.when === 'retries remain' ? 1 : 0 } : {});

describe('every row of the transition table', () => {
  const rows = TRANSITIONS.flatMap((row) => row.from.map((from) => ({ row, from, when: row.when ?? 'always' }))).filter(
    ({ row }) => CALLS[row.trigger] !== undefined,
  );

  it.each(rows)('$row.trigger moves $from to $row.to ($when)', async ({ row, from }) => {
    const call = CALLS[row.trigger] as NonNullable<(typeof CALLS)[Trigger]>;
    const id = await jobIn(service, from, 'rows', fieldsFor(row));
    const before = await read(id);

    const answer = await service.call('POST', `/jobs/${id}/${call.verb}`, { body: call.body });

    expect(answer.status).toBe(200);
    const after = await read(id);
    expect(after.status).toBe(row.to);
    const news = after.events.slice(before.events.length);
    if (row.event === null) {
      expect(news).toEqual([]);
    } else {
      const data = row.event === 'retried' ? { ...(call.data as object), attemptNumber: 1 } : call.data;
      const seq = after.events.length;
      expect(news).toEqual([
        { id: `${id}.${seq}`, jobId: id, spaceId: 'rows', type: row.event, data, createdAt: expect.any(String) },
      ]);
      expect(after.updatedAt).toBe(news[0].createdAt);
    }
    if (row.trigger !== 'claim') expect(answer.body).toEqual({ success: true });
  });

  it('poll moves pending to delivered', async () => {
    const { id } = await createJob(service, 'polled');
    const { body } = await service.call('POST', '/spaces/polled/jobs/poll');
    expect(body.jobs.map((job: { id: string }) => job.id)).toEqual([id]);
    expect(await read(id)).toMatchObject({ status: 'delivered', deliveredAt: expect.any(String), startedAt: null });
  });
});

describe('every status × trigger that is no row', () => {
  const inTable = (trigger: Trigger, status: Status) =>
    TRANSITIONS.some((row) => row.trigger === trigger && row.from.includes(status));
  const refused = (Object.keys(CALLS) as Trigger[])
    .flatMap((trigger) => STATUSES.map((status) => ({ trigger, status })))
    .filter(({ trigger, status }) => !inTable(trigger, status));

  it.each(refused)('$trigger on a $status job changes nothing', async ({ trigger, status }) => {
    const call = CALLS[trigger] as NonNullable<(typeof CALLS)[Trigger]>;
    const id = await jobIn(service, status, 'refused');
    const before = await read(id);

    const answer = await service.call('POST', `/jobs/${id}/${call.verb}`, { body: call.body });

    const code = refusalOf(trigger, status);
    if (code === null) {
      expect(answer).toMatchObject({ status: 200, body: { claimed: false, reason: 'not_pending', status } });
    } else {
      expect(answer.status).toBe(409);
      expect(answer.body).toEqual({ error: ERRORS[code].message, code, jobStatus: status });
    }
    expect(await read(id)).toEqual(before);
  });

  it.each(STATUSES.filter((status) => status !== 'pending'))('poll does not hand out a %s job', async (status) => {
    await jobIn(service, status, `unpolled-${status}`);
    const { body } = await service.call('POST', `/spaces/unpolled-${status}/jobs/poll`, { body: { count: 50 } });
    expect(body).toEqual({ jobs: [] });
  });

  it.each([...Object.keys(CALLS)])('%s on an unknown job is 404', async (trigger) => {
    const call = CALLS[trigger as Trigger] as NonNullable<(typeof CALLS)[Trigger]>;
    for (const id of ['nope', '00aaaaaaaaaaaaaaaaaaaaaaaaaa']) {
      const answer = await service.call('POST', `/jobs/${id}/${call.verb}`, { body: call.body });
      expect(answer).toMatchObject({ status: 404, body: { error: 'Job not found', code: 'JOB_NOT_FOUND' } });
    }
  });
});

describe('attempts', () => {
  it('counts an attempt at its ack, retries while attemptNumber <= maxRetries, and then is dead', async () => {
    const { id } = await createJob(service, 'attempts', { maxRetries: 2, callbackUrl: 'http://example.com/' });
    for (const attemptNumber of [1, 2, 3]) {
      const claimed = await service.call('POST', `/jobs/${id}/claim`);
      expect(claimed.body.job.attemptNumber).toBe(attemptNumber - 1);
      await service.call('POST', `/jobs/${id}/ack`);
      expect(await read(id)).toMatchObject({ status: 'running', attemptNumber });
      await service.call('POST', `/jobs/${id}/fail`, { body: { error: `no ${attemptNumber}` } });
      const job = await read(id);
      expect(job).toMatchObject(
        attemptNumber <= 2
          ? { status: 'pending', attemptNumber, deliveredAt: null, startedAt: null }
          : { status: 'dead', attemptNumber, result: null, completedAt: null },
      );
      expect(job.events.at(-1)).toMatchObject(
        attemptNumber <= 2
          ? { type: 'retried', data: { error: `no ${attemptNumber}`, attemptNumber } }
          : { type: 'dead', data: { error: `no ${attemptNumber}` } },
      );
    }
  });

  it('sends a retried job to the end of the queue and hands its latest checkpoint to the next attempt', async () => {
    const first = await jobIn(service, 'running', 'retry-order');
    const second = await createJob(service, 'retry-order');
    await service.call('POST', `/jobs/${first}/checkpoint`, { body: { page: 1 } });
    await service.call('POST', `/jobs/${first}/checkpoint`, { body: { page: 2 } });
    await service.call('POST', `/jobs/${first}/fail`, { body: { error: 'x' } });

    const { body } = await service.call('POST', '/spaces/retry-order/jobs/poll', { body: { count: 10 } });

    expect(body.jobs.map(({ id, checkpoint }: { id: string; checkpoint: unknown }) => ({ id, checkpoint }))).toEqual([
      { id: second.id, checkpoint: null },
      { id: first, checkpoint: { page: 2 } },
    ]);
    const listed = await service.call('GET', '/spaces/retry-order/jobs');
    expect(listed.body.map((job: { id: string }) => job.id)).toEqual([second.id, first]);
  });

  it('shows a long history whole, in order and without gaps', async () => {
    const id = await jobIn(service, 'running', 'long');
    for (let i = 0; i < 250; i++) await service.call('POST', `/jobs/${id}/event`, { body: i });
    const { events } = (await service.call('GET', `/jobs/${id}`)).body;
    expect(events.map((event: { id: string }) => event.id)).toEqual(
      Array.from({ length: 253 }, (_, i) => `${id}.${i + 1}`),
    );
    expect(events.slice(3).map((event: { data: number }) => event.data)).toEqual(
      Array.from({ length: 250 }, (_, i) => i),
    );
  });

  it('keeps the newest events up to the limit and always `created`', async () => {
    const limited = await startService({ EVENTS_PER_JOB: '10' });
    const id = await jobIn(limited, 'running', 'short');
    for (let i = 0; i < 20; i++) await limited.call('POST', `/jobs/${id}/event`, { body: i });
    const { events } = (await limited.call('GET', `/jobs/${id}`)).body;
    expect(events.map((event: { id: string }) => event.id.split('.')[1])).toEqual([
      '1',
      '15',
      '16',
      '17',
      '18',
      '19',
      '20',
      '21',
      '22',
      '23',
    ]);
    await limited.stop();
  });
});
