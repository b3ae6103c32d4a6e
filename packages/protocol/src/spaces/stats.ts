import { z } from 'zod';
import { nameOrNames } from '../jobs/requests.js';
import { STATUSES, type Status } from '../jobs/statuses.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { once, queryInteger, spaceId, timestampMs } from '../schema/fields.js';
import { count, instant } from '../schema/response-fields.js';
import { paused } from './settings.js';

/**
 * Query of Get Space Statistics (our addition). `name` may be repeated. There is no list with commas, because a name
 * may contain a comma.
 */
export const statsQuery = z
  .object({
    limit: queryInteger(1, LIMITS.statsNamesMax)
      .default(LIMITS.statsNamesDefault)
      .describe(`Names in the response; above ${LIMITS.statsNamesMax} is served as ${LIMITS.statsNamesMax}`),
    name: nameOrNames.optional().describe('Only these names'),
  })
  .transform(({ limit, name }) => ({
    limit,
    /** Empty for the names with most jobs. */
    names: [...new Set(name ?? [])],
  }));
export type StatsQuery = z.output<typeof statsQuery>;

/** Statistics of the jobs of one name. */
export const nameStats = z
  .object({
    name: z.string(),
    total: count.describe('Jobs of any status'),
    pending: count,
    oldestPendingAgeSeconds: z
      .number()
      .nullable()
      .describe('How long its next job has been pending, with milliseconds; null without a pending job'),
  })
  .meta({ id: 'NameStats' });
export type NameStats = z.output<typeof nameStats>;

const counts = Object.fromEntries([...STATUSES, 'total'].map((status) => [status, count])) as Record<
  Status | 'total',
  typeof count
>;

/** Response of Get Space Statistics: the jobs of a space, counted at one moment. */
export const spaceStats = z
  .object({
    spaceId: z.string(),
    timestamp: instant.describe('Moment of the count'),
    jobs: z.object({ ...counts, scheduled: count.optional().describe('Absent when it is 0') }),
    oldestPendingAgeSeconds: nameStats.shape.oldestPendingAgeSeconds.describe('As in `names`, over all names'),
    paused: paused.describe('true for the whole space, or the names whose jobs are paused; absent when nothing is'),
    names: z
      .array(nameStats)
      .describe('The requested names, in that order; otherwise the names with the most jobs, the largest first'),
    namesLeftOut: count.describe('Names with jobs that are not in `names`'),
  })
  .meta({ id: 'SpaceStats' });
export type SpaceStats = z.output<typeof spaceStats>;

/** Query of List Spaces (our addition). */
export const spacesQuery = z.object({
  limit: queryInteger(1, LIMITS.spacesMax)
    .default(LIMITS.spacesDefault)
    .describe(`Spaces in the response; above ${LIMITS.spacesMax} is served as ${LIMITS.spacesMax}`),
  cursor: once(spaceId)
    .optional()
    .transform((text) => text ?? null)
    .describe('`nextCursor` of the page before'),
});
export type SpacesQuery = z.output<typeof spacesQuery>;

/** Response of List Spaces. */
export const spaceList = z
  .object({
    spaces: z
      .array(spaceStats.pick({ spaceId: true, jobs: true, oldestPendingAgeSeconds: true }).meta({ id: 'Space' }))
      .describe('Spaces that have jobs, in an order that stays'),
    nextCursor: z.string().nullable().describe('For the next page; null when this is the last'),
  })
  .meta({ id: 'SpaceList' });
export type SpaceList = z.output<typeof spaceList>;

/** Name under which a history counts the names beyond its first 100. */
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
    .describe('Default: 1 hour of minutes or 24 of hours'),
  to: once(timestampMs)
    .optional()
    .transform((ms) => ms ?? null)
    .describe('Default: now'),
  step: step
    .default(60)
    .describe('Seconds from one point to the next: minutes are kept for 48 hours, hours for 35 days'),
});
export type HistoryQuery = z.output<typeof historyQuery>;

const duration = z
  .object({
    count: count.describe('How often it was measured'),
    sum: z.number().describe('All of them together, in seconds'),
    buckets: z
      .record(z.string(), count)
      .describe(
        'Non-cumulative histogram keyed by upper bound in seconds, `more` for more than a day; empty buckets are left out',
      ),
  })
  .meta({ id: 'Duration' });

/** What happened to the jobs of one name in the time of one point. */
export const nameHistory = z
  .object({
    created: count,
    completed: count,
    retried: count.describe('Attempts that failed or timed out, with another one to follow'),
    dead: count,
    killed: count,
    deliveryTimeouts: count.describe('Deliveries without an ack in time, after which the job was pending again'),
    runTimeouts: count.describe('Attempts without a heartbeat in time, or longer than `maxRunSeconds`'),
    waitSeconds: duration.describe('From when a job became pending, or was changed while pending, to its delivery'),
    runSeconds: duration.describe('From the ack to the end of an attempt that completed, failed or timed out'),
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
          at: instant.describe('Beginning of the minute or the hour'),
          names: z
            .record(z.string(), nameHistory)
            .describe('By name; `*` for names beyond the first 100 of this minute or hour'),
        }),
      )
      .describe('Oldest first; those in which nothing happened are left out'),
  })
  .meta({ id: 'SpaceHistory' });
export type SpaceHistory = z.output<typeof spaceHistory>;
