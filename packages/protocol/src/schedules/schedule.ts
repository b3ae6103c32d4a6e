import { z } from 'zod';
import { type CreateJobRequest, repeatedJobRequest } from '../jobs/requests.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import {
  anObject,
  boundedArray,
  boundedText,
  jsonObject,
  numberBetween,
  optional,
  queryCursor,
  queryInteger,
  required,
  spaceId,
  timestampMs,
  withDefault,
} from '../schema/fields.js';
import { count, instant, jobIdField } from '../schema/response-fields.js';
import { cronFault, isTimezone } from './times.js';

/** Marks a body in the OpenAPI document whose row refuses unknown fields. */
const EXACT = { additionalProperties: false } as const;

export const OVERLAPS = ['skip', 'allow', 'replace'] as const;
export const MISSED = ['once', 'skip'] as const;

/** ID of a schedule in its space. */
export const scheduleId = spaceId;

const oneOf = <T extends string>(values: readonly [T, ...T[]]) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

const cron = describeAs(
  boundedText(LIMITS.cronCharacters).superRefine((text, ctx) => {
    const fault = text === '' || text.length > LIMITS.cronCharacters ? null : cronFault(text);
    if (fault !== null) ctx.addIssue({ code: 'custom', message: fault });
  }),
  z.string().min(1).max(LIMITS.cronCharacters),
);

const paused = z.boolean({ error: 'must be a boolean' });

/** Fields of Put Schedule. */
const fields = {
  cron: cron
    .nullable()
    .default(null)
    .describe(
      'When to run: `minute hour day-of-month month day-of-week`, or `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`. If both day fields are restricted, a day that matches either one counts',
    ),
  everySeconds: numberBetween(LIMITS.scheduleSecondsMin, LIMITS.scheduleSecondsMax)
    .nullable()
    .default(null)
    .describe(
      'Interval instead of `cron`. The first run is at `startsAt`; without it, one interval after the schedule is created',
    ),
  timezone: withDefault(
    z.string({ error: 'must be a string' }).refine(isTimezone, { error: 'must be an IANA time zone' }),
    'UTC',
  ).describe('IANA time zone of `cron`, such as `Europe/Berlin`'),
  job: repeatedJobRequest.describe('The jobs to create, as in Create Job without `scheduledFor` and `delaySeconds`'),
  overlap: withDefault(oneOf(OVERLAPS), 'skip').describe(
    'What to do if the last job has not ended: `skip` this run, `allow` a second job, or `replace` the last job by killing it',
  ),
  missed: withDefault(oneOf(MISSED), 'once').describe(
    'What to do after missed times: create `once` one job for the latest, or `skip` them all. A time is missed if a later one is due as well, or if it is more than 60 seconds late',
  ),
  missedWithinSeconds: withDefault(
    numberBetween(0, LIMITS.scheduleSecondsMax),
    LIMITS.missedWithinSecondsDefault,
  ).describe('Missed times that are older than this are always skipped'),
  spreadSeconds: withDefault(numberBetween(0, LIMITS.scheduleSecondsMax), 0).describe(
    'Run each time up to this much later, at most until the next time; the delay depends on the ID and the time',
  ),
  startsAt: timestampMs.nullable().default(null).describe('Earliest run (ISO 8601 with a time zone)'),
  endsAt: timestampMs.nullable().default(null).describe('Latest run (ISO 8601 with a time zone)'),
  paused: optional(paused).describe('Whether to create no jobs for now. Default: unchanged; false for a new schedule'),
  owner: boundedText(LIMITS.nameCharacters)
    .nullable()
    .default(null)
    .describe('Who declares the schedule, such as the name of a deployment. Others cannot change it'),
};

/** The checks that involve two fields. */
const checked = <T extends typeof fields>(shape: T) =>
  z.object(shape, anObject).superRefine((request, ctx) => {
    const { cron, everySeconds, startsAt, endsAt } = request as ScheduleFields;
    const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message });
    if (cron === null && everySeconds === null) fault('cron', 'or everySeconds is required');
    if (cron !== null && everySeconds !== null) fault('everySeconds', 'cannot be combined with cron');
    if (startsAt !== null && endsAt !== null && endsAt < startsAt) fault('endsAt', 'must not be before startsAt');
  });

type ScheduleFields = z.output<z.ZodObject<typeof fields>>;

/** Body of Put Schedule. Its row refuses unknown fields. */
export const scheduleRequest = checked(fields).meta({ id: 'ScheduleRequest', ...EXACT });
export type ScheduleRequest = z.output<typeof scheduleRequest>;

/** A schedule in the body of Put Schedules. */
const declaredSchedule = checked({ id: scheduleId.describe('ID of the schedule'), ...fields } as typeof fields & {
  id: typeof scheduleId;
}).meta({ id: 'DeclaredSchedule', ...EXACT });

/** Body of Put Schedules: what one owner declares. */
export const schedulesRequest = z
  .object(
    {
      owner: boundedText(LIMITS.nameCharacters).describe(
        'Who declares these schedules, such as the name of a deployment',
      ),
      schedules: boundedArray(declaredSchedule, {
        max: LIMITS.schedulesDeclared,
        what: 'schedules',
        error: 'must be an array of schedules',
      }),
      prune: withDefault(z.boolean({ error: 'must be a boolean' }), false).describe(
        "Whether to delete the owner's other schedules",
      ),
    },
    anObject,
  )
  .superRefine(({ owner, schedules }, ctx) => {
    const ids = schedules.map(({ id }) => id);
    for (const [i, { id, owner: own }] of schedules.entries()) {
      if (ids.indexOf(id) < i)
        ctx.addIssue({ code: 'custom', path: ['schedules', i, 'id'], message: 'must not be a duplicate' });
      if (own !== null && own !== owner)
        ctx.addIssue({ code: 'custom', path: ['schedules', i, 'owner'], message: 'must be the owner of the call' });
    }
  })
  .meta({ id: 'SchedulesRequest', ...EXACT });
export type SchedulesRequest = z.output<typeof schedulesRequest>;

/** Response of Put Schedules. */
export const schedulesChange = z
  .object({ created: count, changed: count, unchanged: count, deleted: count })
  .meta({ id: 'SchedulesChange' });
export type SchedulesChange = z.output<typeof schedulesChange>;

/** Body of Pause Schedule. */
export const schedulePauseRequest = z
  .object({ paused: z.boolean(required('must be a boolean')).describe('Whether to create no jobs for now') }, anObject)
  .meta({ id: 'SchedulePause', ...EXACT });

/** Body of Run Schedule; an absent body keeps the payload. */
export const scheduleRunRequest = z
  .object({ payload: optional(jsonObject).describe('Payload of the job. Default: that of the schedule') }, anObject)
  .meta({ id: 'ScheduleRun', ...EXACT });

/** Query of List Schedules. */
export const listSchedulesQuery = z.object({
  limit: queryInteger(1, LIMITS.schedulesMax)
    .default(LIMITS.schedulesDefault)
    .describe(
      `Maximum number of schedules per page; values above ${LIMITS.schedulesMax} are capped at ${LIMITS.schedulesMax}`,
    ),
  cursor: queryCursor(/^\d{1,16}$/)
    .transform(Number)
    .nullable()
    .default(null)
    .describe('The `nextCursor` of the previous page'),
});
export type ListSchedulesQuery = z.output<typeof listSchedulesQuery>;

/** Why a run of a schedule created no job. */
export const SKIP_REASONS = ['MISSED', 'OVERLAP', 'JOB_NOT_UNIQUE', 'SPACE_FULL'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

const shown = {
  id: z.string(),
  spaceId: z.string(),
  cron: z.string().optional().describe('Absent with `everySeconds`'),
  everySeconds: z.number().optional().describe('Absent with `cron`'),
  timezone: z.string(),
  job: describeAs(z.custom<ShownJob>(), jsonObject).describe('Body of Create Job, without fields at their defaults'),
  overlap: z.enum(OVERLAPS),
  missed: z.enum(MISSED),
  missedWithinSeconds: z.number(),
  spreadSeconds: z.number(),
  startsAt: instant.optional(),
  endsAt: instant.optional(),
  paused: z.boolean(),
  owner: z.string().optional(),
  nextAt: instant.nullable().describe('Next time, before `spreadSeconds`; null if paused or if none is left'),
  lastAt: instant.nullable().describe('Time of the last run that created a job, without runs on demand'),
  lastJobId: jobIdField.nullable().describe('ID of the last job, including jobs of runs on demand'),
  fired: count.describe('Number of times that created a job'),
  skipped: count.describe('Number of times that created no job'),
  lastSkipped: z
    .object({ at: instant.describe('The time that was skipped'), reason: z.enum(SKIP_REASONS) })
    .meta({ id: 'SkippedTime' })
    .nullable()
    .describe('The latest time that created no job'),
  createdAt: instant,
};

/** Fields of a create that are not at their defaults. */
export type ShownJob = Partial<CreateJobRequest> & { name: string };

/** A schedule in the response of List Schedules. */
export const schedule = z.object(shown).meta({ id: 'Schedule' });
export type Schedule = z.output<typeof schedule>;

/** Response of Get Schedule. */
export const scheduleWithTimes = z
  .object({
    ...shown,
    upcoming: z.array(instant).describe(`The next ${LIMITS.upcomingTimes} times, before \`spreadSeconds\``),
  })
  .meta({ id: 'ScheduleWithTimes' });
export type ScheduleWithTimes = z.output<typeof scheduleWithTimes>;

/** Response of List Schedules. */
export const scheduleList = z
  .object({
    schedules: z.array(schedule),
    nextCursor: z.string().nullable().describe('Cursor of the next page; null on the last page'),
  })
  .meta({ id: 'ScheduleList' });
