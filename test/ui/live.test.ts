import { expect, it } from '@jest/globals';
import type { ListedJob } from '@yardmaster/protocol';
import { applyMessage, type EventMessage } from '../../apps/ui/src/live/apply-message.js';
import { errorGroupsOf } from '../../apps/ui/src/live/errors.js';
import { type HistoryEvent, stretchesOf } from '../../apps/ui/src/screens/job/attempts.js';

const job = (id: string, status: string, error?: unknown) => ({ id, status, error }) as ListedJob;

it('groups dead jobs by the text of their error, largest group first', () => {
  const disk = { message: 'disk full', code: 28 };
  const jobs = [
    job('a', 'dead', 'timeout'),
    job('b', 'dead', disk),
    job('c', 'dead', disk),
    job('d', 'pending', 'timeout'),
  ];
  expect(errorGroupsOf(jobs)).toEqual([
    { error: disk, text: 'disk full', ids: ['b', 'c'] },
    { error: 'timeout', text: 'timeout', ids: ['a'] },
  ]);
});

const running = {
  ...{ id: 'j', spaceId: 'demo', name: 'resize', payload: null, status: 'running', maxRetries: 3, attemptNumber: 1 },
  ...{ timeoutSeconds: 300, deliveredAt: '2026-01-31T09:30:01.000Z', startedAt: '2026-01-31T09:30:02.000Z' },
  ...{ completedAt: null, result: null, createdAt: '2026-01-31T09:30:00.000Z', updatedAt: '2026-01-31T09:30:05.000Z' },
} as ListedJob;

const message = (fields: object) =>
  ({ jobId: 'j', jobName: 'resize', data: null, timestamp: '2026-01-31T09:30:09.000Z', ...fields }) as EventMessage;

it('completes a job with its result and time', () => {
  const changed = applyMessage(running, message({ type: 'completed', status: 'completed', data: { width: 320 } }));
  const timestamp = '2026-01-31T09:30:09.000Z';
  expect(changed).toEqual({
    ...running,
    ...{ status: 'completed', result: { width: 320 }, completedAt: timestamp, updatedAt: timestamp },
  });
});

it('shows the error of a failed attempt, and no worker', () => {
  const data = { error: 'disk full', attemptNumber: 1 };
  expect(applyMessage(running, message({ type: 'retried', status: 'pending', data }))).toMatchObject({
    ...{ status: 'pending', error: 'disk full', attemptNumber: 1, deliveredAt: null, startedAt: null },
  });
});

it('counts an attempt when the job is acked', () => {
  const delivered = { ...running, status: 'delivered' as const, startedAt: null };
  const acked = applyMessage(delivered, message({ type: 'acked', status: 'running' }));
  expect(acked).toMatchObject({ status: 'running', attemptNumber: 2, startedAt: '2026-01-31T09:30:09.000Z' });
});

it('clears the due time when a job is rescheduled to now', () => {
  const scheduled = { ...running, status: 'scheduled' as const, scheduledFor: '2026-01-31T10:00:00.000Z' };
  const data = { scheduledFor: null };
  const changed = applyMessage(scheduled, message({ type: 'rescheduled', status: 'pending', data }));
  expect(changed.scheduledFor).toBeUndefined();
});

it('resets attempts and progress after a requeue', () => {
  const dead = { ...running, status: 'dead' as const, error: 'disk full', attemptNumber: 4 };
  const requeued = applyMessage(dead, message({ type: 'requeued', status: 'pending' }));
  expect(requeued).toMatchObject({ status: 'pending', attemptNumber: 0, startedAt: null });
  expect(requeued.error).toBeUndefined();
});

it('ignores an event that the list of jobs already reflects', () => {
  const old = message({ type: 'progress', status: 'running', timestamp: '2026-01-31T09:30:04.999Z' });
  expect(applyMessage(running, old)).toBe(running);
});

it('ignores appended logs, which do not change the job', () => {
  expect(applyMessage(running, message({ type: 'logs_appended', status: 'running' }))).toBe(running);
});

it('counts an ack only once if the list of jobs already reflects it', () => {
  const acked = message({ type: 'acked', status: 'running', timestamp: running.startedAt });
  expect(applyMessage({ ...running, updatedAt: running.startedAt as string }, acked).attemptNumber).toBe(1);
});

it('does not count the attempt of a released job, and shows when it is due', () => {
  const scheduledFor = '2026-01-31T10:00:00.000Z';
  const released = message({ type: 'released', status: 'scheduled', data: { reason: null, scheduledFor } });
  expect(applyMessage(running, released)).toMatchObject({ attemptNumber: 0, startedAt: null, scheduledFor });
});

/** Create a history with one event per second. */
const history = (...types: HistoryEvent['type'][]): HistoryEvent[] =>
  types.map((type, second) => ({ type, data: null, createdAt: at(second) }));

const at = (second: number) => `2026-01-31T09:30:0${second}.000Z`;

/** Format periods as `running 2: 3–5 completed`. */
const shown = (events: HistoryEvent[]) =>
  stretchesOf(events).map(
    ({ kind, attempt, from, to, end }) => `${kind} ${attempt}: ${from.slice(18, 19)}–${to?.slice(18, 19) ?? ''} ${end}`,
  );

it('divides the history of a job into waits, deliveries and attempts', () => {
  expect(
    shown(history('created', 'delivered', 'acked', 'retried', 'delivered', 'acked', 'progress', 'completed')),
  ).toEqual([
    'waiting 0: 0–1 delivered',
    'delivered 0: 1–2 acked',
    'running 1: 2–3 retried',
    'waiting 0: 3–4 delivered',
    'delivered 0: 4–5 acked',
    'running 2: 5–7 completed',
  ]);
});

it('leaves the last period of a running job open', () => {
  expect(shown(history('created', 'delivered', 'acked'))).toEqual([
    'waiting 0: 0–1 delivered',
    'delivered 0: 1–2 acked',
    'running 1: 2– null',
  ]);
});

it('shows no attempt for a delivery that was never acked', () => {
  expect(shown(history('created', 'delivered', 'delivery_timeout'))).toEqual([
    'waiting 0: 0–1 delivered',
    'delivered 0: 1–2 delivery_timeout',
    'waiting 0: 2– null',
  ]);
});

it('counts attempts from 1 after a requeue, and omits the time before it', () => {
  const events = history('created', 'delivered', 'acked', 'dead', 'callback_failed', 'requeued', 'delivered', 'acked');
  expect(shown(events).slice(2)).toEqual([
    'running 1: 2–3 dead',
    'waiting 0: 5–6 delivered',
    'delivered 0: 6–7 acked',
    'running 1: 7– null',
  ]);
});

it('marks progress reports and checkpoints on their attempt', () => {
  const events = history('created', 'delivered', 'acked', 'progress', 'checkpoint', 'completed');
  expect(stretchesOf(events).map(({ ticks }) => ticks)).toEqual([
    [],
    [],
    [
      { type: 'progress', at: at(3) },
      { type: 'checkpoint', at: at(4) },
    ],
  ]);
});

it('does not count a released attempt', () => {
  expect(shown(history('created', 'delivered', 'acked', 'released', 'delivered', 'acked')).slice(2)).toEqual([
    'running 1: 2–3 released',
    'waiting 0: 3–4 delivered',
    'delivered 0: 4–5 acked',
    'running 1: 5– null',
  ]);
});

it('shows an attempt whose ack is no longer in the history', () => {
  expect(shown(history('created', 'progress', 'progress', 'completed'))).toEqual([
    'waiting 0: 0–1 acked',
    'running 1: 1–3 completed',
  ]);
});
