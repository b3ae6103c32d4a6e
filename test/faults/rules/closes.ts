import type { DumpedJob } from '../dump.js';
import type { Stream } from '../history.js';
import { type Evidence, isHit, type Outage, type Rule, type Stopped } from './rule.js';

/** Of a stream whose job has ended. */
const ENDED = 1000;

/** Whether a stream was closed before what it tells of was over. */
export const isCut = ({ closed }: Stream) => closed !== null && closed !== ENDED;

/** What streams are closed with while something is away from their gateway. */
const CLOSES: Partial<Record<Stopped, readonly number[]>> = { gateway: [1001, 1006], redis: [1012] };

/** A gateway may find only after so long that its Redis is away, or was, milliseconds. */
const FOUND_MS = 5_000;

const TERMINAL = ['completed', 'dead', 'killed'];

/** A stream is closed when its job has ended, and else for a reason that there is (P8). */
export const closes: Rule = {
  name: 'closes',
  promise: 'P8',
  check: ({ streams, dump, outages }) => {
    const jobs = new Map(dump.jobs.map((job) => [job.id, job]));
    return streams
      .filter((stream) => !hasReason(stream, jobs.get(stream.jobId ?? ''), outages))
      .map(({ client, jobId, closed, line }) => ({
        jobId,
        says: `stream of ${client} was closed with ${closed}, for no reason`,
        lines: [line],
      }));
  },
};

function hasReason(stream: Stream, job: DumpedJob | undefined, outages: Evidence['outages']): boolean {
  const { closed, closedAt, jobId } = stream;
  if (closed === null || closedAt === null) return true;
  if (isCut(stream)) return outages.some((outage) => isReason(outage, closed, closedAt));
  // Of a job that is gone nothing can be said; the stream of a space does not end.
  if (job === undefined) return jobId !== null;
  const end = job.events.find(({ type }) => TERMINAL.includes(type));
  return end !== undefined && Date.parse(end.createdAt) <= closedAt;
}

function isReason(outage: Outage, closed: number, closedAt: number): boolean {
  const { from, until, stops } = outage;
  if (closedAt < from || closedAt > until + FOUND_MS) return false;
  const ofStopped = stops.some((one) => CLOSES[one]?.includes(closed)) && isHit(outage, 'gateway');
  return ofStopped || outage.closes.includes(closed);
}
