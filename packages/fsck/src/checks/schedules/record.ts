import { isJobId, nextTime, SKIP_REASONS, scheduleRequest } from '@yardmaster/protocol';
import { isoOf, type StoredSchedule, storedScheduleOf, timingOf } from '@yardmaster/store';

const WHOLE = /^\d{1,16}$/;
const SKIPPED = new RegExp(`^\\d{1,16} (${SKIP_REASONS.join('|')})$`);

/** Checks of the fields of a record, except `definition`. */
const FIELDS: Readonly<Record<string, (text: string) => boolean>> = {
  version: (text) => /^[a-z2-7]{8}$/.test(text),
  createdAt: (text) => WHOLE.test(text),
  nextAt: (text) => WHOLE.test(text),
  lastAt: (text) => WHOLE.test(text),
  lastJobId: isJobId,
  fired: (text) => WHOLE.test(text),
  skipped: (text) => WHOLE.test(text),
  lastSkipped: (text) => SKIPPED.test(text),
};
const REQUIRED = ['version', 'definition', 'createdAt'];

/** A schedule that was read, and its faults. */
interface CheckedSchedule {
  /** Null if its definition cannot be read. */
  schedule: StoredSchedule | null;
  /** One sentence each. */
  faults: string[];
}

/**
 * Check the record of a schedule.
 *
 * @param key `<space>/<id>`
 * @param at current time, epoch milliseconds
 */
export function checkedSchedule(key: string, fields: Readonly<Record<string, string>>, at: number): CheckedSchedule {
  const missing = REQUIRED.filter((field) => fields[field] === undefined).map((field) => `${field} is missing`);
  const invalid = Object.entries(fields)
    .filter(([field, text]) => FIELDS[field]?.(text) === false)
    .map(([field, text]) => `${field} is invalid: ${text.slice(0, 80)}`);
  const schedule = fields.definition === undefined ? null : readable(key, fields);
  const unreadable = fields.definition !== undefined && schedule === null ? ['definition is invalid'] : [];
  const faults = [...missing, ...invalid, ...unreadable];
  if (faults.length > 0 || schedule === null) return { schedule, faults };
  const fault = nextFault(schedule, at);
  return { schedule, faults: fault === null ? [] : [fault] };
}

/** Decode a schedule whose definition its API would accept; null for any other. */
function readable(key: string, fields: Readonly<Record<string, string>>): StoredSchedule | null {
  try {
    const [spaceId = '', id = ''] = key.split('/');
    const schedule = storedScheduleOf([spaceId, id, '', '', ...Object.entries(fields).flat()]);
    const { startsAt, endsAt, ...request } = (schedule as StoredSchedule).definition;
    scheduleRequest.parse({
      ...request,
      ...(startsAt !== undefined && { startsAt: isoOf(startsAt) }),
      ...(endsAt !== undefined && { endsAt: isoOf(endsAt) }),
    });
    return schedule;
  } catch {
    return null;
  }
}

/** Return what is wrong with the next time of a schedule; null for nothing. */
function nextFault({ record, definition }: StoredSchedule, at: number): string | null {
  const { createdAt, nextAt, lastAt = 0, lastSkipped = '0' } = record;
  if (definition.paused) return nextAt === undefined ? null : 'nextAt must be absent, because the schedule is paused';
  if (nextAt !== undefined) return null;
  // All times up to this one are done, even if the clock has stepped back since.
  const done = Math.max(at, Number(lastAt), Number.parseInt(lastSkipped, 10));
  return nextTime(timingOf(definition, Number(createdAt)), done) === null ? null : 'nextAt is missing';
}
