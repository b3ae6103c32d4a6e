import { describe, expect, it } from '@jest/globals';
import { type EventType, type JobWithEvents, type JsonValue, STATUSES } from '@yardmaster/protocol';
import { JOB_VERBS, refusalOf, replay } from './index.js';
import type { Unrecorded } from './replay.js';

const START = Date.parse('2026-01-01T12:00:00.000Z');
const SETTINGS = {
  deliveryTimeoutMs: 2_000,
  maxDeliveries: 2,
  retentionMs: 0,
  eventsPerJob: 10,
  callbackDelays: [10, 100],
};
const HOOK = 'https://example.com/hook';

const isoAt = (ms: number) => new Date(START + ms).toISOString();

type ShortEvent = [type: EventType, atMs: number, data?: JsonValue];

interface HistoryCase {
  title: string;
  events: ShortEvent[];
  /** Fields that differ from those of a job which was never delivered. */
  fields?: Partial<JobWithEvents>;
  unrecorded?: Unrecorded;
}

/** A job with a window of 5 s and one retry. */
function jobOf({ events, fields }: HistoryCase): JobWithEvents {
  const of = { jobId: 'a', spaceId: 'yard' };
  return {
    ...{ id: 'a', spaceId: 'yard', name: 'work', payload: { n: 1 }, status: 'pending', maxRetries: 1 },
    ...{ attemptNumber: 0, timeoutSeconds: 5, callbackUrl: null, callbackHeaders: null, result: null },
    ...{ deliveredAt: null, startedAt: null, completedAt: null, createdAt: isoAt(0) },
    updatedAt: isoAt(events.findLast(([type]) => !type.startsWith('callback'))?.[1] ?? 0),
    events: events.map(([type, ms, data = null], i) => ({ id: `a.${i + 1}`, ...of, type, data, createdAt: isoAt(ms) })),
    ...fields,
  };
}

const replayed = (history: HistoryCase) => replay(jobOf(history), SETTINGS, history.unrecorded);

const CREATED: ShortEvent[] = [['created', 0]];
const DELIVERED: ShortEvent[] = [...CREATED, ['delivered', 10]];
const RUNNING: ShortEvent[] = [...DELIVERED, ['acked', 20]];
const COMPLETED: ShortEvent[] = [...RUNNING, ['completed', 30, [1]]];

const HALF = { percent: 50, message: 'half' };
const SILENT = 'Job timed out after 5 seconds without a heartbeat';
const silent = (atMs: number): ShortEvent => ['retried', atMs, { error: SILENT, attemptNumber: 1 }];
const retried = (atMs: number, attemptNumber = 1): ShortEvent => ['retried', atMs, { error: 'no', attemptNumber }];
const NEVER_ACKED = 'Job was delivered 2 times and never acknowledged';
const neverAcked = (atMs: number): ShortEvent => ['dead', atMs, { error: NEVER_ACKED }];
const released = (atMs: number): ShortEvent => ['released', atMs, { reason: 'stop' }];
const killed = (atMs: number): ShortEvent => ['killed', atMs, { reason: null }];
const sent = (atMs: number, attempt: number, [statusCode, willRetry = false]: [number, boolean?]): ShortEvent => [
  'callback_sent',
  atMs,
  { url: HOOK, statusCode, attempt, willRetry },
];
const failed = (atMs: number, error: string, willRetry: boolean): ShortEvent => [
  'callback_failed',
  atMs,
  { url: HOOK, error, attempt: 1, willRetry },
];
const AGAIN: ShortEvent[] = [...DELIVERED, ['delivery_timeout', 2_011], ['delivered', 2_100]];
const SECOND: ShortEvent[] = [...RUNNING, retried(30), ['delivered', 40], ['acked', 50]];

const delivered = { deliveredAt: isoAt(10) };
const running = { ...delivered, startedAt: isoAt(20), attemptNumber: 1, status: 'running' } as const;
const completed: Partial<JobWithEvents> = { ...running, status: 'completed', result: [1], completedAt: isoAt(30) };
const called = { ...completed, callbackUrl: HOOK };
const second = { deliveredAt: isoAt(40), startedAt: isoAt(50), attemptNumber: 2 };

describe('replay of a history', () => {
  it.each<HistoryCase>([
    { title: 'only a creation', events: CREATED },
    { title: 'progress', events: [...RUNNING, ['progress', 30, HALF]], fields: { ...running, progress: HALF } },
    { title: 'a checkpoint', events: [...RUNNING, ['checkpoint', 30, 7]], fields: running },
    { title: 'a completion', events: COMPLETED, fields: completed },
    { title: 'a retry', events: [...RUNNING, retried(30)], fields: { attemptNumber: 1, error: 'no' } },
    {
      title: 'a final failure',
      events: [...SECOND, ['dead', 60, { error: 'no' }]],
      fields: { ...second, status: 'dead', error: 'no' },
    },
    { title: 'a delivery that timed out', events: [...DELIVERED, ['delivery_timeout', 2_011]] },
    {
      title: 'a job that no worker acked',
      events: [...AGAIN, neverAcked(4_101)],
      fields: { deliveredAt: isoAt(2_100), status: 'dead', error: NEVER_ACKED },
    },
    {
      title: 'a worker that stopped calling',
      events: [...RUNNING, silent(5_021)],
      fields: { attemptNumber: 1, error: SILENT },
    },
    {
      title: 'a time-out, and a keepalive in the previous attempt',
      events: [...SECOND, ['dead', 5_051, { error: SILENT }]],
      fields: { ...second, status: 'dead', error: SILENT },
      unrecorded: { keepalives: [{ sentAt: START + 22, endedAt: START + 29 }] },
    },
    { title: 'a release of a delivered job', events: [...DELIVERED, released(20)] },
    { title: 'a release of a running job', events: [...RUNNING, released(30)] },
    { title: 'a kill', events: [...DELIVERED, killed(20)], fields: { ...delivered, status: 'killed' } },
    {
      title: 'a clock that stepped back after the creation',
      events: [...CREATED, ['delivered', -5]],
      fields: { deliveredAt: isoAt(-5), status: 'delivered' },
    },
    { title: 'callbacks', events: [...COMPLETED, sent(40, 1, [503, true]), sent(8_040, 2, [200])], fields: called },
    {
      title: 'a callback whose address was refused',
      events: [...COMPLETED, failed(40, 'address is not public', false)],
      fields: called,
    },
    {
      title: 'a callback that was requested again',
      events: [...COMPLETED, sent(40, 1, [200]), sent(50, 2, [200])],
      fields: called,
      unrecorded: { redeliveries: 1 },
    },
  ])('accepts a history with $title', (given) => {
    expect(replayed(given)).toBeNull();
  });

  it.each<[what: string, seqs: number[], says: string | null]>([
    ['accepts a history whose old events were dropped', [2, 3, 4, 5], null],
    [
      'rejects a history from which one event too many was dropped',
      [2, 3, 4, 5, 6],
      'the history has 9 events, and must have 10',
    ],
    [
      'rejects a history from which a newer event was dropped',
      [2, 3, 4, 7],
      'the history lacks an event before event (a.8)',
    ],
  ])('%s', (_what, seqs, says) => {
    const { events, ...job } = jobOf({
      title: '',
      events: [...COMPLETED, ...Array<ShortEvent>(10).fill(['event', 40])],
    });
    const kept = events.filter(({ id }) => !seqs.some((seq) => id === `a.${seq}`));
    expect(replay({ ...job, events: kept }, SETTINGS)).toBe(says);
  });

  it.each<HistoryCase & { says: string }>([
    { title: 'a history without creation', events: DELIVERED.slice(1), says: 'the history begins with delivered' },
    { title: 'a second creation', events: [...CREATED, ...CREATED], says: 'created (a.2) is a second creation' },
    {
      title: 'an ack without a delivery',
      events: [...CREATED, ['acked', 10]],
      says: 'acked (a.2) happened while the job was pending, which is refused: JOB_NOT_DELIVERED',
    },
    {
      title: 'a second delivery',
      events: [...DELIVERED, ['delivered', 20]],
      says: 'delivered (a.3) happened while the job was delivered, where it does nothing',
    },
    { title: 'progress after a kill', events: [...RUNNING, killed(30), ['progress', 40]], says: 'JOB_KILLED' },
    { title: 'a release of a pending job', events: [...CREATED, released(30)], says: 'refused: JOB_NOT_RUNNING' },
    { title: 'a release after a kill', events: [...RUNNING, killed(30), released(40)], says: 'JOB_KILLED' },
    { title: 'a second kill', events: [...CREATED, killed(30), killed(40)], says: 'killed (a.3) happened while' },
    { title: 'a kill after the end', events: [...COMPLETED, killed(40)], says: 'refused: JOB_ENDED' },
    { title: 'time that goes back', events: [...DELIVERED, ['acked', 5]], says: 'acked (a.3) is older than the one' },
    {
      title: 'a wrong attemptNumber',
      events: [...RUNNING, retried(30, 2)],
      says: 'attemptNumber: 2 } must be retried',
    },
    { title: 'one retry too many', events: [...SECOND, retried(60, 2)], says: 'attemptNumber: 2 } must be dead (a.7)' },
    {
      title: 'a final failure before the last attempt',
      events: [...RUNNING, ['dead', 30, { error: 'no' }]],
      says: 'must be retried (a.4)',
    },
    {
      title: 'a delivery that timed out in the last millisecond of its window',
      events: [...DELIVERED, ['delivery_timeout', 2_010]],
      says: 'delivery_timeout (a.3) came 1 ms before the window was over',
    },
    {
      title: 'an early end of a job that no worker acked',
      events: [...AGAIN, neverAcked(4_100)],
      says: 'came 1 ms before',
    },
    { title: 'one time-out too many', events: [...AGAIN, ['delivery_timeout', 4_101]], says: 'must be dead (a.5)' },
    { title: 'an early time-out', events: [...RUNNING, silent(4_000)], says: 'came 1021 ms before' },
    {
      title: 'an early time-out after an event',
      events: [...RUNNING, ['event', 1_000], silent(5_021)],
      says: 'retried (a.5) came 980 ms before',
    },
    {
      title: 'an early time-out after a keepalive',
      events: [...RUNNING, silent(5_021)],
      unrecorded: { keepalives: [{ sentAt: START + 120, endedAt: START + 130 }] },
      says: 'came 100 ms before',
    },
    { title: 'a time-out of a pending job', events: [...CREATED, silent(9_000)], says: 'the job was pending' },
    {
      title: 'a status that the history contradicts',
      events: [...RUNNING, retried(30)],
      fields: running,
      says: "status is 'running', but by",
    },
    {
      title: 'a result that the history contradicts',
      events: COMPLETED,
      fields: { ...completed, result: [2] },
      says: 'result is [ 2 ], but',
    },
    {
      title: 'a time that a retry must have cleared',
      events: [...RUNNING, retried(30)],
      fields: second,
      says: 'attemptNumber is 2',
    },
    {
      title: 'a callback without a callbackUrl',
      events: [...COMPLETED, sent(40, 1, [200])],
      fields: completed,
      says: 'callback_sent (a.5) happened while the job was completed, and no callback was pending',
    },
    {
      title: 'a callback after one that was accepted',
      events: [...COMPLETED, sent(40, 1, [200]), sent(50, 2, [200])],
      fields: called,
      says: 'callback_sent (a.6) happened while the job was completed, and no callback was pending',
    },
    {
      title: 'a callback that came too soon',
      events: [...COMPLETED, sent(40, 1, [503, true]), sent(8_000, 2, [200])],
      fields: called,
      says: 'it came 39 ms too soon',
    },
    {
      title: 'a skipped attempt of a callback',
      events: [...COMPLETED, sent(40, 2, [200])],
      fields: called,
      says: 'is attempt 2',
    },
    {
      title: 'a callback that is not retried after status 503',
      events: [...COMPLETED, sent(40, 1, [503])],
      fields: called,
      says: 'callback_sent (a.5) is not retried, which is wrong',
    },
    {
      title: 'a callback that is not retried after a network error',
      events: [...COMPLETED, failed(40, 'connection refused', false)],
      fields: called,
      says: 'callback_failed (a.5) is not retried, which is wrong',
    },
    {
      title: 'a retry of a callback after status 404',
      events: [...COMPLETED, sent(40, 1, [404, true])],
      fields: called,
      says: 'callback_sent (a.5) is retried, which is wrong',
    },
  ])('rejects $title', ({ says, ...given }) => {
    expect(replayed(given)).toContain(says);
  });
});

it('refuses each verb in each status as the specification prescribes', () => {
  const rows = JOB_VERBS.map((verb) => [verb, STATUSES.map((status) => refusalOf(verb, status)?.code ?? 'ok')]);
  const [ack, run] = ['JOB_NOT_DELIVERED', 'JOB_NOT_RUNNING'];
  const [heartbeat, end] = ['JOB_KILLED', run].map((killed) => [run, run, 'ok', run, run, killed]);
  const any = Array(6).fill('ok');
  expect(Object.fromEntries(rows)).toEqual({
    ...{ claim: any, logs: any, ack: [ack, 'ok', ack, ack, ack, ack] },
    ...{ progress: heartbeat, checkpoint: heartbeat, event: heartbeat, keepalive: heartbeat },
    release: [run, 'ok', 'ok', run, run, 'JOB_KILLED'],
    ...{ complete: end, fail: end, kill: ['ok', 'ok', 'ok', 'JOB_ENDED', 'JOB_ENDED', 'ok'] },
    redeliver: [...Array(3).fill('JOB_NOT_ENDED'), ...Array(3).fill('NO_CALLBACK')],
  });
  expect(refusalOf('redeliver', 'completed', HOOK)).toBeNull();
  expect(refusalOf('redeliver', 'killed', HOOK)?.code).toBe('NO_CALLBACK');
  expect(refusalOf('ack', 'running')?.jobStatus).toBe('running');
});
