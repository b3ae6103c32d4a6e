import { type EventType, type JsonValue, type Status, statusAfter } from '@yardmaster/protocol';
import { HANGS } from '../../rules/callbacks.js';
import type { Record } from '../checker.js';
import type { DumpedJob } from '../dump.js';
import type { Body, Call, Callback, Operation, Stream } from '../history.js';

// A story is an invented run of one job that breaks no promise, with changes that may break one:
//
//   story('delivered 100, acked 200, completed 500 done', call('ack', 201))
//
// It names the events of the job after its creation, each with its time in milliseconds and a word for its data. The calls that
// cause these events are added automatically.

export const START = Date.parse('2026-01-01T12:00:00.000Z');
export const isoAt = (ms: number) => new Date(START + ms).toISOString();
const msOf = (iso: string) => Date.parse(iso) - START;

/** The story that most examples use. */
export const DONE = 'delivered 100, acked 200, completed 500 done';
export const TWICE = 'delivered 100, delivery_timeout 2101, delivered 2200';

export const URL = 'http://receiver/a';
const HANGING = `http://receiver${HANGS}a`;

export type Entry = Call | Callback | Stream;
export type Change = Entry | ((record: Record) => Record);

/** Create the record of a run from a story and changes. The job is named `a`, unless the text starts with `b: `. */
export function story(text: string, ...changes: Change[]): Record {
  const [, id = 'a', events = ''] = /^(?:(\w): )?(.*)$/.exec(text) ?? [];
  const job = jobOf(id, events);
  const record: Record = {
    entries: entriesOf(job),
    dump: { at: START + 60_000, jobs: [job], fsck: [] },
    outages: [],
    settings: {
      deliveryTimeoutMs: 2_000,
      maxDeliveries: 2,
      retentionMs: 0,
      callbackDelays: [1, 2],
      eventsPerJob: 1_000,
    },
  };
  return numbered(changes.reduce((changed, change) => apply(change, changed), record));
}

/** Join two records. */
export function both(one: Record, other: Record): Record {
  const jobs = [...one.dump.jobs, ...other.dump.jobs];
  const entries = [...one.entries, ...other.entries];
  return numbered({ ...one, entries, dump: { ...one.dump, jobs }, outages: [...one.outages, ...other.outages] });
}

const numbered = ({ entries: all, ...rest }: Record) => ({ ...rest, entries: all.map(withLine) });
const withLine = (entry: Record['entries'][number], i: number) => ({ ...entry, line: i + 1 });

export const apply = (change: Change, record: Record): Record =>
  typeof change === 'function' ? change(record) : { ...record, entries: [...record.entries, change] };

/** Functions that create the data of an event from a word. `nth` counts the events of its type. */
const DATA: Partial<{ [T in EventType]: (word: string, nth: number) => JsonValue }> = {
  checkpoint: (token) => ({ token }),
  event: (token) => ({ token }),
  completed: (token) => ({ token }),
  retried: (word, attemptNumber) => ({ error: errorOf(word), attemptNumber }),
  dead: (word) => ({ error: errorOf(word) }),
  killed: (reason) => ({ reason }),
  released: (reason) => ({ reason }),
  callback_sent: (word, nth) => ({ url: urlOf(word), statusCode: 204, attempt: nth, willRetry: false }),
  callback_failed: (word, nth) => ({ url: urlOf(word), error: 'reset', attempt: nth, willRetry: true }),
};

const SILENT = 'Job timed out after 1 seconds without a heartbeat';
const NEVER_ACKED = 'Job was delivered 2 times and never acknowledged';
const urlOf = (word: string) => (word === 'hung' ? HANGING : URL);
const ERRORS: { [word: string]: string } = { silent: SILENT, unacked: NEVER_ACKED };
const errorOf = (word: string) => ERRORS[word] ?? word;

function jobOf(id: string, text: string): DumpedJob {
  const listed = text === '' ? [] : text.split(', ').map((event) => event.split(' ') as [EventType, string, string?]);
  const all = listed[0]?.[0] === 'created' ? listed : [['created', '0'] as const, ...listed];
  const isCallback = (type: string) => type.startsWith('callback_');
  const events = all.map(([type, at, word = ''], i) => {
    const like = (other: string) =>
      isCallback(type) ? isCallback(other) : type === 'retried' ? other === 'acked' : false;
    const nth = all.slice(0, i + 1).filter(([other]) => like(other)).length;
    const data = DATA[type]?.(word, nth) ?? null;
    return { id: `${id}.${i + 1}`, jobId: id, spaceId: 'yard', type, data, createdAt: isoAt(Number(at)) };
  });
  const moves = events.filter((event) => statusAfter(event) !== null);
  const last = moves.at(-1);
  const isPending = last === undefined || statusAfter(last) === 'pending';
  const timeOf = (type: EventType) =>
    (isPending ? undefined : moves.findLast((event) => event.type === type))?.createdAt ?? null;
  const end = events.find(({ type }) => type === 'completed');
  const failed = events.findLast(({ type }) => type === 'retried' || type === 'dead');
  return {
    ...{ id, spaceId: 'yard', name: 'work', payload: { n: id }, maxRetries: 0, timeoutSeconds: 1 },
    status: last === undefined ? 'pending' : (statusAfter(last) as Status),
    attemptNumber: attemptsIn(events),
    callbackUrl: (events.find(({ type }) => isCallback(type))?.data as { url: string } | undefined)?.url ?? null,
    ...{ deliveredAt: timeOf('delivered'), startedAt: timeOf('acked'), completedAt: timeOf('completed') },
    ...{ callbackHeaders: null, result: end?.data ?? null },
    ...(failed === undefined ? {} : { error: (failed.data as { error: string }).error }),
    createdAt: events[0]?.createdAt as string,
    updatedAt: (last ?? events[0])?.createdAt as string,
    ...{ events, logs: [], deadline: null, isCallbackPending: false },
  };
}

/** Count the attempts in a history. A released attempt does not count. */
function attemptsIn(events: readonly { type: EventType }[]): number {
  let [attempts, atDelivery] = [0, 0];
  for (const { type } of events) {
    if (type === 'delivered') atDelivery = attempts;
    if (type === 'acked') attempts++;
    if (type === 'released') attempts = atDelivery;
  }
  return attempts;
}

/** Functions that return the call that causes an event. */
const CALLS: Partial<{ [T in EventType]: (data: Body) => [op: Operation, sent: unknown] }> = {
  acked: () => ['ack', null],
  checkpoint: (data) => ['checkpoint', data],
  event: (data) => ['event', data],
  completed: (result) => ['complete', { result }],
  retried: ({ error }) => ['fail', { error }],
  dead: ({ error }) => ['fail', { error }],
  killed: (data) => ['kill', data],
  released: (data) => ['release', data],
};

function entriesOf(job: DumpedJob): Entry[] {
  let checkpoint: JsonValue = null;
  return job.events.flatMap(({ type, data, createdAt }, i): Entry[] => {
    const at = msOf(createdAt) - 1;
    if (type === 'created')
      return [{ ...callOf('create', job.id, at), sent: { payload: job.payload }, status: 201, body: { ...job } }];
    if (type === 'delivered')
      return [pollOf(job, at, { attemptNumber: attemptsIn(job.events.slice(0, i)), checkpoint })];
    if (type === 'callback_sent') return [callbackOf(job, at + 1)];
    if (type === 'checkpoint') checkpoint = data;
    const [op, sent] = CALLS[type]?.(data) ?? [];
    const isTimeout = Object.values(ERRORS).includes((data as { error?: string } | null)?.error ?? '');
    return op === undefined || isTimeout ? [] : [callOf(op, job.id, at, { sent })];
  });
}

/** Create a call at this time after the start, with a response 3 ms later. */
export function callOf(op: Operation, jobId: string | null, atMs: number, fields: Partial<Call> = {}): Call {
  const spaceId = op === 'create' || op === 'poll' ? 'yard' : null;
  const [sentAt, endedAt] = [START + atMs, START + atMs + 3];
  const made = {
    kind: 'call',
    line: 0,
    client: 'client',
    api: 'api-1',
    op,
    jobId,
    spaceId,
    token: null,
    idempotencyKey: null,
    sent: null,
  } as const;
  const outcome = { sentAt, endedAt, outcome: 'ok', status: 200, code: null, body: {}, mayBe: [] } as const;
  return { ...made, ...outcome, ...fields };
}

export function pollOf(job: DumpedJob, atMs: number, fields: object): Call {
  const { id, name, payload, maxRetries, timeoutSeconds, createdAt } = job;
  const claimed = { id, name, payload, maxRetries, timeoutSeconds, createdAt };
  const body = { jobs: [{ ...claimed, attemptNumber: 0, checkpoint: null, ...fields }] };
  return callOf('poll', null, atMs, { sent: { count: 1 }, body });
}

export const callbackOf = ({ id, status, result, events }: DumpedJob, atMs: number): Callback => {
  const error = events.find(({ type }) => type === 'dead')?.data;
  const sent = { id: `msg_${id}`, body: { status, result: error ?? result }, at: START + atMs };
  return { kind: 'callback', line: 0, jobId: id, ...sent };
};
