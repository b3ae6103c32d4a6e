import { z } from 'zod';
import { STATUSES, type Status } from '../jobs/statuses.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { boundedArray, boundedText, nameFilter, timestampMs } from '../schema/fields.js';
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
 * Make a schema of a list of values to look for, without duplicates. It takes one value, too, as a query has it.
 *
 * @param max most values
 * @param what noun of the values, for errors
 */
function oneOrMore<T extends z.ZodType<string, string>>(value: T, max: number, what: string) {
  // An empty list would be every job, and is a mistake.
  const list = boundedArray(value, { max, what, error: 'must be a string or an array of strings' }).refine(
    (given) => given.length > 0,
    { error: `must have at least one of the ${what}` },
  );
  const checked = z.unknown().transform((given, ctx): z.output<T>[] => {
    const outcome = list.safeParse(typeof given === 'string' ? [given] : given);
    if (outcome.success) return [...new Set(outcome.data)];
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

/** The parts of a filter besides statuses, each as a request has it: undefined when it is left out. */
export const filterParts = {
  names: oneOrMore(nameFilter, LIMITS.pollNames, 'names').optional().describe('Only jobs with one of these names'),
  tags: oneOrMore(tag, LIMITS.tags, 'tags').optional().describe('Only jobs with all of these tags'),
  createdAfter: timestampMs.optional().describe('Only jobs created at this time or later, ISO 8601 with a time zone'),
  createdBefore: timestampMs.optional().describe('Only jobs created before this time, ISO 8601 with a time zone'),
  q: boundedText(LIMITS.searchCharacters)
    .optional()
    .describe(
      'Only jobs whose payload, result or error, as JSON without blanks, contains this text in upper or lower case',
    ),
};

type FilterParts = { [K in keyof typeof filterParts]?: z.output<(typeof filterParts)[K]> | undefined };

/** Return a filter from the parts of a request. */
export const filterOf = (statuses: readonly Status[] | undefined, parts: FilterParts): JobFilter => ({
  statuses: statuses ?? [],
  names: parts.names ?? [],
  tags: parts.tags ?? [],
  createdAfter: parts.createdAfter ?? null,
  createdBefore: parts.createdBefore ?? null,
  q: parts.q ?? null,
});
