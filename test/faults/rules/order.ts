import type { EventType } from '@yardmaster/protocol';
import { type Evidence, type Found, type HandOut, linesOf, type Rule, type StoredCase } from './rule.js';

/** A stretch of time in which a job was pending, epoch milliseconds. */
interface Wait {
  one: StoredCase;
  /** By when it stands in the queue. */
  place: number;
  from: number;
  until: number;
}

/**
 * A poll is handed the oldest of the jobs that it asks for (contract of poll, spec §4.3); no other poll passes it over
 * (P3).
 */
export const order: Rule = {
  name: 'order',
  promise: 'P3',
  check(evidence) {
    const waits = waitsIn(evidence);
    return waits.flatMap((wait) =>
      wait.one.handOuts
        .filter((handOut) => ended(wait, handOut))
        .flatMap((handOut) => passedOver(wait, handOut, waits)),
    );
  },
};

function waitsIn({ cases }: Evidence): Wait[] {
  return cases.flatMap(({ job, ...rest }) => (job === null ? [] : waitsOf({ ...rest, job })));
}

/** Where a job stands in its queue from such an event on: at its end, or by its creation when it was not acked in time. */
const PLACES: Partial<Record<EventType, (now: number, created: number) => number>> = {
  created: (now) => now,
  retried: (now) => now,
  delivery_timeout: (_, created) => created,
};

function waitsOf(one: StoredCase): Wait[] {
  const waits: Wait[] = [];
  for (const { type, createdAt } of one.job.events) {
    const at = Date.parse(createdAt);
    const place = PLACES[type]?.(at, waits[0]?.from ?? at);
    if (place !== undefined) waits.push({ one, place, from: at, until: Number.POSITIVE_INFINITY });
    const last = waits.at(-1);
    if ((type === 'delivered' || type === 'killed') && last && last.until > at) last.until = at;
  }
  return waits;
}

/** Whether a job's wait was over by this: a poll that was under way at that moment. */
const ended = ({ until }: Wait, { call }: HandOut) =>
  call.op === 'poll' && call.sentAt <= until && call.answeredAt >= until;

/** Of two events of one millisecond nobody knows which was first. */
function passedOver({ one, place, until: at }: Wait, { call }: HandOut, waits: readonly Wait[]): Found[] {
  const names: string[] | undefined = call.sent?.types;
  const older = waits.find(
    (other) =>
      other.one.job.spaceId === one.job.spaceId &&
      other.place < place &&
      other.from < at &&
      other.until > at &&
      (names === undefined || names.includes(other.one.job.name)),
  );
  if (older === undefined) return [];
  return [
    { jobId: one.jobId, says: `it was handed out before ${older.one.jobId}, which is older`, lines: linesOf([call]) },
  ];
}
