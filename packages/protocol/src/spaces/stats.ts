import { z } from 'zod';
import { nameOrNames } from '../jobs/requests.js';
import { STATUSES, type Status } from '../jobs/statuses.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { once, queryInteger, spaceId, timestampMs } from '../schema/fields.js';
import { count, instant } from '../schema/response-fields.js';
import { paused } from './settings.js';

/** Query of Get Space Statistics (our addition). `name` may be repeated, but not comma-separated: names may contain commas. */
export const statsQuery = z
  .object({
    limit: queryInteger(1, LIMITS.statsNamesMax)
      .default(LIMITS.statsNamesDefault)
      .describe(`Maximum number of names; values above ${LIMITS.statsNamesMax} are capped at ${LIMITS.statsNamesMax}`),
    name: nameOrNames.optional().describe('Only jobs with one of these names'),
  })
  .transform(({ limit, name }) => ({
    limit,
    /** Empty selects the names with the most jobs. */
    names: [...new Set(name ?? [])],
  }));
export type StatsQuery = z.output<typeof statsQuery>;

/** Statistics of the jobs with one name. */
export const nameStats = z
  .object({
    name: z.string(),
    total: count.describe('Number of jobs in any status'),
    pending: count,
    oldestPendingAgeSeconds: z
      .number()
      .nullable()
      .describe('Seconds that the next job in the queue has been pending; null if no job is pending'),
  })
  .meta({ id: 'NameStats' });
export type NameStats = z.output<typeof nameStats>;

const counts = Object.fromEntries([...STATUSES, 'total'].map((status) => [status, count])) as Record<
  Status | 'total',
  typeof count
>;

/** Response of Get Space Statistics: a snapshot of the jobs of a space. */
export const spaceStats = z
  .object({
    spaceId: z.string(),
    timestamp: instant.describe('When the jobs were counted'),
    jobs: z.object({ ...counts, scheduled: count.optional().describe('Absent if 0') }),
    oldestPendingAgeSeconds: nameStats.shape.oldestPendingAgeSeconds,
    paused: paused.describe('`true` if the whole space is paused, or the paused names; absent if nothing is paused'),
    names: z
      .array(nameStats)
      .describe('The requested names, in that order; otherwise the names with the most jobs, in descending order'),
    namesLeftOut: count.describe('Number of names with jobs that are not in `names`'),
  })
  .meta({ id: 'SpaceStats' });
export type SpaceStats = z.output<typeof spaceStats>;

/** Query of List Spaces (our addition). */
export const spacesQuery = z.object({
  limit: queryInteger(1, LIMITS.spacesMax)
    .default(LIMITS.spacesDefault)
    .describe(`Maximum number of spaces per page; values above ${LIMITS.spacesMax} are capped at ${LIMITS.spacesMax}`),
  cursor: once(spaceId)
    .optional()
    .transform((text) => text ?? null)
    .describe('The `nextCursor` of the previous page'),
});
export type SpacesQuery = z.output<typeof spacesQuery>;

/** Response of List Spaces. */
export const spaceList = z
  .object({
    spaces: z
      .array(spaceStats.pick({ spaceId: true, jobs: true, oldestPendingAgeSeconds: true }).meta({ id: 'Space' }))
      .describe('Spaces that have jobs, in a stable order'),
    nextCursor: z.string().nullable().describe('Cursor of the next page; null on the last page'),
  })
  .meta({ id: 'SpaceList' });
export type SpaceList = z.output<typeof spaceList>;

/** Name used for all names beyond the first 100 of a history. */
export const OTHER_NAMES = '*';

/** Seconds from one point of a history to the next. */
export type HistoryStep = 60 | 3600;

const step = describeAs(
  once(z.enum(['60', '3600'], { error: 'must be 60 or 3600' })).transform((text) => Number(text) as HistoryStep),
  z.number().meta({ type: 'integer', enum: [60, 3600] }),
);

/** Query of Get Space History (our addition). */
export const historyQuery = z.object({
  from: once(timestampMs)
    .optional()
    .transform((ms) => ms ?? null)
    .describe('Start of the history. Default: 1 hour ago for minutes, 24 hours ago for hours'),
  to: once(timestampMs)
    .optional()
    .transform((ms) => ms ?? null)
    .describe('End of the history. Default: now'),
  step: step
    .default(60)
    .describe('Seconds between points: 60 for minutes, kept for 48 hours; 3600 for hours, kept for 35 days'),
});
export type HistoryQuery = z.output<typeof historyQuery>;

const duration = z
  .object({
    count: count.describe('Number of measurements'),
    sum: z.number().describe('Sum of the measurements, in seconds'),
    buckets: z
      .record(z.string(), count)
      .describe(
        'Non-cumulative histogram keyed by upper bound in seconds, or `more` for more than a day. Empty buckets are omitted',
      ),
  })
  .meta({ id: 'Duration' });

/** What happened to the jobs with one name during one minute or hour. */
export const nameHistory = z
  .object({
    created: count,
    completed: count,
    retried: count.describe('Number of attempts that failed or timed out and were retried'),
    dead: count,
    killed: count,
    deliveryTimeouts: count.describe('Number of jobs that were not acked in time and returned to the queue'),
    runTimeouts: count.describe('Number of attempts that missed a heartbeat or exceeded `maxRunSeconds`'),
    waitSeconds: duration.describe('Time from becoming pending, or being changed while pending, to delivery'),
    runSeconds: duration.describe('Time from the ack to the end of an attempt that completed, failed or timed out'),
  })
  .meta({ id: 'NameHistory' });
export type NameHistory = z.output<typeof nameHistory>;

/** Response of Get Space History. */
export const spaceHistory = z
  .object({
    spaceId: z.string(),
    step: describeAs(z.custom<HistoryStep>(), z.number().meta({ type: 'integer', enum: [60, 3600] })),
    points: z
      .array(
        z.object({
          at: instant.describe('Start of the minute or hour'),
          names: z
            .record(z.string(), nameHistory)
            .describe('Counts by name; `*` sums up the names beyond the first 100 of this minute or hour'),
        }),
      )
      .describe('Points in chronological order; those in which nothing happened are omitted'),
  })
  .meta({ id: 'SpaceHistory' });
export type SpaceHistory = z.output<typeof spaceHistory>;
