import { expect, it } from '@jest/globals';
import {
  EVENT_TYPES,
  type EventType,
  type JobWithEvents,
  type JsonValue,
  refusalOf as protocolRefusalOf,
  STATUSES,
  type Status,
  TRANSITIONS,
  type Trigger,
} from '@yardmaster/protocol';
import { callJob, get, JOB_VERBS, type JobVerb, refusalOf, replay, worldWith } from './index.js';
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

/** A history, the fields that differ from those of a pending job which was never delivered, and calls without an event. */
type History = [events: ShortEvent[], fields?: Partial<JobWithEvents>, unrecorded?: Unrecorded];

/** A job with a window of 5 s and one retry. */
function jobOf(events: ShortEvent[], fields: Partial<JobWithEvents> = {}): JobWithEvents {
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

const replayed = ([events, fields, unrecorded]: History) => replay(jobOf(events, fields), SETTINGS, unrecorded);

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

it.each<[title: string, ...History]>([
  ['only a creation', CREATED],
  ['progress', [...RUNNING, ['progress', 30, HALF]], { ...running, progress: HALF }],
  ['a checkpoint', [...RUNNING, ['checkpoint', 30, 7]], running],
  ['a completion', COMPLETED, completed],
  ['a retry', [...RUNNING, retried(30)], { attemptNumber: 1, error: 'no' }],
  ['a final failure', [...SECOND, ['dead', 60, { error: 'no' }]], { ...second, status: 'dead', error: 'no' }],
  ['a delivery that timed out', [...DELIVERED, ['delivery_timeout', 2_011]]],
  [
    'a job that no worker acked',
    [...AGAIN, neverAcked(4_101)],
    { deliveredAt: isoAt(2_100), status: 'dead', error: NEVER_ACKED },
  ],
  ['a worker that stopped calling', [...RUNNING, silent(5_021)], { attemptNumber: 1, error: SILENT }],
  [
    'a timeout, and a keepalive in the previous attempt',
    [...SECOND, ['dead', 5_051, { error: SILENT }]],
    { ...second, status: 'dead', error: SILENT },
    { keepalives: [{ sentAt: START + 22, endedAt: START + 29 }] },
  ],
  ['a release of a delivered job', [...DELIVERED, released(20)]],
  ['a release of a running job', [...RUNNING, released(30)]],
  ['a kill', [...DELIVERED, killed(20)], { ...delivered, status: 'killed' }],
  [
    'a clock that stepped back after the creation',
    [...CREATED, ['delivered', -5]],
    { deliveredAt: isoAt(-5), status: 'delivered' },
  ],
  [
    'a job that was scheduled at its creation',
    [...CREATED, ['ready', 101], ['delivered', 110]],
    { ...at(100), status: 'delivered', deliveredAt: isoAt(110) },
  ],
  ['a scheduled job that was killed', [...CREATED, killed(20)], { ...at(100), status: 'killed' }],
  [
    'a job that was scheduled, ready and released for later',
    [...CREATED, ['ready', 101], ['delivered', 110], ['released', 120, { reason: null, ...at(500) }]],
    { ...at(500), status: 'scheduled' },
  ],
  [
    'a job that was rescheduled',
    [...CREATED, rescheduled(10, isoAt(500), 3), rescheduled(20, null), ['delivered', 30]],
    { priority: 3, status: 'delivered', deliveredAt: isoAt(30) },
  ],
  [
    'a job that was requeued after it was dead, and after it was killed',
    [...RUNNING, ['dead', 30, { error: 'no' }], ['requeued', 40, at(500)], killed(50), ['requeued', 60, null]],
    { ...at(500) },
  ],
  ['a job that was replaced for later, and then for now', [...CREATED, replacedAt(10, at(500)), replacedAt(20)]],
  [
    'a retry whose delay a worker chose',
    [...RUNNING, delayed(30, 9_030), ['ready', 9_031]],
    { ...at(9_030), attemptNumber: 1, error: 'no', retry: { delaySeconds: 1 } },
  ],
  [
    'a retry after a timeout, with the longest delay',
    [...RUNNING, delayed(5_021, 6_221, SILENT)],
    { ...at(6_221), status: 'scheduled', attemptNumber: 1, error: SILENT, retry: { delaySeconds: 1 } },
  ],
  [
    'a failure that must not be retried',
    [...RUNNING, ['dead', 30, { error: 'no' }]],
    { ...running, status: 'dead', error: 'no' },
  ],
  [
    'a job that was not started in time',
    [...CREATED, notStarted(1_001)],
    { startWithinSeconds: 1, status: 'dead', error: NOT_STARTED },
  ],
  [
    'a delivered job that was not started in time',
    [...CREATED, ['delivered', 900], notStarted(1_001)],
    { startWithinSeconds: 1, deliveredAt: isoAt(900), status: 'dead', error: NOT_STARTED },
  ],
  [
    'a job that got another time to start when it was replaced',
    [...CREATED, ['delivered', 10], ['delivery_timeout', 2_011], replacedAt(3_000), notStarted(4_001)],
    { startWithinSeconds: 1, status: 'dead', error: NOT_STARTED },
  ],
  [
    'an attempt that took too long, whatever its worker sent',
    [...RUNNING, ['event', 4_000], delayed(7_021, 7_821, TOO_LONG)],
    {
      ...{ ...at(7_821), status: 'scheduled', attemptNumber: 1, error: TOO_LONG },
      ...{ maxRunSeconds: 7, retry: { delaySeconds: 1 } },
    },
  ],
  [
    'a callback of a killed job',
    [...CREATED, killed(20), sent(30, 1, [200])],
    { status: 'killed', callbackUrl: HOOK, callbackOn: ['killed'] },
  ],
  ['callbacks', [...COMPLETED, sent(40, 1, [503, true]), sent(8_040, 2, [200])], called],
  ['a callback whose address was refused', [...COMPLETED, failed(40, 'address is not public', false)], called],
  [
    'a callback that was requested again',
    [...COMPLETED, sent(40, 1, [200]), sent(50, 2, [200])],
    called,
    { redeliveries: 1 },
  ],
])('the replay accepts a history with %s', (_title, ...given) => {
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
  const { events, ...job } = jobOf([...COMPLETED, ...Array<ShortEvent>(10).fill(['event', 40])]);
  const kept = events.filter(({ id }) => !seqs.some((seq) => id === `a.${seq}`));
  expect(replay({ ...job, events: kept }, SETTINGS)).toBe(says);
});

it.each<[title: string, says: string, ...History]>([
  ['a history without creation', 'the history begins with delivered', DELIVERED.slice(1)],
  ['a second creation', 'created (a.2) is a second creation', [...CREATED, ...CREATED]],
  [
    'an ack without a delivery',
    'acked (a.2) happened while the job was pending, which is refused: JOB_NOT_DELIVERED',
    [...CREATED, ['acked', 10]],
  ],
  [
    'a second delivery',
    'delivered (a.3) happened while the job was delivered, where it does nothing',
    [...DELIVERED, ['delivered', 20]],
  ],
  ['progress after a kill', 'JOB_KILLED', [...RUNNING, killed(30), ['progress', 40]]],
  ['a release of a pending job', 'refused: JOB_NOT_RUNNING', [...CREATED, released(30)]],
  ['a release after a kill', 'JOB_KILLED', [...RUNNING, killed(30), released(40)]],
  ['a second kill', 'killed (a.3) happened while', [...CREATED, killed(30), killed(40)]],
  ['a kill after the end', 'refused: JOB_ENDED', [...COMPLETED, killed(40)]],
  ['time that goes back', 'acked (a.3) is older than the previous one', [...DELIVERED, ['acked', 5]]],
  ['a wrong attemptNumber', 'attemptNumber: 2 } must be retried', [...RUNNING, retried(30, 2)]],
  ['one retry too many', 'attemptNumber: 2 } must be dead (a.7)', [...SECOND, retried(60, 2)]],
  [
    'a final timeout before the last attempt',
    'must be retried (a.4)',
    [...RUNNING, ['dead', 5_021, { error: SILENT }]],
  ],
  [
    'a job that was ready too early',
    'ready (a.2) came 1 ms before the job was due',
    [...CREATED, ['ready', 100]],
    at(100),
  ],
  [
    'a retry that was ready too early',
    'ready (a.5) came 1 ms before the job was due',
    [...RUNNING, delayed(30, 1_030), ['ready', 1_030]],
    { ...at(1_030), attemptNumber: 1, error: 'no' },
  ],
  ['a pending job that is ready', 'was pending', [...RUNNING, retried(30), ['ready', 40]]],
  [
    'a delivery of a scheduled job',
    'delivered (a.3) happened while the job was scheduled, where it does nothing',
    [...CREATED, rescheduled(10, isoAt(500)), ['delivered', 20]],
  ],
  ['a time in the past', 'must be rescheduled (a.2) { scheduledFor: null }', [...CREATED, rescheduled(10, isoAt(10))]],
  ['a new time of a delivered job', 'refused: JOB_NOT_PENDING', [...DELIVERED, rescheduled(20, null)]],
  ['a delivered job that is replaced', 'where it does nothing', [...DELIVERED, replacedAt(20)]],
  [
    'a delay after a timeout that its policy does not allow',
    'retried (a.4) has a delay of 1201 ms, and must have 800 to 1200',
    [...RUNNING, delayed(5_021, 6_222, SILENT)],
    { retry: { delaySeconds: 1 } },
  ],
  [
    'a timeout without the delay of its policy',
    'has a delay of 0 ms, and must have 800 to 1200',
    [...RUNNING, silent(5_021)],
    { retry: { delaySeconds: 1 } },
  ],
  [
    'a delay that no worker can choose',
    'retried (a.4) has a delay of more than 604800 s',
    [...RUNNING, delayed(30, 604_800_031)],
  ],
  [
    'an early end of a job that was not started',
    'dead (a.2) came 1 ms before the time to start was over',
    [...CREATED, notStarted(1_000)],
    { startWithinSeconds: 1 },
  ],
  [
    'an end for want of a start after an attempt',
    'dead (a.5) happened to a job without a limit for its start',
    [...RUNNING, retried(30), notStarted(2_000)],
    { startWithinSeconds: 1 },
  ],
  [
    'a timeout of a delivery after which no time was left to start',
    'must be dead (a.3)',
    [...DELIVERED, ['delivery_timeout', 2_011]],
    { startWithinSeconds: 1 },
  ],
  [
    'an attempt that was ended too early',
    'retried (a.5) came 1 ms before the time of the attempt was over',
    [...RUNNING, ['event', 4_000], ['retried', 7_020, { error: TOO_LONG, attemptNumber: 1 }]],
    { maxRunSeconds: 7 },
  ],
  [
    'silence in an attempt that took too long',
    'must be retried (a.5)',
    [...RUNNING, ['event', 4_000], silent(9_001)],
    { maxRunSeconds: 7 },
  ],
  [
    'a time that the history does not show',
    'scheduledFor is',
    [...CREATED, rescheduled(10, isoAt(500))],
    { ...at(600), status: 'scheduled' },
  ],
  [
    'a callback of a job that was killed without need for one',
    'no callback was pending',
    [...CREATED, killed(20), sent(30, 1, [200])],
    { status: 'killed', callbackUrl: HOOK },
  ],
  [
    'a delivery that timed out in the last millisecond of its window',
    'delivery_timeout (a.3) came 1 ms before the window was over',
    [...DELIVERED, ['delivery_timeout', 2_010]],
  ],
  ['an early end of a job that no worker acked', 'came 1 ms before', [...AGAIN, neverAcked(4_100)]],
  ['one timeout too many', 'must be dead (a.5)', [...AGAIN, ['delivery_timeout', 4_101]]],
  ['an early timeout', 'came 1021 ms before', [...RUNNING, silent(4_000)]],
  [
    'an early timeout after an event',
    'retried (a.5) came 980 ms before',
    [...RUNNING, ['event', 1_000], silent(5_021)],
  ],
  [
    'an early timeout after a keepalive',
    'came 100 ms before',
    [...RUNNING, silent(5_021)],
    {},
    { keepalives: [{ sentAt: START + 120, endedAt: START + 130 }] },
  ],
  ['a timeout of a pending job', 'the job was pending', [...CREATED, silent(9_000)]],
  ['a status that the history contradicts', "status is 'running', but by", [...RUNNING, retried(30)], running],
  ['a result that the history contradicts', 'result is [ 2 ], but', COMPLETED, { ...completed, result: [2] }],
  ['a time that a retry must have cleared', 'attemptNumber is 2', [...RUNNING, retried(30)], second],
  [
    'a callback without a callbackUrl',
    'callback_sent (a.5) happened while the job was completed, and no callback was pending',
    [...COMPLETED, sent(40, 1, [200])],
    completed,
  ],
  [
    'a callback after one that was accepted',
    'callback_sent (a.6) happened while the job was completed, and no callback was pending',
    [...COMPLETED, sent(40, 1, [200]), sent(50, 2, [200])],
    called,
  ],
  [
    'a callback that came too soon',
    'it came 39 ms too soon',
    [...COMPLETED, sent(40, 1, [503, true]), sent(8_000, 2, [200])],
    called,
  ],
  ['a skipped attempt of a callback', 'is attempt 2', [...COMPLETED, sent(40, 2, [200])], called],
  [
    'a callback that is not retried after status 503',
    'callback_sent (a.5) is not retried, which is wrong',
    [...COMPLETED, sent(40, 1, [503])],
    called,
  ],
  [
    'a callback that is not retried after a network error',
    'callback_failed (a.5) is not retried, which is wrong',
    [...COMPLETED, failed(40, 'connection refused', false)],
    called,
  ],
  [
    'a retry of a callback after status 404',
    'callback_sent (a.5) is retried, which is wrong',
    [...COMPLETED, sent(40, 1, [404, true])],
    called,
  ],
])('the replay rejects %s', (_title, says, ...given) => {
  expect(replayed(given)).toContain(says);
});

const TRIGGERS = JOB_VERBS.filter((verb): verb is JobVerb & Trigger => TRANSITIONS.some((row) => row.trigger === verb));
const accepts = (trigger: Trigger, status: Status) =>
  TRANSITIONS.some((row) => row.trigger === trigger && row.from.includes(status));

it('the model refuses each verb in each status as the specification prescribes', () => {
  const rows = JOB_VERBS.map((verb) => [verb, STATUSES.map((status) => refusalOf(verb, status)?.code ?? 'ok')]);
  const ofTriggers = TRIGGERS.map((trigger) => [
    trigger,
    STATUSES.map((status) => (accepts(trigger, status) ? 'ok' : (protocolRefusalOf(trigger, status) ?? 'ok'))),
  ]);
  expect(Object.fromEntries(rows)).toEqual({
    ...Object.fromEntries(ofTriggers),
    logs: Array(7).fill('ok'),
    delete: [...Array(4).fill('JOB_NOT_ENDED'), 'ok', 'ok', 'ok'],
    redeliver: [...Array(4).fill('JOB_NOT_ENDED'), ...Array(3).fill('NO_CALLBACK')],
  });
  expect(refusalOf('redeliver', 'completed', { callbackUrl: HOOK })).toBeNull();
  expect(refusalOf('redeliver', 'killed', { callbackUrl: HOOK })?.code).toBe('NO_CALLBACK');
  expect(refusalOf('ack', 'running')?.jobStatus).toBe('running');
});

const cells = TRIGGERS.flatMap((verb) => STATUSES.map((status) => ({ verb, status })));
const SAYS = { error: 'no', reason: 'stop' };

it.each(cells.filter(({ verb, status }) => accepts(verb, status)))(
  'the replay accepts the history of $verb of a $status job',
  ({ verb, status }) => {
    const { world, job } = worldWith(status);
    world.now += 10;
    callJob(world, verb, { job, body: SAYS });
    expect(replay(get(world, { job, caller: null }), {})).toBeNull();
  },
);

it.each(cells.filter(({ verb, status }) => !accepts(verb, status)))(
  'the replay rejects the event of $verb of a $status job',
  ({ verb, status }) => {
    const { world, job } = worldWith(status);
    const { events, ...fields } = get(world, { job, caller: null });
    const event = TRANSITIONS.find((row) => row.trigger === verb)?.event ?? null;
    if (event === null) return; // A keepalive leaves none.
    const id = `${job}.${events.length + 1}`;
    const added = { id, jobId: job, spaceId: 'space', type: event, data: SAYS, createdAt: new Date(10).toISOString() };
    expect(replay({ ...fields, events: [...events, added] }, {})).toContain(`${event} (${id}) happened while the job`);
  },
);

it('the replay knows how to repeat every type of event', () => {
  for (const type of EVENT_TYPES) expect(() => replayed([[...CREATED, [type, 10, {}]]])).not.toThrow();
});
