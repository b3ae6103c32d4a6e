import { type EventType, isStreamType, type JobEvent, STREAM_TYPES, statusAfter } from '@yardmaster/protocol';
import type { DumpedJob } from '../checker/dump.js';
import type { Body, Stream } from '../checker/history.js';
import { statusAtCreation } from './attempts.js';
import type { Evidence, Finding, Rule } from './rule.js';

/** A stream sends the state of its job, and then every later event once and in order, or it closes (P8). */
export const streams: Rule = {
  name: 'streams',
  promise: 'P8',
  check: (evidence) => evidence.streams.flatMap((stream) => ofStream(stream, evidence)),
};

function ofStream(stream: Stream, { dump }: Evidence): Finding[] {
  const { line, client, jobId, spaceId, messages, openedAt, until } = stream;
  const lines = [line];
  if (messages.length === 0) {
    // Other rules check whether a job may be missing.
    if (jobId !== null && !dump.jobs.some(({ id }) => id === jobId)) return [];
    const during = { from: openedAt, until: until ?? openedAt };
    return [{ jobId, says: `${client} tried to connect again and again, and got no message`, lines, during }];
  }
  if (messages[0]?.type !== 'init') return [{ jobId, says: `a stream began with ${messages[0]?.type}`, lines }];
  const sent = new Map<string, Body[]>();
  for (const message of messages.slice(1)) sent.set(message.jobId, [...(sent.get(message.jobId) ?? []), message]);
  const jobs = dump.jobs.filter((job) => (spaceId === null ? job.id === jobId : job.spaceId === spaceId));
  const strangers = [...sent.keys()].filter((id) => !jobs.some((job) => job.id === id));
  return [
    ...strangers.map((id) => ({ jobId: id, says: 'a stream reported a job that is not its own', lines })),
    ...jobs.flatMap((job) => {
      const says = faultOf(stream, job, sent.get(job.id) ?? []);
      return says === null ? [] : [{ jobId: job.id, says: `stream of ${client}: ${says}`, lines }];
    }),
  ];
}

/** Return what is wrong with the messages of a stream about a job; null for nothing. */
function faultOf(stream: Stream, job: DumpedJob, sent: Body[]): string | null {
  const { messages, closed, scope } = stream;
  const got = sent.filter(({ type }) => type !== 'logs_appended').map(keyOf(scope));
  const all = job.events.filter(({ type }) => isShown(type, scope));
  const keys = all.map((event) => keyOf(scope)(asMessage(event)));
  const began = Date.parse(messages[0].timestamp);
  const lastAt = closed === null ? Number.POSITIVE_INFINITY : Date.parse(messages.at(-1).timestamp);
  // The stream must contain every event between its snapshot and its last message.
  const due = all.map(({ createdAt }) => Date.parse(createdAt) > began && Date.parse(createdAt) < lastAt);

  const first = got.length > 0 ? keys.indexOf(got[0] as string) : due.indexOf(true);
  if (got.length > 0 && first < 0) return `it sent ${got[0]}, which never happened`;
  const wrong = got.findIndex((key, i) => key !== keys[first + i]);
  if (wrong >= 0) return `it sent ${got[wrong]} after ${got[wrong - 1]}, where ${keys[first + wrong]} is next`;
  const missed = due.findIndex((isDue, i) => isDue && (i < first || i >= first + got.length));
  if (missed >= 0) return `it did not send ${keys[missed]}`;
  return snapshotFault(stream, job, got) ?? logsFault(sent, scope);
}

const isShown = (type: EventType, scope: Stream['scope']) => {
  if (type === 'created') return scope === 'space';
  return isStreamType(type) && (scope !== 'progress' || STREAM_TYPES[type] !== 'withheld');
};

const asMessage = ({ type, createdAt, data }: JobEvent) => ({ type, timestamp: createdAt, data });

const keyOf =
  (scope: Stream['scope']) =>
  ({ type, timestamp, data }: Body): string =>
    `${type} ${timestamp} ${scope === 'progress' && type === 'completed' ? '' : JSON.stringify(data ?? null)}`;

/** Return what is wrong with the status in `init`, which must be the status before the first message. */
function snapshotFault({ scope, messages }: Stream, job: DumpedJob, got: string[]): string | null {
  const { status } = messages[0];
  if (scope !== 'full' || got.length === 0) return null;
  const first = job.events.findIndex((event) => keyOf(scope)(asMessage(event)) === got[0]);
  const was = job.events
    .slice(0, first)
    .map((event) => (event.type === 'created' ? statusAtCreation(job) : statusAfter(event)))
    .findLast((to) => to !== null);
  return was === status ? null : `it began with ${status}, where the job was ${was}`;
}

/** Return what is wrong with messages about logs: each is sent once and in order, on the stream of a job without gaps. */
function logsFault(sent: Body[], scope: Stream['scope']): string | null {
  let last: number | null = null;
  for (const { type, data } of sent) {
    if (type !== 'logs_appended') continue;
    const isNext = last === null || (scope === 'full' ? data.fromSeq === last + 1 : data.fromSeq > last);
    if (!isNext) return `it sent logs from ${data.fromSeq} after ${last}`;
    last = data.toSeq;
  }
  return null;
}

const KEYLESS = ['jobId', 'type', 'timestamp']; // Fields of every message on a job's stream without a key.

/** A stream without a key shows only the progress and the completion of its job (P9). */
export const scopes: Rule = {
  name: 'scopes',
  promise: 'P9',
  check: ({ streams: all }) =>
    all.flatMap(({ line, jobId, client, scope, messages }) =>
      messages
        .filter((message) => scope === 'progress' && !mayBeShown(message))
        .map((message) => ({
          jobId,
          says: `stream of ${client}, without a key: ${message.type} with ${Object.keys(message)}`,
          lines: [line],
        })),
    ),
};

function mayBeShown(message: Body): boolean {
  const { type } = message;
  const more = type === 'init' ? 'progress' : isStreamType(type) && STREAM_TYPES[type] === 'with data' ? 'data' : '';
  const isKnown = type === 'init' || (isStreamType(type) && STREAM_TYPES[type] !== 'withheld');
  return isKnown && Object.keys(message).every((field) => KEYLESS.includes(field) || field === more);
}
