import type { LogEntry } from '@yardmaster/protocol';
import type { Outage, Stopped } from '../../rules/rule.js';
import type { Record } from '../checker.js';
import type { DumpedJob } from '../dump.js';
import type { Body, Call, Callback, Operation, Stream } from '../history.js';
import { apply, callbackOf, callOf, type Entry, isoAt, pollOf, START } from './story.js';

// Changes to apply to a story.

export const UNKNOWN = { outcome: 'unknown', status: 503, code: 'UNAVAILABLE', body: {} } as const;
export const OVERLOADED = { outcome: 'not now', status: 503, code: 'OVERLOADED', body: {} } as const;
export const LOST = { outcome: 'refused', status: 409, code: 'DELIVERY_LOST', body: {} } as const;
export const REFUSED = { outcome: 'refused', status: 409, code: 'JOB_NOT_RUNNING', body: {} } as const;

const first = ({ dump }: Record) => dump.jobs[0] as DumpedJob;

/** Add a call about the job. */
export const call = (op: Operation, atMs: number, fields: Partial<Call> = {}) =>
  callOf(op, op === 'poll' ? null : 'a', atMs, fields);

/** Add a poll that claims the job. @param got fields of the job in the response */
export const poll =
  (atMs: number, got: object = {}) =>
  (record: Record) =>
    apply(pollOf(first(record), atMs, got), record);

/** Add a callback. */
export const callback =
  (atMs: number, fields: Partial<Callback> = {}) =>
  (record: Record) =>
    apply({ ...callbackOf(first(record), atMs), ...fields }, record);

/** Change fields of the stored job, but not of the responses. */
export const stored = (fields: Partial<DumpedJob>) => (record: Record) => ({
  ...record,
  dump: { ...record.dump, jobs: record.dump.jobs.map((job) => ({ ...job, ...fields })) },
});

/** Change fields of the job, as stored and in responses. */
export const having = (fields: Partial<DumpedJob>) => (record: Record) => {
  const inBody = (body: Body) =>
    body.jobs ? { jobs: body.jobs.map((job: object) => ({ ...job, ...fields })) } : { ...body, ...fields };
  const entries = record.entries.map((entry) =>
    isOf('create')(entry) || isOf('poll')(entry) ? { ...entry, body: inBody((entry as Call).body) } : entry,
  );
  return stored(fields)({ ...record, entries });
};

/** Remove the stored job. */
export const gone = (record: Record) => ({ ...record, dump: { ...record.dump, jobs: [] } });

/** Match calls of an operation, or callbacks; or only the nth of them. */
function isOf(what: Operation | 'callback', nth?: number): (entry: Record['entries'][number]) => boolean {
  let seen = 0;
  return (entry) => (entry.kind === 'call' ? entry.op : entry.kind) === what && (nth === undefined || seen++ === nth);
}

/** Change fields of the calls of an operation, or only of the nth. */
export const change = (op: Operation, fields: Partial<Call>, nth?: number) => (record: Record) => {
  const isMeant = isOf(op, nth);
  const entries = record.entries.map((entry) => (isMeant(entry) ? { ...entry, ...fields } : entry));
  return { ...record, entries: entries as Entry[] };
};

/** Lose the responses to an operation, or only to the nth call. */
export const lost = (op: Operation, nth?: number) =>
  change(op, { ...UNKNOWN, ...(op === 'create' && { jobId: null }) }, nth);

/** Remove the calls of an operation, or only the nth, or callbacks. */
export const without = (what: Operation | 'callback', nth?: number) => (record: Record) => {
  const isMeant = isOf(what, nth);
  return { ...record, entries: record.entries.filter((entry) => !isMeant(entry)) };
};

/** Store these logs of the job. @param messages null for a missing seq */
export const logged = (...messages: (string | null)[]) => {
  const of = { level: 'info', source: 'worker', metadata: {}, loggedAt: isoAt(0), createdAt: isoAt(0) } as const;
  const logs = messages.flatMap((message, i): LogEntry[] =>
    message === null ? [] : [{ ...of, id: `a.${i + 1}`, seq: i + 1, message }],
  );
  return stored({ logs });
};

/** Add an outage. @param affected names of processes; empty for all */
export const outage =
  (what: Stopped | Pick<Outage, 'closes'>, from: number, until: number, ...affected: string[]) =>
  (record: Record) => {
    const closes = typeof what === 'string' ? { stops: [what], closes: [] } : { stops: [], ...what };
    const outages = [...record.outages, { ...closes, affected, from: START + from, until: START + until }];
    return { ...record, outages };
  };

/** Add a stream of the job with a key, starting at its creation. @param events indexes of the reported events; 0: creation */
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

/** Create the first message of a stream. */
export const init = (status = 'pending', atMs = 0) => ({ type: 'init', jobId: 'a', status, timestamp: isoAt(atMs) });

/** Create a message of a stream without a key. */
export const keyless = (type: string, more: object = {}) => ({ jobId: 'a', type, timestamp: isoAt(500), ...more });
