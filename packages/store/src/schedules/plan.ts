import { createHash } from 'node:crypto';
import { countTimes, nextTime, previousTime, type Timing } from '@yardmaster/protocol';
import { type Definition, timingOf } from './record.js';

/** Lateness above which a time is missed, milliseconds. */
const MISSED_MS = 60_000;

/** Return the first time of a schedule after `after`, and when it fires, epoch milliseconds; null for none. */
export function upcomingOf(
  key: string,
  definition: Definition,
  timing: Timing,
  after: number,
): { nextAt: number; dueAt: number } | null {
  const nextAt = nextTime(timing, after);
  return nextAt === null ? null : { nextAt, dueAt: dueOf(key, definition, timing, nextAt) };
}

/**
 * Return when a time of a schedule fires: later by a part of `spreadSeconds` that depends on the schedule and the time, but
 * before the next time.
 *
 * @param key `<space>/<id>` of the schedule
 */
export function dueOf(key: string, { spreadSeconds = 0 }: Definition, timing: Timing, at: number): number {
  if (spreadSeconds === 0) return at;
  const spreadMs = Math.min(spreadSeconds * 1_000, (nextTime(timing, at) ?? Number.POSITIVE_INFINITY) - at);
  const hash = createHash('sha256').update(`${key} ${at}`).digest().readUInt32BE();
  return at + Math.floor((hash / 2 ** 32) * spreadMs);
}

/** What a schedule must do now. Times are epoch milliseconds. */
export interface Plan {
  /** Latest time that is due. */
  at: number;
  /** Whether it creates a job. */
  isRun: boolean;
  /** Number of times that are missed, and the latest of these. */
  missed: number;
  missedAt: number;
  /** The next time, and when it fires; null for none. */
  next: { nextAt: number; dueAt: number } | null;
  /** When the latest time fired. */
  dueAt: number;
}

/**
 * Decide what a schedule does: at most one job, for the latest time that is due.
 *
 * @param key `<space>/<id>` of the schedule
 * @param first its next time, which is due
 */
export function planOf(key: string, definition: Definition, createdAt: number, first: number, now: number): Plan {
  const timing = timingOf(definition, createdAt);
  const { missed = 'once', missedWithinSeconds = 86_400 } = definition;
  let at = first;
  const second = nextTime(timing, first);
  if (second !== null && dueOf(key, definition, timing, second) <= now) {
    at = previousTime(timing, now + 1) ?? second;
    if (dueOf(key, definition, timing, at) > now) at = previousTime(timing, at) ?? second;
  }
  const dueAt = dueOf(key, definition, timing, at);
  const isLate = now - dueAt > MISSED_MS;
  const isRun = !isLate || (missed === 'once' && now - at <= missedWithinSeconds * 1_000);
  const before = countTimes(timing, first, at);
  return {
    at,
    isRun,
    missed: before + (isRun ? 0 : 1),
    missedAt: isRun ? (before > 0 ? (previousTime(timing, at) ?? first) : at) : at,
    next: upcomingOf(key, definition, timing, at),
    dueAt,
  };
}
