import { z } from 'zod';
import { JOB_ID } from './jobs/job-id.js';
import { STATUSES, type Status } from './jobs/statuses.js';
import { LIMITS } from './limits.js';
import { describeAs } from './schema/describe.js';
import {
  boundedArray,
  boundedText,
  nameFilter,
  once,
  oneOrMore,
  queryCursor,
  queryInteger,
  spaceId as scheduleId,
  tag,
  timestampMs,
} from './schema/fields.js';

/** Selects jobs of a space. The parts are combined with AND. */
export interface JobFilter {
  /** Statuses to match; empty matches any. */
  statuses: readonly Status[];
  /** Names to match; empty matches any. */
  names: readonly string[];
  /** Tags to match, all of them; empty matches any. */
  tags: readonly string[];
  /** ID of the schedule that created the jobs; null matches any job. */
  schedule: string | null;
  /** Earliest creation time (inclusive), epoch milliseconds; null for no limit. */
  createdAfter: number | null;
  /** Latest creation time (exclusive), epoch milliseconds; null for no limit. */
  createdBefore: number | null;
  /** Text that the payload, result or error must contain; null matches any. */
  q: string | null;
}

/**
 * Make the schema of a list of values to match. Duplicates are dropped. An empty list is refused, because it would match
 * every job.
 *
 * @param max maximum number of values
 * @param what plural noun for the values, for errors
 */
function listOf<T extends z.ZodType<string, string>>(
  value: T,
  max: number,
  what: string,
  error = 'must be an array of strings',
) {
  const list = boundedArray(value, { min: 1, max, what, error });
  return describeAs(
    list.transform((given) => [...new Set(given)]),
    z.array(value).min(1).max(max),
  );
}

/** Make the schema of one or several values to match in a query string. */
function oneOrMoreOf<T extends z.ZodType<string, string>>(value: T, max: number, what: string) {
  const list = listOf(value, max, what, 'must be a string or an array of strings');
  return describeAs(oneOrMore(list), z.array(value).min(1).max(max));
}

const status = z.enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` });

/** One or several statuses to match. */
export const statusFilter = oneOrMoreOf(status, LIMITS.filterStatuses, 'statuses').describe(
  'Only jobs with one of these statuses',
);

const NAMES = [nameFilter, LIMITS.pollNames, 'names'] as const;
const TAGS = [tag, LIMITS.tags, 'tags'] as const;

/** ID of a job to match. The job need not exist, but text that cannot be a job ID is refused as a mistake. */
export const jobIdFilter = z
  .string({ error: 'must be a string' })
  .regex(new RegExp(JOB_ID), { error: 'must be a job ID' });

const TEXT = boundedText(LIMITS.searchCharacters);
const DESCRIPTION = {
  names: 'Only jobs with one of these names',
  tags: 'Only jobs with all of these tags',
  schedule: 'Only jobs that this schedule has created',
  createdAfter: 'Only jobs created at or after this time (ISO 8601 with a time zone)',
  createdBefore: 'Only jobs created before this time (ISO 8601 with a time zone)',
  q: 'Only jobs whose payload, result or error, written as compact JSON, contains this text (case-insensitive)',
};

/** The parts of a filter other than the status, in a query string. */
export const queryFilter = {
  name: oneOrMoreOf(...NAMES)
    .optional()
    .describe(DESCRIPTION.names),
  tag: oneOrMoreOf(...TAGS)
    .optional()
    .describe(DESCRIPTION.tags),
  schedule: once(scheduleId).optional().describe(DESCRIPTION.schedule),
  createdAfter: once(timestampMs).optional().describe(DESCRIPTION.createdAfter),
  createdBefore: once(timestampMs).optional().describe(DESCRIPTION.createdBefore),
  q: once(TEXT).optional().describe(DESCRIPTION.q),
};

/** The parts of a filter other than the status, in a body. */
export const bodyFilter = {
  names: listOf(...NAMES)
    .optional()
    .describe(DESCRIPTION.names),
  tags: listOf(...TAGS)
    .optional()
    .describe(DESCRIPTION.tags),
  schedule: scheduleId.optional().describe(DESCRIPTION.schedule),
  ids: listOf(jobIdFilter, LIMITS.operationIds, 'ids').optional().describe('Only these jobs'),
  createdAfter: timestampMs.optional().describe(DESCRIPTION.createdAfter),
  createdBefore: timestampMs.optional().describe(DESCRIPTION.createdBefore),
  q: TEXT.optional().describe(DESCRIPTION.q),
};

/** Parts of a filter; undefined for those that a request omits. */
interface FilterParts {
  names?: string[] | undefined;
  tags?: string[] | undefined;
  schedule?: string | undefined;
  createdAfter?: number | undefined;
  createdBefore?: number | undefined;
  q?: string | undefined;
}

export const filterOf = (statuses: readonly Status[] | undefined, parts: FilterParts): JobFilter => ({
  statuses: statuses ?? [],
  names: parts.names ?? [],
  tags: parts.tags ?? [],
  schedule: parts.schedule ?? null,
  createdAfter: parts.createdAfter ?? null,
  createdBefore: parts.createdBefore ?? null,
  q: parts.q ?? null,
});

/** Format of a cursor: an order, which stays below 2^53 until the year 2248. */
const CURSOR = /^[0-8]?[0-9]{1,15}$/;

const cursor = describeAs(queryCursor(CURSOR).transform(Number), z.string().regex(CURSOR));

const ORDERS = ['asc', 'desc'] as const;

/** Query of List Jobs. */
export const listJobsQuery = z
  .object({
    status: statusFilter.optional(),
    ...queryFilter,
    order: once(z.enum(ORDERS, { error: `must be one of ${ORDERS.join(', ')}` }))
      .default('desc')
      .describe('Order by creation: `desc` lists the newest job first, `asc` the oldest'),
    cursor: cursor.optional().describe('The `x-next-cursor` of the previous page'),
    limit: queryInteger(1, LIMITS.listMax)
      .default(LIMITS.listDefault)
      .describe(`Maximum number of jobs per page; values above ${LIMITS.listMax} are capped at ${LIMITS.listMax}`),
    offset: queryInteger(0, Number.MAX_SAFE_INTEGER)
      .default(0)
      .describe('Number of newest jobs to skip; can be combined only with `limit` and a single `status`'),
  })
  .superRefine(({ offset, status = [], order, limit: _, ...others }, ctx) => {
    const isAlone = status.length <= 1 && order === 'desc' && Object.values(others).every((one) => one === undefined);
    if (offset === 0 || isAlone) return;
    const message = 'cannot be combined with cursor, order or a filter other than a single status; use cursor';
    ctx.addIssue({ code: 'custom', message, path: ['offset'] });
  })
  .transform(({ status, name, tag, limit, offset, order, cursor = null, ...parts }) => ({
    filter: filterOf(status, { ...parts, names: name, tags: tag }),
    order,
    /** Order of the job after which the page starts; null for the first page. */
    cursor,
    limit,
    offset,
  }));
export type ListJobsQuery = z.output<typeof listJobsQuery>;
