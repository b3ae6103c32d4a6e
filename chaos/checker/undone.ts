import { endsOf } from '../rules/callbacks.js';
import { isCut } from '../rules/closes.js';
import type { Dump, DumpedJob } from './dump.js';
import type { Call, Callback, Stream } from './history.js';
import type { Span } from './stalls.js';

// A power cut loses the end of the append-only file. The last effects are undone, and may happen differently afterwards. A
// span starts at the last write that was kept and ends when Redis is back. These functions reduce what clients know to facts
// that must still be true.

const isWithin = (spans: readonly Span[], at: number) => spans.some(({ from, until }) => at >= from && at <= until);

/** Treat calls with a response in such a span as unknown. A lost job may return 404 from then on. */
export function callsAfter(spans: readonly Span[], calls: readonly Call[], { jobs }: Dump): Call[] {
  const kept = new Set(jobs.map(({ id }) => id));
  const isGone = ({ jobId, endedAt }: Call) =>
    jobId !== null && !kept.has(jobId) && spans.some(({ from }) => endedAt >= from);
  return calls.map((call) => ({
    ...call,
    mayBe: isGone(call) ? [...call.mayBe, 404] : call.mayBe,
    outcome: isWithin(spans, call.endedAt) ? 'unknown' : call.outcome,
  }));
}

/** Drop messages about undone events; the other messages of a stream must still be one sequence. */
export function streamsAfter(spans: readonly Span[], streams: readonly Stream[], { jobs }: Dump): Stream[] {
  if (spans.length === 0) return [...streams];
  const isUndone = (timestamp: string) => isWithin(spans, Date.parse(timestamp));
  const all = jobs.flatMap(({ id, events }) => events.map((event) => `${id} ${event.type} ${event.createdAt}`));
  const kept = new Set(all);
  return streams
    .filter(({ messages }) => !isUndone(messages[0]?.timestamp))
    .map((stream) => ({
      ...stream,
      until: isCut(stream) ? stream.until : null, // It may or may not have been closed because of an undone end.
      messages: stream.messages.filter(
        ({ jobId, type, timestamp }) => !isUndone(timestamp) || kept.has(`${jobId} ${type} ${timestamp}`),
      ),
    }));
}

/** Drop callbacks that report an undone end. */
export function callbacksAfter(spans: readonly Span[], callbacks: readonly Callback[], { jobs }: Dump): Callback[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return callbacks.filter((callback) => !isWithin(spans, callback.at) || reports(callback, byId.get(callback.jobId)));
}

/** Check whether a callback reports the current end of the job. */
function reports({ body, at }: Callback, job: DumpedJob | undefined): boolean {
  const end = job?.events.find(({ type }) => endsOf(job).includes(type));
  return end !== undefined && Date.parse(end.createdAt) <= at && body.status === job?.status;
}
