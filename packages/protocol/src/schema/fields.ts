import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from './describe.js';
import { similarTo } from './validate.js';

/** Any value that JSON can express. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Return whether a parsed JSON value is an object, not an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Find why a parsed JSON value cannot be stored and returned unchanged.
 *
 * @param levels maximum nesting depth; a scalar has depth 0, `{}` depth 1
 * @returns the end of a sentence that starts with the field's name; null if there is no fault
 */
function jsonFault(value: unknown, levels: number = LIMITS.jsonDepth): string | null {
  // JSON.parse reads 1e400 as Infinity, which JSON.stringify would silently turn into null.
  if (typeof value === 'number' && !Number.isFinite(value))
    return 'must not contain a number beyond the range of a double';
  if (typeof value !== 'object' || value === null) return null;
  if (levels === 0) return `must not nest deeper than ${LIMITS.jsonDepth} levels`;
  // Object.values includes an own "__proto__" key, which JSON.parse creates.
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const fault = jsonFault(item, levels - 1);
    if (fault !== null) return fault;
  }
  return null;
}

// Each message below is the end of a sentence; `faultsOf` prepends the path of the field.

/** Return the error of a field: `is required` if it is missing, otherwise the rule that it breaks. */
export function required(mustBe: string) {
  return { error: (issue: { input?: unknown }) => (issue.input === undefined ? 'is required' : mustBe) };
}

/** Error of a value that must be an object. */
export const anObject = { error: 'must be an object' };

const UNICODE_RULE = 'must be well-formed Unicode';
const lengthRule = (max: number) => `must be 1 to ${max} characters`;
// The length check comes first so that a megabyte is not split into characters; a character is at most two code units.
const fits = (max: number) => (text: string) => text.length >= 1 && text.length <= 2 * max && [...text].length <= max;

const bounded = (text: z.ZodString, max: number) =>
  text
    .refine(fits(max), { error: lengthRule(max) })
    .refine((given) => given.isWellFormed(), { error: UNICODE_RULE })
    .meta({ minLength: 1, maxLength: max, description: 'Well-formed Unicode' });

/** Make the schema of text of 1 to `max` characters that can be stored as UTF-8. */
export const boundedText = (max: number) => bounded(z.string(required('must be a string')), max);

const givenName = z
  .string({
    error: (issue) => (issue.input === undefined || issue.input === null ? 'is required' : 'must be a string'),
  })
  .refine((text) => text !== '', { error: 'is required', abort: true });

/** Name of a job or key: 1 to 128 characters. Lone surrogates are refused, because they cannot be stored as UTF-8. */
export const name = bounded(givenName, LIMITS.nameCharacters);

/** A name in a filter. A name that no job can have is refused as a mistake. */
export const nameFilter = bounded(z.string({ error: 'must be a string' }), LIMITS.nameCharacters);

/** Make the schema of an array whose length is checked first, so that a million wrong entries don't make a million faults. */
export function boundedArray<T extends z.ZodType>(
  entry: T,
  { min = 0, max, what, error }: { min?: number; max: number; what: string; error: string },
) {
  const bounded = z
    .custom<unknown[]>(Array.isArray, { ...required(error), abort: true })
    .refine((list) => list.length >= min, { error: 'must not be empty', abort: true })
    .refine((list) => list.length <= max, { error: `must have at most ${max} ${what}`, abort: true })
    .pipe(z.array(entry));
  return describeAs(bounded, z.array(entry).min(min).max(max));
}

/** Make a schema that accepts a string or a list of strings. A union would hide which entry of the list is wrong. */
export function oneOrMore<T>(list: z.ZodType<T[]>) {
  return z.unknown().transform((given, ctx): T[] => {
    const outcome = list.safeParse(typeof given === 'string' ? [given] : given);
    if (outcome.success) return outcome.data;
    for (const { path, message } of outcome.error.issues) {
      ctx.addIssue({ code: 'custom', message, path: typeof given === 'string' ? [] : path });
    }
    return z.NEVER;
  });
}

/**
 * Make the schema of an object that refuses unknown fields. Its error message is a JSON array with the closest known
 * field, or null, for each unknown one; `faultsOf` turns it into sentences.
 */
export function exactObject<T extends z.core.$ZodLooseShape>(shape: T) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? JSON.stringify(issue.keys.slice(0, LIMITS.faultDetails).map((name) => similarTo(name, known)))
        : 'must be an object',
  });
}

/** ID of a space. A space exists as soon as a job is created in it. */
export const spaceId = z.string(required('must be a string')).regex(/^[A-Za-z0-9._:-]{1,128}$/, {
  error: `must be 1 to ${LIMITS.spaceIdCharacters} characters of A-Z a-z 0-9 . _ : -`,
});

/** Replace lone surrogates in the strings of a JSON value with U+FFFD, because many JSON parsers refuse them. */
export function wellFormed<T extends JsonValue>(value: T): T;
export function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

/** Refuse a value in which `jsonFault` finds a fault. */
export function refuseJsonFaults(value: unknown, ctx: z.RefinementCtx): void {
  const fault = jsonFault(value);
  if (fault !== null) ctx.addIssue({ code: 'custom', message: fault });
}

/** Any JSON value that can be stored and returned unchanged; its output is the same object. */
export const jsonValue = z
  .custom<JsonValue>()
  .superRefine(refuseJsonFaults)
  .describe(`Any JSON value, at most ${LIMITS.jsonDepth} levels deep`);

/** Any JSON object that can be stored and returned unchanged. zod's object and record types would drop "__proto__". */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, { ...required('must be an object'), abort: true })
  .superRefine(refuseJsonFaults)
  .meta({
    type: 'object',
    additionalProperties: true,
    description: `Any JSON object, at most ${LIMITS.jsonDepth} levels deep`,
  });

/** Make the schema of an integer within bounds; a wrong type and a wrong value have the same error. */
export function integerBetween(min: number, max: number) {
  const error = `must be an integer between ${min} and ${max}`;
  // `abort`: otherwise `.int()` and `.max()` would both report an integer above 2^53, with the same sentence.
  return z.number({ error }).int({ error, abort: true }).min(min, { error }).max(max, { error });
}

/** Make the schema of a number within bounds; a wrong type and a wrong value have the same error. */
export function numberBetween(min: number, max: number) {
  const error = `must be a number between ${min} and ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
}

/** Make the schema of a duration in seconds, above 0. */
export function secondsUpTo(max: number) {
  const error = `must be a number above 0 and at most ${max}`;
  return z.number({ error }).positive({ error }).max(max, { error });
}

/** Make a field of a body optional. Null counts as absent, because many serializers write null for unset fields. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullable()
    .transform((given) => given ?? undefined)
    .optional();

/** Make a field of a body optional, with a default. Null counts as absent. */
export const withDefault = <Output, Input>(schema: z.ZodType<Output, Input>, value: NonNullable<Output>) =>
  schema
    .nullable()
    .transform((given) => given ?? value)
    .default(value as never);

/** Text of a query parameter that must not be repeated. A repeated parameter is parsed as an array. */
export const queryText = z.string({ error: 'must appear exactly once' });

/** Make the schema of a query parameter that must not be repeated, from the schema of its text. */
export function once<T extends z.ZodType<unknown, string>>(text: T) {
  return describeAs(queryText.pipe(text), text);
}

/** `true` or `false` in a query string. */
export const queryFlag = describeAs(
  once(z.enum(['true', 'false'], { error: 'must be true or false' })).transform((text) => text === 'true'),
  z.boolean(),
);

/** Make the schema of a cursor in a query string, of this format. Clients treat cursors as opaque. */
export const queryCursor = (form: RegExp) =>
  once(z.string().regex(form, { error: 'must be a cursor from an earlier response' }));

/** Make the schema of an integer in a query string: below `min` it is refused, above `max` it is capped. */
export function queryInteger(min: number, max: number) {
  const error = `must be an integer of at least ${min}`;
  const capped = queryText
    .regex(/^-?\d+$/, { error })
    .transform(Number)
    .refine((value) => value >= min, { error })
    .transform((value) => Math.min(value, max));
  return describeAs(capped, z.number().min(min).meta({ type: 'integer' }));
}

/** Years 0000 to 9999: with a time zone offset, the year 9999 can become +010000, which has another format. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const TIMESTAMP_RULE = 'must be an ISO 8601 timestamp with a time zone';

/** An ISO 8601 date and time with a zone, extended or basic: 2026-01-31T09:30:00.768Z, 20260131T1030+0100. */
const TIMESTAMP =
  /^(\d{4})(-?)(\d\d)\2(\d\d)[Tt](\d\d)(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;

/** Parse a timestamp to epoch milliseconds; NaN if it is invalid. */
function parseTimestamp(text: string): number {
  const [
    ,
    year,
    ,
    month,
    day,
    hour,
    ,
    minute,
    second = '0',
    fraction = '',
    sign,
    offsetHours = '0',
    offsetMinutes = '0',
  ] = TIMESTAMP.exec(text) ?? [];
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  const isDate = date.getUTCDate() === Number(day); // Otherwise February 30 would become a day in March.
  // A leap second counts as the first second of the next minute, and 24:00 as the next day.
  const isTime = (h < 24 && m < 60 && s <= 60) || (h === 24 && m + s === 0 && !/[1-9]/.test(fraction));
  const isOffset = Number(offsetHours) < 24 && Number(offsetMinutes) < 60;
  if (!isDate || !isTime || !isOffset) return Number.NaN;
  const minutesAhead = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  return date.getTime() + ((h * 60 + m - minutesAhead) * 60 + s) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** A timestamp with its offset, parsed to epoch milliseconds. */
export const timestampMs = z
  .string({ error: TIMESTAMP_RULE })
  .transform(parseTimestamp)
  .refine((ms) => !Number.isNaN(ms), { error: TIMESTAMP_RULE, abort: true })
  .refine((ms) => ms >= FIRST_MS && ms <= LAST_MS, { error: 'must be within the years 0000 to 9999' });

/** A timestamp with its offset, converted to UTC with milliseconds. */
export const timestamp = timestampMs.transform((ms) => new Date(ms).toISOString());

const zonedMoment = z.string().meta({ format: 'date-time' });
describeAs(timestampMs, zonedMoment);
describeAs(timestamp, zonedMoment);

/** Records store the tags of a job separated by newlines, so a tag must not contain one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it refuses them
const WITHOUT_CONTROL = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** A tag of a job, or a tag to match. */
export const tag = boundedText(LIMITS.tagCharacters)
  .regex(WITHOUT_CONTROL, { error: 'must not contain control characters' })
  .meta({
    minLength: 1,
    maxLength: LIMITS.tagCharacters,
    description: 'Well-formed Unicode without control characters',
  });

const checkedTags = boundedArray(tag, { max: LIMITS.tags, what: 'tags', error: 'must be an array of strings' })
  .superRefine((tags, ctx) => {
    const first = tags.findIndex((one, i) => tags.indexOf(one) < i);
    if (first >= 0) ctx.addIssue({ code: 'custom', message: 'must not be a duplicate', path: [first] });
  })
  .transform((tags) => (tags.length === 0 ? null : tags));

/** Field `tags` of Create Job, in the order of the request; null for none. */
export const tagsRequest = describeAs(checkedTags, z.array(tag).max(LIMITS.tags).meta({ uniqueItems: true }));
