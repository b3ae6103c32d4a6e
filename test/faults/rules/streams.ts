import { type EventType, isStreamType, type JobEvent, STREAM_TYPES, statusAfter } from '@yardmaster/protocol';
import type { DumpedJob } from '../dump.js';
import type { Stream } from '../history.js';
import type { Evidence, Found, Rule } from './rule.js';

// biome-ignore lint/suspicious/noExplicitAny: messages of every kind
type Message = any;

/** A stream is where things stand, and then every later event in its order, once; or it closes (P8). */
export const streams: Rule = {
  name: 'streams',
  promise: 'P8',
  check: (evidence) => evidence.streams.flatMap((stream) => ofStream(stream, evidence)),
};

function ofStream(stream: Stream, { dump }: Evidence): Found[] {
  const { line, client, jobId, spaceId, messages } = stream;
  const lines = [line];
  // Of a job that is gone there is nothing to tell; whether it may be is for others to say.
  if (messages.length === 0 && jobId !== null && !dump.jobs.some(({ id }) => id === jobId)) return [];
  if (messages.length === 0) return [{ jobId, says: `${client} asked again and again, and was told nothing`, lines }];
  if (messages[0]?.type !== 'init') return [{ jobId, says: `a stream began with ${messages[0]?.type}`, lines }];
  const told = new Map<string, Message[]>();
  for (const message of messages.slice(1)) told.set(message.jobId, [...(told.get(message.jobId) ?? []), message]);
  const jobs = dump.jobs.filter((job) => (spaceId === null ? job.id === jobId : job.spaceId === spaceId));
  const strangers = [...told.keys()].filter((id) => !jobs.some((job) => job.id === id));
  return [
    ...strangers.map((id) => ({ jobId: id, says: 'a stream told of a job that is not its own', lines })),
    ...jobs.flatMap((job) => {
      const says = faultOf(stream, job, told.get(job.id) ?? []);
      return says === null ? [] : [{ jobId: job.id, says: `stream of ${stream.client}: ${says}`, lines }];
    }),
  ];
}

/** What is wrong with what a stream told of a job; null for nothing. */
function faultOf(stream: Stream, job: DumpedJob, told: Message[]): string | null {
  const { messages, closed, scope } = stream;
  const heard = told.filter(({ type }) => type !== 'logs_appended').map(keyOf(scope));
  const all = job.events.filter(({ type }) => isShown(type, scope));
  const keys = all.map((event) => keyOf(scope)(asMessage(event)));
  const began = Date.parse(messages[0].timestamp);
  const lastAt = closed === null ? Number.POSITIVE_INFINITY : Date.parse(messages.at(-1).timestamp);
  // What happened after its snapshot, and before the last that it told.
  const owed = all.map(({ createdAt }) => Date.parse(createdAt) > began && Date.parse(createdAt) < lastAt);

  const first = heard.length > 0 ? keys.indexOf(heard[0] as string) : owed.indexOf(true);
  if (heard.length > 0 && first < 0) return `it told ${heard[0]}, which never happened`;
  const wrong = heard.findIndex((key, i) => key !== keys[first + i]);
  if (wrong >= 0) return `it told ${heard[wrong]} after ${heard[wrong - 1]}, where ${keys[first + wrong]} was to come`;
  const missed = owed.findIndex((isOwed, i) => isOwed && (i < first || i >= first + heard.length));
  if (missed >= 0) return `it did not tell ${keys[missed]}`;
  return snapshotFault(stream, job, heard) ?? logsFault(told, scope);
}

const isShown = (type: EventType, scope: Stream['scope']) => {
  if (type === 'created') return scope === 'space';
  return isStreamType(type) && (scope !== 'progress' || STREAM_TYPES[type] !== 'withheld');
};

const asMessage = ({ type, createdAt, data }: JobEvent) => ({ type, timestamp: createdAt, data });

const keyOf =
  (scope: Stream['scope']) =>
  ({ type, timestamp, data }: Message): string =>
    `${type} ${timestamp} ${scope === 'progress' && type === 'completed' ? '' : JSON.stringify(data ?? null)}`;

/** The init of a job's stream is where the job stood just before the first message. */
function snapshotFault({ scope, messages }: Stream, job: DumpedJob, heard: string[]): string | null {
  const { status } = messages[0];
  if (scope !== 'full' || heard.length === 0) return null;
  const before = job.events.slice(
    0,
    job.events.findIndex((event) => keyOf(scope)(asMessage(event)) === heard[0]),
  );
  const stood = before
    .map(({ type }) => (type === 'created' ? 'pending' : statusAfter(type)))
    .findLast((to) => to !== null);
  return stood === status ? null : `it began with ${status}, where the job was ${stood}`;
}

/** Appends of logs are told once and in order, to watchers of the job without a gap. */
function logsFault(told: Message[], scope: Stream['scope']): string | null {
  let last: number | null = null;
  for (const { type, data } of told) {
    if (type !== 'logs_appended') continue;
    const isNext = last === null || (scope === 'full' ? data.fromSeq === last + 1 : data.fromSeq > last);
    if (!isNext) return `it told of logs from ${data.fromSeq} after ${last}`;
    last = data.toSeq;
  }
  return null;
}
