import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { queryInteger, queryText } from '../schema/fields.js';
import type { LogLevel } from './levels.js';
import { LEVEL_RULE, type LogsMode, levelName, levelNamed } from './logs.js';

/** Levels in a query string: comma-separated lists, which may be repeated. */
const checkedLevels = z
  .unknown()
  .transform((given) => [given].flat().flatMap((list) => String(list).split(',')))
  .transform((names) => names.map((name) => levelNamed(name.trim())))
  .refine((found): found is LogLevel[] => !found.includes(undefined), { error: LEVEL_RULE, abort: true })
  .transform((found) => [...new Set(found)]);
const levels = describeAs(checkedLevels, z.array(levelName).min(1));

const TERMS_RULE = `must have at most ${LIMITS.searchTerms} terms`;

/** A full-text query, split into its terms. */
const terms = queryText
  .max(LIMITS.searchCharacters, { error: `must be at most ${LIMITS.searchCharacters} characters`, abort: true })
  .transform(searchTermsOf)
  .refine((list) => list.length <= LIMITS.searchTerms, { error: TERMS_RULE });

const bound = queryInteger(0, Number.MAX_SAFE_INTEGER).optional();

/** Query of Get Job Logs. */
export const logsQuery = z
  .object({
    limit: queryInteger(1, LIMITS.logsMax)
      .default(LIMITS.logsDefault)
      .describe(`Entries in a page; above ${LIMITS.logsMax} is served as ${LIMITS.logsMax}`),
    after: bound.describe('The oldest entries with a seq above this; not together with `before`'),
    before: bound.describe('The newest entries with a seq below this; not together with `after`'),
    level: levels.optional().describe('Only entries of these levels; a list with commas is accepted'),
    q: terms
      .default([])
      .describe(
        `Only messages that contain each of these words, at most ${LIMITS.searchTerms}; \`"quoted words"\` count as one`,
      ),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['after'],
    error: 'and before must not be used together',
  })
  .transform(({ limit, after, before, level, q }) => ({
    mode: (after !== undefined ? 'after' : before !== undefined ? 'before' : 'latest') as LogsMode,
    /** Seq above or below which the page lies; null for the newest entries. */
    bound: after ?? before ?? null,
    limit,
    /** Null for all levels. */
    levels: level ?? null,
    terms: q,
  }));
export type LogsQuery = z.output<typeof logsQuery>;

/** Words between blanks. A word that begins with a quote continues to the next quote, or to the end. */
const TERM = /"([^"]*)"?|(\S+)/g;

/**
 * Split a full-text query into its terms. `disk "no space" it's"x` has three: `disk`, `no space`, `it's"x`.
 *
 * @returns an empty list for a blank query; an empty pair of quotes is not a term
 */
export function searchTermsOf(query: string): string[] {
  return [...query.matchAll(TERM)].map(([, quoted, word]) => quoted ?? word ?? '').filter((term) => term !== '');
}

/**
 * Return a text in which upper and lower case are the same, beyond ASCII too. It converts in both directions, because
 * σ, ς and Σ share only the upper case, and K and the sign for kelvin only the lower case.
 */
export const foldCase = (text: string) => text.toLowerCase().toUpperCase();

/** Create a function that returns whether a text contains every term, in any case. Terms are texts, never patterns. */
export function containsAll(terms: readonly string[]): (text: string) => boolean {
  const folded = terms.map(foldCase);
  return (text) => {
    const searched = foldCase(text);
    return folded.every((term) => searched.includes(term));
  };
}
