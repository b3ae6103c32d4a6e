import { z } from 'zod';
import { JOB_ID } from '../jobs/job-id.js';
import { STATUSES, type Status } from '../jobs/statuses.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { boundedArray, boundedText, nameFilter, once, timestampMs } from '../schema/fields.js';
import { tag } from './tags.js';

/** Which jobs of a space a call is about. A job must pass every part. */
export interface JobFilter {
  /** Of which it has one; empty for any. */
  statuses: readonly Status[];
  /** Of which it has one; empty for any. */
  names: readonly string[];
  /** All of which it has; empty for any. */
  tags: readonly string[];
  /** Earliest time of its creation, epoch milliseconds; null for no limit. */
  createdAfter: number | null;
  /** Time before which it was created, epoch milliseconds; null for no limit. */
  createdBefore: number | null;
  /** Text that is part of its payload, result or error; null for any job. */
  q: string | null;
}

/**
 * Make a schema of a list of values to look for. Duplicates are dropped. An empty list is refused, because it would stand
 * for every job.
 *
 * @param max most values
 * @param what noun of the values, for errors
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

/** Like {@link listOf}, but it takes one value, too, as a query has it. */
function oneOrMore<T extends z.ZodType<string, string>>(value: T, max: number, what: string) {
  const list = listOf(value, max, what, 'must be a string or an array of strings');
  const checked = z.unknown().transform((given, ctx): z.output<T>[] => {
    const outcome = list.safeParse(typeof given === 'string' ? [given] : given);
    if (outcome.success) return outcome.data;
    for (const { path, message } of outcome.error.issues) {
      ctx.addIssue({ code: 'custom', message, path: typeof given === 'string' ? [] : path });
    }
    return z.NEVER;
  });
  return describeAs(checked, z.array(value).min(1).max(max));
}

const status = z.enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` });

/** Statuses to look for: one or several. */
export const statusFilter = oneOrMore(status, LIMITS.filterStatuses, 'statuses').describe(
  'Only jobs with one of these statuses',
);

const NAMES = [nameFilter, LIMITS.pollNames, 'names'] as const;
const TAGS = [tag, LIMITS.tags, 'tags'] as const;
/** Id of a job to look for, which need not exist. One that no job can have is refused: it is a mistake of the caller. */
export const jobIdFilter = z
  .string({ error: 'must be a string' })
  .regex(new RegExp(JOB_ID), { error: 'must be the id of a job' });

const TEXT = boundedText(LIMITS.searchCharacters);
const DESCRIPTION = {
  names: 'Only jobs with one of these names',
  tags: 'Only jobs with all of these tags',
  createdAfter: 'Only jobs created at this time or later, ISO 8601 with a time zone',
  createdBefore: 'Only jobs created before this time, ISO 8601 with a time zone',
  q: 'Only jobs whose payload, result or error, as JSON without blanks, contains this text in upper or lower case',
};

/** The parts of a filter beside the status, as a query has them. */
export const queryFilter = {
  name: oneOrMore(...NAMES)
    .optional()
    .describe(DESCRIPTION.names),
  tag: oneOrMore(...TAGS)
    .optional()
    .describe(DESCRIPTION.tags),
  createdAfter: once(timestampMs).optional().describe(DESCRIPTION.createdAfter),
  createdBefore: once(timestampMs).optional().describe(DESCRIPTION.createdBefore),
  q: once(TEXT).optional().describe(DESCRIPTION.q),
};

/** The parts of a filter beside the status, as a body has them. */
export const bodyFilter = {
  names: listOf(...NAMES)
    .optional()
    .describe(DESCRIPTION.names),
  tags: listOf(...TAGS)
    .optional()
    .describe(DESCRIPTION.tags),
  ids: listOf(jobIdFilter, LIMITS.operationIds, 'ids').optional().describe('Only these jobs'),
  createdAfter: timestampMs.optional().describe(DESCRIPTION.createdAfter),
  createdBefore: timestampMs.optional().describe(DESCRIPTION.createdBefore),
  q: TEXT.optional().describe(DESCRIPTION.q),
};

/** Parts of a filter; undefined for those that a request leaves out. */
interface FilterParts {
  names?: string[] | undefined;
  tags?: string[] | undefined;
  createdAfter?: number | undefined;
  createdBefore?: number | undefined;
  q?: string | undefined;
}

/** Return a filter from the parts of a request. */
export const filterOf = (statuses: readonly Status[] | undefined, parts: FilterParts): JobFilter => ({
  statuses: statuses ?? [],
  names: parts.names ?? [],
  tags: parts.tags ?? [],
  createdAfter: parts.createdAfter ?? null,
  createdBefore: parts.createdBefore ?? null,
  q: parts.q ?? null,
});
