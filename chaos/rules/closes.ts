import { isTerminal } from '@yardmaster/protocol';
import type { DumpedJob } from '../checker/dump.js';
import type { Stream } from '../checker/history.js';
import { before, closeDuring } from '../checker/stalls.js';
import { affects, type Finding, type Outage, type Rule, type Stopped } from './rule.js';

const ENDED = 1000; // Close code of a stream whose job has ended.

/** Check whether a stream was closed before its job, or the run, had ended. */
export const isCut = ({ closed }: Stream) => closed !== null && closed !== ENDED;

/** Close code of streams while a part is unavailable, and how long after the outage it may still occur, in milliseconds. */
const CLOSES: Partial<Record<Stopped, { code: number; withinMs: number }>> = {
  gateway: { code: 1006, withinMs: 1_000 },
  redis: { code: 1012, withinMs: 5_000 },
};
const OWN_MS = 1_000; // The same for a fault that closes streams itself.

/** A stream closes within 5 s of the end of its job, or within 60 s if it hides the end; plus 5 s for a slow machine. */
const mostOpenMs = (isHidden: boolean) => (isHidden ? 60_000 : 5_000) + 5_000;

/** Check whether a message reports the end of its job. */
export const reportsEnd = ({ type, status }: Stream['messages'][number]) => isTerminal(type) || isTerminal(status);

/** A stream closes when it has reported the end of its job, and otherwise only with a reason (P8). */
export const closes: Rule = {
  name: 'closes',
  promise: 'P8',
  check: ({ streams, dump, outages }) => {
    const jobs = new Map(dump.jobs.map((job) => [job.id, job]));
    return streams.flatMap((stream): Finding[] => {
      const { client, jobId, line, until, messages } = stream;
      if (until === null || messages.length === 0) return [];
      const found = faultOf({ ...stream, until }, jobs.get(jobId ?? ''), outages);
      return found === null ? [] : [{ jobId, lines: [line], ...found, says: `stream of ${client} ${found.says}` }];
    });
  },
};

type Ended = Stream & { until: number };

/** Check whether a stream hides the end of its job: without a key, it reports only completion. */
const hidesEnd = ({ scope }: Stream, { status }: DumpedJob) => scope === 'progress' && status !== 'completed';

function faultOf(stream: Ended, job: DumpedJob | undefined, outages: readonly Outage[]): Finding | null {
  const { closed, until, jobId, openedAt } = stream;
  if (isCut(stream)) {
    if (outages.some((outage) => isReason(outage, stream))) return null;
    return { says: `was closed with ${closed}, without a reason`, ...closeDuring(closed, until) };
  }
  if (jobId === null) return closed === null ? null : { says: 'of a space was closed as if it could end' };
  if (job === undefined) return null; // The job no longer exists, so its end is unknown.
  const end = job.events.find(({ type }) => isTerminal(type));
  const endedAt = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end.createdAt);
  const isHidden = hidesEnd(stream, job);
  if (closed === null) {
    if (until - Math.max(endedAt, openedAt) <= mostOpenMs(isHidden)) return null;
    return { says: 'was still open long after the end of its job', during: before(until) };
  }
  if (endedAt > until) return { says: 'was closed as if its job had ended' };
  return isHidden || stream.messages.some(reportsEnd)
    ? null
    : { says: 'was closed at the end of its job, but had not reported it' };
}

function isReason(outage: Outage, { closed, until, gateway }: Ended): boolean {
  const isSoonAfter = (withinMs: number) => until >= outage.from && until <= outage.until + withinMs;
  const isStopped = outage.stops.some((one) => {
    const close = CLOSES[one];
    return close?.code === closed && isSoonAfter(close.withinMs);
  });
  return (isStopped && affects(outage, gateway)) || (outage.closes.includes(closed as number) && isSoonAfter(OWN_MS));
}
