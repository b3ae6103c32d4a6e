import { isDeepStrictEqual } from 'node:util';

// What schedules must do, written from the contract and not from the product. It knows few cron expressions, whose times are
// multiples of a period in UTC.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Period and offset of each cron expression, milliseconds. */
const CRONS: Readonly<Record<string, readonly [periodMs: number, offsetMs: number]>> = {
  '* * * * *': [MINUTE_MS, 0],
  '*/15 * * * *': [15 * MINUTE_MS, 0],
  '@hourly': [HOUR_MS, 0],
  '20 * * * *': [HOUR_MS, 20 * MINUTE_MS],
  '@daily': [DAY_MS, 0],
  '30 3 * * *': [DAY_MS, 3.5 * HOUR_MS],
};
export const EXPRESSIONS = Object.keys(CRONS);

/** Lateness above which a time is missed, milliseconds. */
export const LATE_MS = MINUTE_MS;

/** Maximum number of missed times that the product counts at once for a cron expression. */
const MOST_COUNTED = 100;

/** What a body of Put Schedule declares, with all defaults. Times are epoch milliseconds. */
export interface Declared {
  cron: string | null;
  everySeconds: number | null;
  startsAt: number | null;
  endsAt: number | null;
  spreadSeconds: number;
  overlap: 'skip' | 'allow' | 'replace';
  missed: 'once' | 'skip';
  missedWithinSeconds: number;
  paused: boolean;
}
const TIMING = ['cron', 'everySeconds', 'startsAt', 'endsAt', 'paused'] as const;

export interface OracleJob {
  schedule: string;
  scheduledFor: number;
  status: 'pending' | 'delivered' | 'running' | 'completed' | 'killed' | 'deleted';
  isReplaced: boolean;
  /** ID that the product gave to it, once that is known. */
  id: string | null;
}
export const isOpen = ({ status }: OracleJob) => ['pending', 'delivered', 'running'].includes(status);

export interface OracleSchedule {
  key: string;
  createdAt: number;
  declared: Declared;
  /** Rises with each change of any schedule. */
  version: number;
  nextAt: number | null;
  lastAt: number | null;
  last: OracleJob | null;
  fired: number;
  skipped: number;
  lastSkipped: { at: number; reason: 'MISSED' | 'OVERLAP' } | null;
}

/** What a scheduler has read: what to do for a schedule, unless it has changed since then. */
interface Reading extends Pick<OracleSchedule, 'key' | 'version' | 'nextAt'> {
  latest: number;
  isRun: boolean;
  missed: number;
}

/** Return when a time fires: later by a part of its spread, which no text fixes. */
export type DueTime = (schedule: OracleSchedule, at: number) => number;

export class Oracle {
  readonly schedules = new Map<string, OracleSchedule>();
  readonly jobs: OracleJob[] = [];
  private changes = 0;

  constructor(
    public now: number,
    private readonly dueTime: DueTime,
  ) {}

  /** @param declared without `paused` if the body has none */
  put(key: string, { paused, ...others }: Omit<Declared, 'paused'> & { paused?: boolean }) {
    const before = this.schedules.get(key);
    const declared = { ...others, paused: paused ?? before?.declared.paused ?? false };
    if (before === undefined) {
      const counts = { nextAt: null, lastAt: null, last: null, fired: 0, skipped: 0, lastSkipped: null };
      this.change({ key, createdAt: this.now, declared, version: 0, ...counts }, declared);
      return 'created';
    }
    if (isDeepStrictEqual(before.declared, declared)) return 'unchanged';
    this.change(before, declared);
    return 'changed';
  }

  /** A time that is already due stays due, unless the times change. */
  private change(schedule: OracleSchedule, declared: Declared): void {
    const isTimed = TIMING.every((field) => schedule.declared[field] === declared[field]) && schedule.nextAt !== null;
    const changed = { ...schedule, declared, version: ++this.changes };
    if (!isTimed) changed.nextAt = declared.paused ? null : firstFrom(changed, this.now + 1);
    this.schedules.set(schedule.key, changed);
  }

  pause(key: string, paused: boolean): void {
    const schedule = this.schedules.get(key) as OracleSchedule;
    if (schedule.declared.paused !== paused) this.change(schedule, { ...schedule.declared, paused });
  }

  remove(key: string): void {
    this.schedules.delete(key);
  }

  /** Run a schedule on demand, and return the job; null if the last one has not ended. */
  run(key: string): OracleJob | null {
    return this.start(this.schedules.get(key) as OracleSchedule, this.now);
  }

  private start(schedule: OracleSchedule, at: number): OracleJob | null {
    const { last, declared } = schedule;
    if (last !== null && isOpen(last) && declared.overlap === 'skip') return null;
    if (last !== null && isOpen(last) && declared.overlap === 'replace')
      Object.assign(last, { status: 'killed', isReplaced: true });
    schedule.last = { schedule: schedule.key, scheduledFor: at, status: 'pending', isReplaced: false, id: null };
    this.jobs.push(schedule.last);
    return schedule.last;
  }

  /** Read what is due. */
  read(): Reading[] {
    return [...this.schedules.values()].flatMap((schedule) => {
      const { key, version, nextAt, declared } = schedule;
      if (nextAt === null || this.dueTime(schedule, nextAt) > this.now) return [];
      const latest = this.latestDue(schedule);
      const isLate = this.now - this.dueTime(schedule, latest) > LATE_MS;
      const isRecent = this.now - latest <= declared.missedWithinSeconds * 1_000;
      const isRun = !isLate || (declared.missed === 'once' && isRecent);
      const earlier = (latest - nextAt) / gridOf(schedule).periodMs;
      const missed = declared.cron === null ? earlier : Math.min(earlier, MOST_COUNTED);
      return [{ key, version, nextAt, latest, isRun, missed }];
    });
  }

  private latestDue(schedule: OracleSchedule): number {
    const { anchor, periodMs } = gridOf(schedule);
    const until = Math.min(this.now, schedule.declared.endsAt ?? Number.POSITIVE_INFINITY);
    const latest = anchor + Math.floor((until - anchor) / periodMs) * periodMs;
    // Each time fires before the next one.
    return this.dueTime(schedule, latest) <= this.now ? latest : latest - periodMs;
  }

  /** Do what was read, now or earlier. */
  fire(readings: readonly Reading[]): void {
    for (const { key, version, nextAt, latest, isRun, missed } of readings) {
      const schedule = this.schedules.get(key);
      if (schedule === undefined || schedule.version !== version || schedule.nextAt !== nextAt) continue;
      const skip = (count: number, at: number, reason: 'MISSED' | 'OVERLAP') => {
        schedule.skipped += count;
        schedule.lastSkipped = { at, reason };
      };
      if (missed > 0) skip(missed, latest - gridOf(schedule).periodMs, 'MISSED');
      if (!isRun) skip(1, latest, 'MISSED');
      else if (this.start(schedule, latest) === null) skip(1, latest, 'OVERLAP');
      else {
        schedule.fired++;
        schedule.lastAt = latest;
      }
      schedule.nextAt = firstFrom(schedule, latest + 1);
    }
  }
}

/** Return the times of a schedule without `endsAt`: multiples of a period after an anchor, from the first one on. */
export function gridOf({ declared: { cron, everySeconds, startsAt }, createdAt }: OracleSchedule) {
  if (cron !== null) {
    const [periodMs, anchor] = CRONS[cron] as readonly [number, number];
    return { periodMs, anchor, first: startsAt ?? 0 };
  }
  const periodMs = (everySeconds as number) * 1_000;
  return { periodMs, anchor: startsAt ?? createdAt, first: startsAt ?? createdAt + periodMs };
}

/** Return the first time of a schedule that is not before this one; null for none. */
function firstFrom(schedule: OracleSchedule, from: number): number | null {
  const { anchor, periodMs, first } = gridOf(schedule);
  const at = anchor + Math.ceil((Math.max(from, first) - anchor) / periodMs) * periodMs;
  return at <= (schedule.declared.endsAt ?? Number.POSITIVE_INFINITY) ? at : null;
}
