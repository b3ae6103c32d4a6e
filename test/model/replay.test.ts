import { expect, it } from '@jest/globals';
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
  /** Fields that differ from those of a pending job which was never delivered. */
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
const at = (ms: number) => ({ scheduledFor: isoAt(ms) });
const replacedAt = (ms: number, data: JsonValue = null): ShortEvent => ['replaced', ms, data];
const rescheduled = (atMs: number, scheduledFor: string | null, priority?: number): ShortEvent => [
  'rescheduled',
  atMs,
  { scheduledFor, ...(priority !== undefined && { priority }) },
];
const delayed = (atMs: number, untilMs: number, error = 'no'): ShortEvent => [
  'retried',
  atMs,
  { error, attemptNumber: 1, ...at(untilMs) },
];
const NOT_STARTED = 'Job was not started within 1 seconds';
const notStarted = (atMs: number): ShortEvent => ['dead', atMs, { error: NOT_STARTED }];
const TOO_LONG = 'Job ran longer than 7 seconds';
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
  {
    title: 'a job that was scheduled at its creation',
    events: [...CREATED, ['ready', 101], ['delivered', 110]],
    fields: { ...at(100), status: 'delivered', deliveredAt: isoAt(110) },
  },
  {
    title: 'a scheduled job that was killed',
    events: [...CREATED, killed(20)],
    fields: { ...at(100), status: 'killed' },
  },
  {
    title: 'a job that was scheduled, ready and released for later',
    events: [...CREATED, ['ready', 101], ['delivered', 110], ['released', 120, { reason: null, ...at(500) }]],
    fields: { ...at(500), status: 'scheduled' },
  },
  {
    title: 'a job that was rescheduled',
    events: [...CREATED, rescheduled(10, isoAt(500), 3), rescheduled(20, null), ['delivered', 30]],
    fields: { priority: 3, status: 'delivered', deliveredAt: isoAt(30) },
  },
  {
    title: 'a job that was requeued after it was dead, and after it was killed',
    events: [...RUNNING, ['dead', 30, { error: 'no' }], ['requeued', 40, at(500)], killed(50), ['requeued', 60, null]],
    fields: { ...at(500) },
  },
  {
    title: 'a job that was replaced for later, and then for now',
    events: [...CREATED, replacedAt(10, at(500)), replacedAt(20)],
  },
  {
    title: 'a retry whose delay a worker chose',
    events: [...RUNNING, delayed(30, 9_030), ['ready', 9_031]],
    fields: { ...at(9_030), attemptNumber: 1, error: 'no', retry: { delaySeconds: 1 } },
  },
  {
    title: 'a retry after a time-out, with the longest delay',
    events: [...RUNNING, delayed(5_021, 6_221, SILENT)],
    fields: { ...at(6_221), status: 'scheduled', attemptNumber: 1, error: SILENT, retry: { delaySeconds: 1 } },
  },
  {
    title: 'a failure that must not be retried',
    events: [...RUNNING, ['dead', 30, { error: 'no' }]],
    fields: { ...running, status: 'dead', error: 'no' },
  },
  {
    title: 'a job that was not started in time',
    events: [...CREATED, notStarted(1_001)],
    fields: { startWithinSeconds: 1, status: 'dead', error: NOT_STARTED },
  },
  {
    title: 'a delivered job that was not started in time',
    events: [...CREATED, ['delivered', 900], notStarted(1_001)],
    fields: { startWithinSeconds: 1, deliveredAt: isoAt(900), status: 'dead', error: NOT_STARTED },
  },
  {
    title: 'a job that got another time to start when it was replaced',
    events: [...CREATED, ['delivered', 10], ['delivery_timeout', 2_011], replacedAt(3_000), notStarted(4_001)],
    fields: { startWithinSeconds: 1, status: 'dead', error: NOT_STARTED },
  },
  {
    title: 'an attempt that took too long, whatever its worker sent',
    events: [...RUNNING, ['event', 4_000], delayed(7_021, 7_821, TOO_LONG)],
    fields: {
      ...{ ...at(7_821), status: 'scheduled', attemptNumber: 1, error: TOO_LONG },
      ...{ maxRunSeconds: 7, retry: { delaySeconds: 1 } },
    },
  },
  {
    title: 'a callback of a killed job',
    events: [...CREATED, killed(20), sent(30, 1, [200])],
    fields: { status: 'killed', callbackUrl: HOOK, callbackOn: ['killed'] },
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
])('the replay accepts a history with $title', (given) => {
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
])('the replay %s', (_what, seqs, says) => {
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
    title: 'a final time-out before the last attempt',
    events: [...RUNNING, ['dead', 5_021, { error: SILENT }]],
    says: 'must be retried (a.4)',
  },
  {
    title: 'a job that was ready too early',
    events: [...CREATED, ['ready', 100]],
    fields: at(100),
    says: 'ready (a.2) came 1 ms before the job was due',
  },
  {
    title: 'a retry that was ready too early',
    events: [...RUNNING, delayed(30, 1_030), ['ready', 1_030]],
    fields: { ...at(1_030), attemptNumber: 1, error: 'no' },
    says: 'ready (a.5) came 1 ms before the job was due',
  },
  { title: 'a pending job that is ready', events: [...RUNNING, retried(30), ['ready', 40]], says: 'was pending' },
  {
    title: 'a delivery of a scheduled job',
    events: [...CREATED, rescheduled(10, isoAt(500)), ['delivered', 20]],
    says: 'delivered (a.3) happened while the job was scheduled, where it does nothing',
  },
  {
    title: 'a time in the past',
    events: [...CREATED, rescheduled(10, isoAt(10))],
    says: 'must be rescheduled (a.2) { scheduledFor: null }',
  },
  {
    title: 'a new time of a delivered job',
    events: [...DELIVERED, rescheduled(20, null)],
    says: 'refused: JOB_NOT_PENDING',
  },
  {
    title: 'a delivered job that is replaced',
    events: [...DELIVERED, replacedAt(20)],
    says: 'where it does nothing',
  },
  {
    title: 'a delay after a time-out that its policy does not allow',
    events: [...RUNNING, delayed(5_021, 6_222, SILENT)],
    fields: { retry: { delaySeconds: 1 } },
    says: 'retried (a.4) has a delay of 1201 ms, and must have 800 to 1200',
  },
  {
    title: 'a time-out without the delay of its policy',
    events: [...RUNNING, silent(5_021)],
    fields: { retry: { delaySeconds: 1 } },
    says: 'has a delay of 0 ms, and must have 800 to 1200',
  },
  {
    title: 'a delay that no worker can choose',
    events: [...RUNNING, delayed(30, 604_800_031)],
    says: 'retried (a.4) has a delay of more than 604800 s',
  },
  {
    title: 'an early end of a job that was not started',
    events: [...CREATED, notStarted(1_000)],
    fields: { startWithinSeconds: 1 },
    says: 'dead (a.2) came 1 ms before the time to start was over',
  },
  {
    title: 'an end for want of a start after an attempt',
    events: [...RUNNING, retried(30), notStarted(2_000)],
    fields: { startWithinSeconds: 1 },
    says: 'dead (a.5) happened to a job without a limit for its start',
  },
  {
    title: 'a time-out of a delivery after which no time was left to start',
    events: [...DELIVERED, ['delivery_timeout', 2_011]],
    fields: { startWithinSeconds: 1 },
    says: 'must be dead (a.3)',
  },
  {
    title: 'an attempt that was ended too early',
    events: [...RUNNING, ['event', 4_000], ['retried', 7_020, { error: TOO_LONG, attemptNumber: 1 }]],
    fields: { maxRunSeconds: 7 },
    says: 'retried (a.5) came 1 ms before the time of the attempt was over',
  },
  {
    title: 'silence in an attempt that took too long',
    events: [...RUNNING, ['event', 4_000], silent(9_001)],
    fields: { maxRunSeconds: 7 },
    says: 'must be retried (a.5)',
  },
  {
    title: 'a time that the history does not show',
    events: [...CREATED, rescheduled(10, isoAt(500))],
    fields: { ...at(600), status: 'scheduled' },
    says: 'scheduledFor is',
  },
  {
    title: 'a callback of a job that was killed without need for one',
    events: [...CREATED, killed(20), sent(30, 1, [200])],
    fields: { status: 'killed', callbackUrl: HOOK },
    says: 'no callback was pending',
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
])('the replay rejects $title', ({ says, ...given }) => {
  expect(replayed(given)).toContain(says);
});

it('the model refuses each verb in each status as the specification prescribes', () => {
  const rows = JOB_VERBS.map((verb) => [verb, STATUSES.map((status) => refusalOf(verb, status)?.code ?? 'ok')]);
  const [ack, run] = ['JOB_NOT_DELIVERED', 'JOB_NOT_RUNNING'];
  const [heartbeat, end] = ['JOB_KILLED', run].map((killed) => [run, run, run, 'ok', run, run, killed]);
  const any = Array(7).fill('ok');
  expect(Object.fromEntries(rows)).toEqual({
    ...{ claim: any, logs: any, ack: [ack, ack, 'ok', ack, ack, ack, ack] },
    ...{ progress: heartbeat, checkpoint: heartbeat, event: heartbeat, keepalive: heartbeat },
    release: [run, run, 'ok', 'ok', run, run, 'JOB_KILLED'],
    reschedule: ['ok', 'ok', ...Array(5).fill('JOB_NOT_PENDING')],
    requeue: [...Array(5).fill('JOB_NOT_DEAD'), 'ok', 'ok'],
    delete: [...Array(4).fill('JOB_NOT_ENDED'), 'ok', 'ok', 'ok'],
    ...{ complete: end, fail: end, kill: [...Array(4).fill('ok'), 'JOB_ENDED', 'JOB_ENDED', 'ok'] },
    redeliver: [...Array(4).fill('JOB_NOT_ENDED'), ...Array(3).fill('NO_CALLBACK')],
  });
  expect(refusalOf('redeliver', 'completed', HOOK)).toBeNull();
  expect(refusalOf('redeliver', 'killed', HOOK)?.code).toBe('NO_CALLBACK');
  expect(refusalOf('ack', 'running')?.jobStatus).toBe('running');
});
