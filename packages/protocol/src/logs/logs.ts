import { z } from 'zod';
import type { FaultDetail } from '../errors.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { jsonObject, optional, queryInteger, queryText, required, timestampMs, wellFormed } from '../schema/fields.js';
import { count, instant, success } from '../schema/response-fields.js';
import { faultsOf, findUnknownFields, knownFieldsOf, type UnknownName } from '../schema/validate.js';
import { LOG_LEVELS, type LogLevel } from './levels.js';

/** Levels by all names that requests may use, including those of common logging libraries. */
const LEVELS_BY_NAME = new Map<string, LogLevel>([
  ...LOG_LEVELS.map((level) => [level, level] as const),
  ['warning', 'warn'],
  ['critical', 'fatal'],
]);

/** Return the level with this name, ignoring case; undefined if there is none. */
export const levelNamed = (name: string): LogLevel | undefined => LEVELS_BY_NAME.get(name.toLowerCase());

/** Defaults of fields that a worker omits from a log entry. `loggedAt` defaults to the time of storage. */
export const LOG_DEFAULTS = { level: 'info', source: 'worker' } as const;

/** A log entry in a response. */
export const logEntry = z
  .object({
    id: z.string().describe('`<jobId>.<seq>`'),
    seq: count.describe('Number of the entry within the job, from 1 without gaps; never reused'),
    level: z.enum(LOG_LEVELS),
    message: z.string(),
    source: z.string().describe('Component of the worker that wrote the entry'),
    metadata: jsonObject.describe('Structured data from the worker'),
    loggedAt: instant.describe('When the entry was written, by the clock of the worker'),
    createdAt: instant.describe('When the entry was stored'),
  })
  .meta({ id: 'LogEntry' });
export type LogEntry = z.output<typeof logEntry>;

export const LEVEL_RULE = `must be one of ${LOG_LEVELS.join(', ')}`;

/** Name of a level in a request. */
export const levelName = z.enum([...LEVELS_BY_NAME.keys()] as [string], { error: LEVEL_RULE });

/** A timestamp. Many programs write a space instead of the T. */
const loggedAt = z.preprocess(
  (given) => (typeof given === 'string' ? given.replace(/^([\d-]{8,10}) (?=\d)/, '$1T') : given),
  timestampMs,
);

/** A log entry that a worker sends as an object. */
const fullLog = z
  .object(
    {
      message: z.string(required('must be a string')).transform(wellFormed),
      level: optional(
        z
          .preprocess((given) => (typeof given === 'string' ? given.toLowerCase() : given), levelName)
          .transform((given) => levelNamed(given) as LogLevel),
      ).describe('Level (case-insensitive); `warning` is stored as `warn`, `critical` as `fatal`. Default: `info`'),
      timestamp: optional(loggedAt).describe(
        'When the entry was written (ISO 8601, with a `T` or a space). Default: when it is stored',
      ),
      source: optional(z.string({ error: 'must be a string' }).transform(wellFormed)).describe(
        'Component of the worker that wrote the entry. Default: `worker`',
      ),
      metadata: optional(jsonObject),
    },
    { error: 'must be a string or an object' },
  )
  .meta({ id: 'LogEntryFields' });

/** A log entry that a worker sends: a message or an object. Only the OpenAPI document uses it; see `checkLog`. */
export const logEntryInput = z.union([z.string(), fullLog]).meta({ id: 'LogEntryInput' });

/** A list of log entries. Only the OpenAPI document uses it, because a batch is split before it is parsed. */
export const logEntryInputs = z
  .array(logEntryInput)
  .min(1)
  .describe('Either all entries are stored, or none')
  .meta({ id: 'LogLines' });

/** A batch of log entries in JSON: a list, or an object that contains one. */
export const logBatch = z
  .union([logEntryInputs, z.object({ logs: logEntryInputs }).meta({ id: 'LogLinesObject' })])
  .meta({ id: 'LogBatch' });

/** A checked entry, ready to be stored. */
export type NewLog = z.output<typeof fullLog>;

/** Returns the name of an entry's field in errors, by the entry's index or its line. */
export type NameOfEntry = (field: string) => string;

const LOG_FIELDS = knownFieldsOf(fullLog);

/**
 * Check one entry of a batch: a message or an object.
 *
 * @param unknown list to add the entry's unknown fields to
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
    inserted: count.describe('Number of entries stored'),
    fromSeq: count.describe('`seq` of the first entry of the batch'),
    toSeq: count.describe('`seq` of the last entry of the batch'),
  })
  .meta({ id: 'AppendedLogs' });
export type AppendedLogs = z.output<typeof appendedLogs>;

/** Data of `logs_appended`: the seqs of the first and last new entries, and the number of new entries. */
export const logsAppended = z.object({ fromSeq: count, toSeq: count, count });
export type LogsAppended = z.output<typeof logsAppended>;

/** Direction in which a page of logs is read. */
export const LOGS_MODES = ['after', 'before', 'latest'] as const;
export type LogsMode = (typeof LOGS_MODES)[number];

/** Response of Get Job Logs. */
export const logsPage = z
  .object({
    logs: z.array(logEntry).describe('Entries, in ascending order of `seq`'),
    cursor: z.object({
      mode: z.enum(LOGS_MODES),
      oldestSeq: count.describe(
        '`seq` of the first entry of the page; on an empty page, the requested bound, or 0 if `mode` is `latest`',
      ),
      newestSeq: count.describe('`seq` of the last entry of the page; on an empty page, the same as `oldestSeq`'),
      hasMore: z
        .boolean()
        .describe(
          'Whether there are, or may be, more matching entries in this direction. A search may stop early, so keep paging while this is true',
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
      .describe(`Maximum number of entries per page; values above ${LIMITS.logsMax} are capped at ${LIMITS.logsMax}`),
    after: bound.describe('Return the oldest entries with a `seq` above this value; cannot be combined with `before`'),
    before: bound.describe('Return the newest entries with a `seq` below this value; cannot be combined with `after`'),
    level: levels.optional().describe('Only entries with these levels; repeat it, or separate levels with commas'),
    q: terms
      .default([])
      .describe(
        `Only entries whose message contains all of these words, at most ${LIMITS.searchTerms}; put a phrase in double quotes`,
      ),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    path: ['after'],
    error: 'and before must not be used together',
  })
  .transform(({ limit, after, before, level, q }) => ({
    mode: (after !== undefined ? 'after' : before !== undefined ? 'before' : 'latest') as LogsMode,
    /** Seq that the page starts after or ends before; null for the newest entries. */
    bound: after ?? before ?? null,
    limit,
    /** Null for all levels. */
    levels: level ?? null,
    terms: q,
  }));
export type LogsQuery = z.output<typeof logsQuery>;

/** Words separated by whitespace. A word that starts with a quote extends to the next quote, or to the end. */
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
 * Fold the case of text, including non-ASCII text. Converts in both directions, because σ, ς and Σ share only an
 * uppercase form, and K and the kelvin sign only a lowercase form.
 */
export const foldCase = (text: string) => text.toLowerCase().toUpperCase();

/** Create a function that tells whether text contains every term, ignoring case. Terms are never patterns. */
export function containsAll(terms: readonly string[]): (text: string) => boolean {
  const folded = terms.map(foldCase);
  return (text) => {
    const searched = foldCase(text);
    return folded.every((term) => searched.includes(term));
  };
}
