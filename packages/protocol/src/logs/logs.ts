import { z } from 'zod';
import type { FaultDetail } from '../errors.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { jsonObject, optional, queryInteger, queryText, required, timestampMs, wellFormed } from '../schema/fields.js';
import { count, instant, success } from '../schema/response-fields.js';
import { faultsOf, findUnknownFields, knownFieldsOf, type UnknownName } from '../schema/validate.js';
import { LOG_LEVELS, type LogLevel } from './levels.js';

/** Levels by each name under which they may be sent or asked for. A program's own name is stored as ours. */
const LEVELS_BY_NAME = new Map<string, LogLevel>([
  ...LOG_LEVELS.map((level) => [level, level] as const),
  ['warning', 'warn'],
  ['critical', 'fatal'],
]);

/** Return the level of this name, in upper or lower case, or undefined. */
export const levelNamed = (name: string): LogLevel | undefined => LEVELS_BY_NAME.get(name.toLowerCase());

/** Values for fields that a worker leaves out of a log entry. `loggedAt` is then the time of storage. */
export const LOG_DEFAULTS = { level: 'info', source: 'worker' } as const;

/** One log entry as it is read. */
export const logEntry = z
  .object({
    id: z.string().describe('`<jobId>.<seq>`'),
    seq: count.describe('Dense, from 1, per job; never used again when an entry is dropped'),
    level: z.enum(LOG_LEVELS),
    message: z.string(),
    source: z.string().describe('Part of the worker that wrote it, as the worker names it'),
    metadata: jsonObject.describe('Further data of the worker'),
    loggedAt: instant.describe('Time at which it happened, by the clock of the worker'),
    createdAt: instant.describe('Time of storage'),
  })
  .meta({ id: 'LogEntry' });
export type LogEntry = z.output<typeof logEntry>;

export const LEVEL_RULE = `must be one of ${LOG_LEVELS.join(', ')}`;

/** Name of a level in a request. */
export const levelName = z.enum([...LEVELS_BY_NAME.keys()] as [string], { error: LEVEL_RULE });

/** A timestamp, in which many programs write a blank instead of the T. */
const loggedAt = z.preprocess(
  (given) => (typeof given === 'string' ? given.replace(/^([\d-]{8,10}) (?=\d)/, '$1T') : given),
  timestampMs,
);

/** A log entry in the form of an object, as workers send it. */
const fullLog = z
  .object(
    {
      message: z.string(required('must be a string')).transform(wellFormed),
      level: optional(
        z
          .preprocess((given) => (typeof given === 'string' ? given.toLowerCase() : given), levelName)
          .transform((given) => levelNamed(given) as LogLevel),
      ).describe('Default: `info`. `warning` is stored as `warn`, `critical` as `fatal`. Case-insensitive'),
      timestamp: optional(loggedAt).describe(
        'Time at which it happened, with a `T` or a blank. Default: the time of storage',
      ),
      source: optional(z.string({ error: 'must be a string' }).transform(wellFormed)).describe(
        'Part of the worker that wrote it. Default: `worker`',
      ),
      metadata: optional(jsonObject),
    },
    { error: 'must be a string or an object' },
  )
  .meta({ id: 'LogEntryFields' });

/**
 * A log entry as workers send it: a message, or an object. Only the OpenAPI document uses it; `checkLog` checks
 * entries.
 */
export const logEntryInput = z.union([z.string(), fullLog]).meta({ id: 'LogEntryInput' });

/** A list of log entries. Only the OpenAPI document uses it, because a batch is split before it is parsed. */
export const logEntryInputs = z
  .array(logEntryInput)
  .min(1)
  .describe('All entries are stored, or none')
  .meta({ id: 'LogLines' });

/** A batch of log entries as JSON: a list, or an object with a list. */
export const logBatch = z
  .union([logEntryInputs, z.object({ logs: logEntryInputs }).meta({ id: 'LogLinesObject' })])
  .meta({ id: 'LogBatch' });

/** An entry that is about to be stored. */
export type NewLog = z.output<typeof fullLog>;

/** Returns the name that a field of one entry has in an error: by the entry's place, or by its line. */
export type NameOfEntry = (field: string) => string;

const LOG_FIELDS = knownFieldsOf(fullLog);

/**
 * Check one entry of a batch: a message, or an object.
 *
 * @param unknown gets its unknown fields
 * @returns the entry, or its faults
 * @see docs/logs.md#append
 */
export function checkLog(value: unknown, nameOf: NameOfEntry, unknown: UnknownName[] = []): NewLog | FaultDetail[] {
  if (typeof value === 'string') return { message: value.toWellFormed() };
  const before = unknown.length;
  findUnknownFields(LOG_FIELDS, value, unknown);
  for (let i = before; i < unknown.length; i++) {
    const { name, known } = unknown[i] as UnknownName;
    unknown[i] = { path: nameOf(name.slice(0, LIMITS.faultPathCharacters)), name, known };
  }
  const outcome = fullLog.safeParse(value);
  return outcome.success ? outcome.data : faultsOf(outcome.error.issues, nameOf);
}

/** Response of Append Logs. */
export const appendedLogs = z
  .object({
    success,
    inserted: count,
    fromSeq: count.describe('Seq of the first entry of the batch'),
    toSeq: count.describe('Seq of its last entry'),
  })
  .meta({ id: 'AppendedLogs' });
export type AppendedLogs = z.output<typeof appendedLogs>;

/** Data of `logs_appended`: the seqs of the first and last new entry, and the number of new entries. */
export const logsAppended = z.object({ fromSeq: count, toSeq: count, count });
export type LogsAppended = z.output<typeof logsAppended>;

/** Direction in which a page of logs is read. */
export const LOGS_MODES = ['after', 'before', 'latest'] as const;
export type LogsMode = (typeof LOGS_MODES)[number];

/** Response of Get Job Logs. */
export const logsPage = z
  .object({
    logs: z.array(logEntry).describe('Ascending by seq'),
    cursor: z.object({
      mode: z.enum(LOGS_MODES),
      oldestSeq: count.describe(
        'Seq of the first entry of the page; on an empty page the requested bound, or 0 for `latest`',
      ),
      newestSeq: count.describe('Seq of the last entry of the page; on an empty page as `oldestSeq`'),
      hasMore: z
        .boolean()
        .describe(
          'Whether more matching entries exist in the direction of paging, or may exist: a search that stopped early has read up to the bound in that direction',
        ),
    }),
  })
  .meta({ id: 'LogsPage' });
export type LogsPage = z.output<typeof logsPage>;

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
