import type { DumpedJob } from '../dump.js';
import type { Stream } from '../history.js';
import { isHit, type Outage, type Rule, type Stopped } from './rule.js';

/** Of a stream whose job has ended. */
const ENDED = 1000;

/** Whether a stream was closed before what it tells of was over. */
export const isCut = ({ closed }: Stream) => closed !== null && closed !== ENDED;

/** What streams are closed with when something is away, and how long after it, milliseconds: Redis is found to be. */
const CLOSES: Partial<Record<Stopped, { code: number; withinMs: number }>> = {
  gateway: { code: 1006, withinMs: 1_000 },
  redis: { code: 1012, withinMs: 5_000 },
};

/** How long after a fault that closes streams by itself. */
const OWN_MS = 1_000;

/** A client has 5 s to close its stream by itself once it was told the end; the rest is for a busy machine. */
const OPEN_MS = 5_000 + 5_000;

const TERMINAL = ['completed', 'dead', 'killed'];

/** A stream is closed when its job has ended and it has told so, and else for a reason that there is (P8). */
export const closes: Rule = {
  name: 'closes',
  promise: 'P8',
  check: ({ streams, dump, outages }) => {
    const jobs = new Map(dump.jobs.map((job) => [job.id, job]));
    return streams.flatMap((stream) => {
      const { client, jobId, line } = stream;
      const says = faultOf(stream, jobs.get(jobId ?? ''), outages);
      return says === null ? [] : [{ jobId, says: `stream of ${client} ${says}`, lines: [line] }];
    });
  },
};

function faultOf(stream: Stream, job: DumpedJob | undefined, outages: readonly Outage[]): string | null {
  const { closed, until, jobId, openedAt } = stream;
  if (until === null) return null;
  if (isCut(stream))
    return outages.some((outage) => isReason(outage, stream)) ? null : `was closed with ${closed}, for no reason`;
  if (jobId === null) return closed === null ? null : 'of a space was closed as if that could end';
  if (job === undefined) return null; // Of a job that is gone nothing can be said.
  const end = job.events.find(({ type }) => TERMINAL.includes(type));
  const endedAt = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end.createdAt);
  if (closed === null)
    return until - Math.max(endedAt, openedAt) > OPEN_MS ? 'was still open long after the end of its job' : null;
  if (endedAt > until) return 'was closed as if its job had ended';
  return toldEnd(stream, job) ? null : 'was closed at the end, and had not told it';
}

/** Without a key nobody is told of another end than completion. */
function toldEnd({ scope, messages }: Stream, { status }: DumpedJob): boolean {
  const told = messages.some(({ type, status: at }) => TERMINAL.includes(type) || TERMINAL.includes(at));
  return told || (scope === 'progress' && status !== 'completed');
}

function isReason(outage: Outage, { closed, until, gateway }: Stream): boolean {
  const isSoonAfter = (withinMs: number) => Number(until) >= outage.from && Number(until) <= outage.until + withinMs;
  const ofStopped = outage.stops.some((one) => {
    const close = CLOSES[one];
    return close?.code === closed && isSoonAfter(close.withinMs);
  });
  return (ofStopped && isHit(outage, gateway)) || (outage.closes.includes(closed as number) && isSoonAfter(OWN_MS));
}
