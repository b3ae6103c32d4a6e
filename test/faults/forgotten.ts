import type { Dump, DumpedJob } from './dump.js';
import type { Call, Callback, Stream } from './history.js';
import { isCut } from './rules/closes.js';

// What still holds of what clients know, when a part of it was forgotten again: once a power cut has taken the end of
// Redis' file, what was done in that last stretch has never happened, or has happened otherwise since.

/** From the last moment whose writes are all kept until Redis was back. Epoch milliseconds. */
export interface Span {
  from: number;
  until: number;
}

const isWithin = (spans: readonly Span[], at: number) => spans.some(({ from, until }) => at >= from && at <= until);

/**
 * What was answered in that time may have happened or not. A job that is gone is not found from then on.
 */
export function callsAfter(spans: readonly Span[], calls: readonly Call[], { jobs }: Dump): Call[] {
  const kept = new Set(jobs.map(({ id }) => id));
  const isGone = ({ jobId, answeredAt }: Call) =>
    jobId !== null && !kept.has(jobId) && spans.some(({ from }) => answeredAt >= from);
  return calls
    .map((call) => (isGone(call) ? { ...call, mayBe: [...call.mayBe, 404] } : call))
    .map((call) =>
      call.outcome !== 'unknown' && isWithin(spans, call.answeredAt) ? { ...call, outcome: 'unknown' } : call,
    );
}

/** What a stream told in that time may be forgotten; what it told before and after is one story all the same. */
export function streamsAfter(spans: readonly Span[], streams: readonly Stream[], { jobs }: Dump): Stream[] {
  if (spans.length === 0) return [...streams];
  const kept = new Set(
    jobs.flatMap(({ id, events }) => events.map(({ type, createdAt }) => `${id} ${type} ${createdAt}`)),
  );
  return streams
    .filter(({ messages }) => !isWithin(spans, Date.parse(messages[0]?.timestamp)))
    .map((stream) => ({
      ...stream,
      // It may have been closed, or not, for an end that was forgotten since.
      until: isCut(stream) ? stream.until : null,
      messages: stream.messages.filter(
        ({ jobId, type, timestamp }) =>
          !isWithin(spans, Date.parse(timestamp)) || kept.has(`${jobId} ${type} ${timestamp}`),
      ),
    }));
}

/** A callback that was sent in that time may tell of an end that was forgotten. */
export function callbacksAfter(spans: readonly Span[], callbacks: readonly Callback[], { jobs }: Dump): Callback[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return callbacks.filter((callback) => !isWithin(spans, callback.at) || tells(callback, byId.get(callback.jobId)));
}

/** Whether a callback tells of the end that the job has in the end. */
function tells({ body, at }: Callback, job: DumpedJob | undefined): boolean {
  const end = job?.events.find(({ type }) => type === 'completed' || type === 'dead');
  return end !== undefined && Date.parse(end.createdAt) <= at && body.status === job?.status;
}
