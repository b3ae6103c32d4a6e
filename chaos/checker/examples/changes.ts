import type { LogEntry } from '@yardmaster/protocol';
import type { Outage, Stopped } from '../../rules/rule.js';
import type { Record } from '../checker.js';
import type { DumpedJob } from '../dump.js';
import type { Body, Call, Callback, Operation, Stream } from '../history.js';
import { apply, callbackOf, callOf, type Entry, isoAt, pollOf, START } from './story.js';

// Changes of a story.

export const UNKNOWN = { outcome: 'unknown', status: 503, code: 'UNAVAILABLE', body: {} } as const;
export const OVERLOADED = { outcome: 'not now', status: 503, code: 'OVERLOADED', body: {} } as const;
export const REFUSED = { outcome: 'refused', status: 409, code: 'JOB_NOT_RUNNING', body: {} } as const;

const first = ({ dump }: Record) => dump.jobs[0] as DumpedJob;

/** A further call about the job. */
export const call = (op: Operation, atMs: number, fields: Partial<Call> = {}) =>
  callOf(op, op === 'poll' ? null : 'a', atMs, fields);

/** A further poll that gets the job. @param got fields of the job in its response */
export const poll =
  (atMs: number, got: object = {}) =>
  (record: Record) =>
    apply(pollOf(first(record), atMs, got), record);

/** A further callback. */
export const callback =
  (atMs: number, fields: Partial<Callback> = {}) =>
  (record: Record) =>
    apply({ ...callbackOf(first(record), atMs), ...fields }, record);

/** Other fields of the stored job, of which its callers know nothing. */
export const stored = (fields: Partial<DumpedJob>) => (record: Record) => ({
  ...record,
  dump: { ...record.dump, jobs: record.dump.jobs.map((job) => ({ ...job, ...fields })) },
});

/** Other fields of the job, as stored and in responses. */
export const having = (fields: Partial<DumpedJob>) => (record: Record) => {
  const inBody = (body: Body) =>
    body.jobs ? { jobs: body.jobs.map((job: object) => ({ ...job, ...fields })) } : { ...body, ...fields };
  const entries = record.entries.map((entry) =>
    isOf('create')(entry) || isOf('poll')(entry) ? { ...entry, body: inBody((entry as Call).body) } : entry,
  );
  return stored(fields)({ ...record, entries });
};

/** The job is not stored any more. */
export const gone = (record: Record) => ({ ...record, dump: { ...record.dump, jobs: [] } });

/** Recognise calls of an operation, or callbacks; or the nth alone. */
function isOf(what: Operation | 'callback', nth?: number): (entry: Record['entries'][number]) => boolean {
  let seen = 0;
  return (entry) => (entry.kind === 'call' ? entry.op : entry.kind) === what && (nth === undefined || seen++ === nth);
}

/** Other fields of the calls of an operation, or of the nth alone. */
export const change = (op: Operation, fields: Partial<Call>, nth?: number) => (record: Record) => {
  const isMeant = isOf(op, nth);
  const entries = record.entries.map((entry) => (isMeant(entry) ? { ...entry, ...fields } : entry));
  return { ...record, entries: entries as Entry[] };
};

/** The responses to an operation, or to the nth call alone, are lost. */
export const lost = (op: Operation, nth?: number) =>
  change(op, { ...UNKNOWN, ...(op === 'create' && { jobId: null }) }, nth);

/** Without the calls of an operation, or the nth alone, or without callbacks. */
export const without = (what: Operation | 'callback', nth?: number) => (record: Record) => {
  const isMeant = isOf(what, nth);
  return { ...record, entries: record.entries.filter((entry) => !isMeant(entry)) };
};

/** The job has these logs. @param messages null for a seq that is missing */
export const logged = (...messages: (string | null)[]) => {
  const of = { level: 'info', source: 'worker', metadata: {}, loggedAt: isoAt(0), createdAt: isoAt(0) } as const;
  const logs = messages.flatMap((message, i): LogEntry[] =>
    message === null ? [] : [{ ...of, id: `a.${i + 1}`, seq: i + 1, message }],
  );
  return stored({ logs });
};

/** Something was unavailable for some time. @param affected names of processes; none: all */
export const outage =
  (what: Stopped | Pick<Outage, 'closes'>, from: number, until: number, ...affected: string[]) =>
  (record: Record) => {
    const closes = typeof what === 'string' ? { stops: [what], closes: [] } : { stops: [], ...what };
    const outages = [...record.outages, { ...closes, affected, from: START + from, until: START + until }];
    return { ...record, outages };
  };

/** A stream of the job with a key, from its creation on. @param events which it reports, by their places; 0: creation */
export const stream =
  (events: readonly number[], fields: Partial<Stream> = {}, begin = init()) =>
  (record: Record) => {
    const job = first(record);
    const sent = events.map((place) => {
      const { type, createdAt, data } = job.events[place] as DumpedJob['events'][number];
      return { jobId: job.id, type, timestamp: createdAt, data };
    });
    const opened = { openedAt: START, messages: [begin, ...sent], closed: 1000, until: START + 5_000 };
    const asked = { client: 'watcher', scope: 'full', jobId: job.id, spaceId: null, gateway: 'gateway-1' } as const;
    return apply({ kind: 'stream', line: 0, ...asked, ...opened, ...fields }, record);
  };

/** The first message of a stream. */
export const init = (status = 'pending', atMs = 0) => ({ type: 'init', jobId: 'a', status, timestamp: isoAt(atMs) });

/** A message without a key. */
export const keyless = (type: string, more: object = {}) => ({ jobId: 'a', type, timestamp: isoAt(500), ...more });
