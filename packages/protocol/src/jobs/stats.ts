import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { queryInteger } from '../schema/fields.js';
import { count, instant } from '../schema/response-fields.js';
import { paused } from '../space-settings.js';
import { nameOrNames } from './requests.js';
import { STATUSES, type Status } from './statuses.js';

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
