import { Cron } from 'croner';

/** When a schedule runs. Times are epoch milliseconds. */
export interface Timing {
  /** Cron expression; null with `everySeconds`. */
  cron: string | null;
  everySeconds: number | null;
  /** IANA name of the time zone of `cron`. */
  timezone: string;
  /** Earliest and latest time; null for no limit. */
  startsAt: number | null;
  endsAt: number | null;
  /** When the schedule was created, from which `everySeconds` counts without `startsAt`. */
  createdAt: number;
}

/** Fields of a cron expression, in order. */
const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const;

const VALUE = '(?:\\d{1,2}|[A-Za-z]{3})';
const ITEM = `(?:\\*(?:/\\d{1,2})?|${VALUE}(?:-${VALUE}(?:/\\d{1,2})?)?)`;
/** A field: a list of `*`, values and ranges, with an optional step. croner checks the values, but also knows extensions. */
const FIELD = new RegExp(`^${ITEM}(?:,${ITEM})*$`);

const SHORTHANDS = ['@hourly', '@daily', '@weekly', '@monthly', '@yearly'];

/** How far ahead a cron expression must have a time. */
const WITHIN_MS = 5 * 366 * 24 * 3_600_000;

/** Return whether a text is the IANA name of a time zone. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z][\w/+-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Find what is wrong with a cron expression.
 *
 * @returns the end of a sentence that starts with the field's name; null if there is no fault
 */
export function cronFault(cron: string): string | null {
  if (cron.startsWith('@')) return SHORTHANDS.includes(cron) ? null : `must be one of ${SHORTHANDS.join(', ')}`;
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `must have five fields: ${FIELDS.join(', ')}`;
  for (const [i, field] of fields.entries()) {
    const alone = FIELDS.map((_, j) => (i === j ? field : '*')).join(' ');
    if (!FIELD.test(field) || !isAccepted(alone)) {
      return `has an invalid ${FIELDS[i]}: ${field.slice(0, 32)}`;
    }
  }
  const next = timesOf(cron, 'UTC').next(Date.now());
  return next === null || next > Date.now() + WITHIN_MS ? 'must have a time within five years' : null;
}

function isAccepted(cron: string): boolean {
  try {
    new Cron(cron, { paused: true });
    return true;
  } catch {
    return false;
  }
}

/** Times of a cron expression. */
interface CronTimes {
  /** Return the first time after this one; null for none. */
  next(after: number): number | null;
  /** Return the last time before this one; null for none. */
  previous(before: number): number | null;
}

/** Parsed expressions by expression and time zone. A parse takes as long as finding a time. */
const parsed = new Map<string, CronTimes>();
const MOST_PARSED = 1_000;

function timesOf(cron: string, timezone: string): CronTimes {
  const key = `${timezone} ${cron}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const pattern = new Cron(cron, { timezone, paused: true });
  // At midnight, many schedules have the same expression and are due at the same time.
  let last: [after: number, next: number | null] = [Number.NaN, null];
  const times: CronTimes = {
    next(after) {
      if (last[0] !== after) last = [after, pattern.nextRun(new Date(after))?.getTime() ?? null];
      return last[1];
    },
    previous: (before) => pattern.previousRuns(1, new Date(before))[0]?.getTime() ?? null,
  };
  if (parsed.size >= MOST_PARSED) parsed.clear();
  parsed.set(key, times);
  return times;
}

/** Number of the first run of a schedule with `everySeconds`: without `startsAt`, it runs one interval after its creation. */
const firstRun = ({ startsAt }: Timing) => (startsAt === null ? 1 : 0);
const origin = ({ startsAt, createdAt }: Timing) => startsAt ?? createdAt;
const intervalMs = (everySeconds: number) => Math.ceil(everySeconds * 1_000);

/** Return the first time of a schedule after this one, epoch milliseconds; null for none. */
export function nextTime(timing: Timing, after: number): number | null {
  const { cron, everySeconds, timezone, startsAt, endsAt } = timing;
  const from = Math.max(after, (startsAt ?? Number.NEGATIVE_INFINITY) - 1);
  let next: number | null;
  if (everySeconds === null) {
    next = timesOf(cron as string, timezone).next(from);
  } else {
    const ms = intervalMs(everySeconds);
    const run = Math.floor((from - origin(timing)) / ms) + 1;
    next = origin(timing) + Math.max(run, firstRun(timing)) * ms;
  }
  return next !== null && next <= (endsAt ?? Number.POSITIVE_INFINITY) ? next : null;
}

/** Return the last time of a schedule before this one, epoch milliseconds; null for none. */
export function previousTime(timing: Timing, before: number): number | null {
  const { cron, everySeconds, timezone, startsAt, endsAt } = timing;
  const until = Math.min(before, (endsAt ?? Number.POSITIVE_INFINITY) + 1);
  if (everySeconds === null) {
    const previous = timesOf(cron as string, timezone).previous(until);
    return previous !== null && previous >= (startsAt ?? 0) ? previous : null;
  }
  const ms = intervalMs(everySeconds);
  const run = Math.ceil((until - origin(timing)) / ms) - 1;
  return run < firstRun(timing) ? null : origin(timing) + run * ms;
}

/** Maximum number of times of a cron expression to count, because each takes 0.1 ms to find. */
const MOST_COUNTED = 100;

/** Count the times of a schedule from the first time until before the last: at most 100 for a cron expression. */
export function countTimes(timing: Timing, first: number, last: number): number {
  if (timing.everySeconds !== null) return Math.round((last - first) / intervalMs(timing.everySeconds));
  let count = 0;
  for (let at: number | null = first; at !== null && at < last && count < MOST_COUNTED; count++) {
    at = nextTime(timing, at);
  }
  return count;
}
