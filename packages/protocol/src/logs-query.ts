import { z } from 'zod';
import { queryInteger } from './fields.js';
import { LIMITS } from './limits.js';
import { LEVEL_RULE, LOG_LEVELS, type LogLevel, type LogsMode } from './logs.js';
import { searchTermsOf } from './search.js';
import { shownAs } from './shown.js';

const isLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text);

/** Levels in a query string: lists with commas, and repeats of them. */
const checkedLevels = z
  .unknown()
  .transform((given) => [given].flat().flatMap((list) => String(list).split(',')))
  .refine((names) => names.every((name) => isLevel(name.trim())), { error: LEVEL_RULE, abort: true })
  .transform((names) => [...new Set(names.map((name) => name.trim() as LogLevel))]);
const levels = shownAs(checkedLevels, z.array(z.enum(LOG_LEVELS)).min(1));

const TERMS_RULE = `must have at most ${LIMITS.searchTerms} terms`;

/** A full-text query, as its terms. */
const terms = z
  .string({ error: 'must be given once' })
  .max(LIMITS.searchCharacters, { error: `must be at most ${LIMITS.searchCharacters} characters`, abort: true })
  .transform(searchTermsOf)
  .refine((list) => list.length <= LIMITS.searchTerms, { error: TERMS_RULE });

const bound = queryInteger(0, Number.MAX_SAFE_INTEGER).optional();

/** Query of Get Job Logs (spec §4.7). */
export const logsQuery = z
  .object({
    limit: queryInteger(1, LIMITS.logsMax)
      .default(LIMITS.logsDefault)
      .describe(`Entries in a page; above ${LIMITS.logsMax} is served as ${LIMITS.logsMax}`),
    after: bound.describe('The oldest entries with a seq above this; not together with `before`'),
    before: bound.describe('The newest entries with a seq below this; not together with `after`'),
    level: levels.optional().describe('Only these; a list with commas will do as well'),
    q: terms
      .default([])
      .describe(
        `Only messages that hold each of these words, at most ${LIMITS.searchTerms}; \`"quoted words"\` are one`,
      ),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['after'],
    error: 'and before must not be used together',
  })
  .transform(({ limit, after, before, level, q }) => ({
    mode: (after !== undefined ? 'after' : before !== undefined ? 'before' : 'latest') as LogsMode,
    /** Seq that no entry of the page has; null for the newest ones. */
    bound: after ?? before ?? null,
    limit,
    /** Null: all. */
    levels: level ?? null,
    terms: q,
  }));
export type LogsQuery = z.output<typeof logsQuery>;
