import { expect, it } from '@jest/globals';
import type { ListedJob } from '@yardmaster/protocol';
import { applyMessage, type EventMessage } from '../../apps/ui/src/live/apply-message.js';

const job = {
  ...{ id: 'j', spaceId: 'demo', name: 'resize', payload: null, status: 'running', maxRetries: 3, attemptNumber: 1 },
  ...{ timeoutSeconds: 300, deliveredAt: '2026-01-31T09:30:01.000Z', startedAt: '2026-01-31T09:30:02.000Z' },
  ...{ completedAt: null, result: null, createdAt: '2026-01-31T09:30:00.000Z', updatedAt: '2026-01-31T09:30:05.000Z' },
} as ListedJob;

const message = (fields: object) =>
  ({ jobId: 'j', jobName: 'resize', data: null, timestamp: '2026-01-31T09:30:09.000Z', ...fields }) as EventMessage;

it('completes a job with its result and time', () => {
  const changed = applyMessage(job, message({ type: 'completed', status: 'completed', data: { width: 320 } }));
  const timestamp = '2026-01-31T09:30:09.000Z';
  expect(changed).toEqual({
    ...job,
    ...{ status: 'completed', result: { width: 320 }, completedAt: timestamp, updatedAt: timestamp },
  });
});

it('shows the error of a failed attempt, and no worker', () => {
  const data = { error: 'disk full', attemptNumber: 1 };
  expect(applyMessage(job, message({ type: 'retried', status: 'pending', data }))).toMatchObject({
    ...{ status: 'pending', error: 'disk full', attemptNumber: 1, deliveredAt: null, startedAt: null },
  });
});

it('counts an attempt of a job when it is acked', () => {
  const delivered = { ...job, status: 'delivered' as const, startedAt: null };
  const acked = applyMessage(delivered, message({ type: 'acked', status: 'running' }));
  expect(acked).toMatchObject({ status: 'running', attemptNumber: 2, startedAt: '2026-01-31T09:30:09.000Z' });
});

it('removes the time to start when a job is rescheduled to now', () => {
  const scheduled = { ...job, status: 'scheduled' as const, scheduledFor: '2026-01-31T10:00:00.000Z' };
  const data = { scheduledFor: null };
  const changed = applyMessage(scheduled, message({ type: 'rescheduled', status: 'pending', data }));
  expect(changed.scheduledFor).toBeUndefined();
});

it('resets attempts and progress of a job after a requeue', () => {
  const dead = { ...job, status: 'dead' as const, error: 'disk full', attemptNumber: 4 };
  const requeued = applyMessage(dead, message({ type: 'requeued', status: 'pending' }));
  expect(requeued).toMatchObject({ status: 'pending', attemptNumber: 0, startedAt: null });
  expect(requeued.error).toBeUndefined();
});

it('ignores an event that the list of jobs contains already', () => {
  const old = message({ type: 'progress', status: 'running', timestamp: '2026-01-31T09:30:04.999Z' });
  expect(applyMessage(job, old)).toBe(job);
});

it('ignores appended logs, which do not change a job', () => {
  expect(applyMessage(job, message({ type: 'logs_appended', status: 'running' }))).toBe(job);
});

it('counts an ack once that the list of jobs contains already', () => {
  const acked = message({ type: 'acked', status: 'running', timestamp: job.startedAt });
  expect(applyMessage({ ...job, updatedAt: job.startedAt as string }, acked).attemptNumber).toBe(1);
});

it('takes back the attempt of a released job, and shows until when it waits', () => {
  const scheduledFor = '2026-01-31T10:00:00.000Z';
  const released = message({ type: 'released', status: 'scheduled', data: { reason: null, scheduledFor } });
  expect(applyMessage(job, released)).toMatchObject({ attemptNumber: 0, startedAt: null, scheduledFor });
});
