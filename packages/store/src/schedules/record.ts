import {
  type CreateJobRequest,
  createJobRequest,
  LIMITS,
  repeatedJobRequest,
  retryOf,
  type Schedule,
  type ScheduleRequest,
  type ShownJob,
  type SkipReason,
  type SpaceSettings,
  type Timing,
  uniqueOf,
} from '@yardmaster/protocol';
import { settingsOfText } from '../spaces/settings/known-settings.js';
import { isoOf, isoOrNull } from '../time.js';

/** What a schedule declares, without fields at their defaults. `job` is a body of Create Job. */
export interface Definition {
  cron?: string;
  everySeconds?: number;
  timezone?: string;
  job: ShownJob;
  overlap?: Schedule['overlap'];
  missed?: Schedule['missed'];
  missedWithinSeconds?: number;
  spreadSeconds?: number;
  startsAt?: number;
  endsAt?: number;
  paused?: true;
  owner?: string;
}

/**
 * Fields of the hash `schedule:<space>/<id>`. `definition` is a Definition as JSON, and `version` changes with it. Times are
 * epoch milliseconds.
 */
export interface ScheduleRecord {
  version: string;
  definition: string;
  createdAt: string;
  /** Next time, before `spreadSeconds`; absent if paused or if none is left. */
  nextAt?: string;
  lastAt?: string;
  lastJobId?: string;
  fired?: string;
  skipped?: string;
  /** `<time> <reason>` of the latest time that created no job. */
  lastSkipped?: string;
}

const DEFAULTS: Record<string, unknown> = createJobRequest.parse({ name: 'any' });

/** Omit the fields of a create that are at their defaults. */
function shownJobOf({ retry, unique, ...others }: CreateJobRequest): ShownJob {
  const given = Object.entries(others).filter(([field, value]) => value !== undefined && value !== DEFAULTS[field]);
  return {
    ...Object.fromEntries(given),
    ...(retry && { retry: retryOf(retry) }),
    ...(unique && { unique: uniqueOf(unique) }),
  } as ShownJob;
}

/** Return the body of a create from a definition. */
export const jobOfDefinition = ({ job }: Definition): CreateJobRequest => repeatedJobRequest.parse(job);

/**
 * Build the definition for a request.
 *
 * @param isPaused whether the schedule is paused, unless the request says so
 */
export function definitionOf(request: ScheduleRequest, isPaused: boolean): Definition {
  const { cron, everySeconds, timezone, job, overlap, missed, missedWithinSeconds, spreadSeconds } = request;
  const { startsAt, endsAt, paused = isPaused, owner } = request;
  return {
    ...(cron !== null && { cron }),
    ...(everySeconds !== null && { everySeconds }),
    ...(timezone !== 'UTC' && { timezone }),
    job: shownJobOf(job),
    ...(overlap !== 'skip' && { overlap }),
    ...(missed !== 'once' && { missed }),
    ...(missedWithinSeconds !== LIMITS.missedWithinSecondsDefault && { missedWithinSeconds }),
    ...(spreadSeconds !== 0 && { spreadSeconds }),
    ...(startsAt !== null && { startsAt }),
    ...(endsAt !== null && { endsAt }),
    ...(paused && { paused }),
    ...(owner !== null && { owner }),
  };
}

/** Return the timing of a schedule. @param createdAt epoch milliseconds */
export function timingOf({ cron, everySeconds, timezone, startsAt, endsAt }: Definition, createdAt: number): Timing {
  return {
    cron: cron ?? null,
    everySeconds: everySeconds ?? null,
    timezone: timezone ?? 'UTC',
    startsAt: startsAt ?? null,
    endsAt: endsAt ?? null,
    createdAt,
  };
}

/** A schedule as the scripts return it. */
export interface StoredSchedule {
  spaceId: string;
  id: string;
  /** Settings of the space. */
  settings: SpaceSettings;
  record: ScheduleRecord;
  definition: Definition;
}

/**
 * Decode a schedule from a script: its space, its ID, its place or time, the settings of its space, and the fields of its
 * record (name, value, …).
 *
 * @returns null for an empty record
 */
export function storedScheduleOf([spaceId = '', id = '', , settings, ...values]: string[]): StoredSchedule | null {
  if (values.length === 0) return null;
  const fields: Record<string, string> = {};
  for (let i = 0; i < values.length; i += 2) fields[values[i] as string] = values[i + 1] as string;
  const record = fields as unknown as ScheduleRecord;
  return {
    ...{ spaceId, id, record },
    settings: settingsOfText(settings ?? null),
    definition: JSON.parse(record.definition) as Definition,
  };
}

/** Return a schedule as responses show it. */
export function shownScheduleOf({ spaceId, id, record, definition }: StoredSchedule): Schedule {
  const { job, timezone, overlap, missed, missedWithinSeconds, spreadSeconds, startsAt, endsAt, ...others } =
    definition;
  const [at, reason] = record.lastSkipped?.split(' ') ?? [];
  return {
    id,
    spaceId,
    ...(others.cron !== undefined && { cron: others.cron }),
    ...(others.everySeconds !== undefined && { everySeconds: others.everySeconds }),
    timezone: timezone ?? 'UTC',
    job,
    overlap: overlap ?? 'skip',
    missed: missed ?? 'once',
    missedWithinSeconds: missedWithinSeconds ?? LIMITS.missedWithinSecondsDefault,
    spreadSeconds: spreadSeconds ?? 0,
    ...(startsAt !== undefined && { startsAt: isoOf(startsAt) }),
    ...(endsAt !== undefined && { endsAt: isoOf(endsAt) }),
    paused: others.paused === true,
    ...(others.owner !== undefined && { owner: others.owner }),
    nextAt: isoOrNull(record.nextAt),
    lastAt: isoOrNull(record.lastAt),
    lastJobId: record.lastJobId ?? null,
    fired: Number(record.fired ?? 0),
    skipped: Number(record.skipped ?? 0),
    lastSkipped: at === undefined ? null : { at: isoOf(at), reason: reason as SkipReason },
    createdAt: isoOf(record.createdAt),
  };
}
