import { closest, distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { type FaultDetail, YardmasterError } from '../errors.js';
import { LIMITS } from '../limits.js';
import { openApiSchemaOf } from './describe.js';

/** Format a path as a caller would write it: `subProgress.build.percent`, `types[3]`; '' for the whole input. */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step)}`))
    .join('')
    .slice(0, LIMITS.faultPathCharacters);
}

type UnknownFields = Pick<z.core.$ZodIssueUnrecognizedKeys, 'keys'>;

/** Return the fault of an unknown name. @param similar the closest known name; null if none is close */
function unknownFault(what: 'field' | 'query parameter', path: string, similar: string | null): FaultDetail {
  return { path, message: `unknown ${what} ${path || '""'}${similar === null ? '' : `, did you mean ${similar}?`}` };
}

/**
 * Convert zod's issues to faults, each with a full sentence.
 *
 * @param nameOf returns the name of a field; gets '' for the input as a whole
 */
export function faultsOf(issues: readonly z.core.$ZodIssue[], nameOf: (field: string) => string): FaultDetail[] {
  return issues.slice(0, LIMITS.faultDetails).flatMap(({ code, path, message, ...issue }) => {
    if (code === 'unrecognized_keys') {
      const { keys } = issue as UnknownFields; // See exactObject.
      const similar: (string | null)[] = JSON.parse(message);
      return similar.map((name, i) => unknownFault('field', pathOf([...path, keys[i] as string]), name));
    }
    const where = nameOf(pathOf(path));
    return [{ path: where, message: `${where} ${message}` }];
  });
}

/**
 * Create the error for an invalid request: its message is the first fault, and `details` lists several.
 *
 * @param isListed whether `details` is present for a single fault as well
 */
export function invalidRequest(faults: readonly FaultDetail[], { isListed = false } = {}): YardmasterError {
  const details = faults.slice(0, LIMITS.faultDetails);
  const hasDetails = isListed || details.length > 1;
  return new YardmasterError('INVALID_REQUEST', details[0]?.message, hasDetails ? { details } : {});
}

/**
 * Validate part of a request against its schema.
 *
 * @param whole name of the part in errors about it as a whole
 * @returns the schema's output
 * @throws INVALID_REQUEST with a message that names the first invalid field, and `details` if there are several
 */
export function validate<T extends z.ZodType>(schema: T, input: unknown, whole = 'body'): z.output<T> {
  const outcome = schema.safeParse(input);
  if (outcome.success) return outcome.data;
  throw invalidRequest(faultsOf(outcome.error.issues, (field) => field || whole));
}

/**
 * The fields that a JSON value may have. For an object, by name; for an array or an object with free keys, the fields of
 * each value; for an object of several kinds, the fields of the kind that a field (`by`) names. Null if every field is
 * allowed, or if the schema itself refuses unknown fields.
 */
export type KnownFields = FieldsOfOneKind | { by: string; kinds: Map<unknown, FieldsOfOneKind> };
type FieldsOfOneKind = Map<string, KnownFields> | { each: KnownFields } | null;

/** Read the known fields from a schema. Do this once per schema: it visits the whole schema. */
export function knownFieldsOf(schema: z.core.$ZodType): KnownFields {
  const { def } = ((openApiSchemaOf(schema) ?? schema) as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      if (def.catchall?._zod.def.type === 'never') return null; // The schema refuses unknown fields itself.
      return new Map(Object.entries(def.shape).map(([name, field]) => [name, knownFieldsOf(field)]));
    case 'record':
      return eachOf(def.valueType);
    case 'array':
      return eachOf(def.element);
    case 'optional':
    case 'nullable':
    case 'default':
      return knownFieldsOf(def.innerType);
    case 'pipe':
      return knownFieldsOf(def.in) ?? knownFieldsOf(def.out);
    case 'union': {
      if ('discriminator' in def) return byKind(def as z.core.$ZodDiscriminatedUnionDef);
      // A string or an object. With two kinds of objects, it would be unclear which one a client meant.
      const [known = null, ...others] = def.options.map(knownFieldsOf).filter((one) => one !== null);
      return others.length === 0 ? known : null;
    }
    default:
      return null;
  }
}

function byKind({ discriminator: by, options }: z.core.$ZodDiscriminatedUnionDef): KnownFields {
  const kinds = options.flatMap((option) =>
    [...(option._zod.propValues?.[by] ?? [])].map((kind) => [kind, knownFieldsOf(option) as FieldsOfOneKind] as const),
  );
  return { by, kinds: new Map(kinds) };
}

function eachOf(schema: z.core.$ZodType): KnownFields {
  const each = knownFieldsOf(schema);
  return each === null ? null : { each };
}

/** A name that a client sent and the service does not know. */
export interface UnknownName {
  /** Path of the field, as errors show it. */
  path: string;
  name: string;
  /** Names known there. Can be iterated once: a body may have a hundred thousand unknown names. */
  known: Iterable<string>;
}

/**
 * Add the unknown fields of a parsed JSON value to `found`. Runs on every call, before the value is validated.
 *
 * @param at path of the value; '' for the whole body
 */
export function findUnknownFields(fields: KnownFields, value: unknown, found: UnknownName[], at = ''): void {
  if (typeof value !== 'object' || value === null) return;
  const known = fieldsOf(fields, value);
  if (known === null) return;
  const isList = Array.isArray(value);
  if (!(known instanceof Map)) {
    const pathOf = (key: string) => (isList ? `${at}[${key}]` : pathTo(at, key));
    for (const key in value) findUnknownFields(known.each, value[key as never], found, pathOf(key));
  } else if (!isList) {
    for (const name in value) {
      const inside = known.get(name);
      if (inside === undefined) addUnknown(found, { path: pathTo(at, name), name, known: known.keys() });
      else if (inside !== null) findUnknownFields(inside, value[name as never], found, pathTo(at, name));
    }
  }
}

/** Return the known fields of a value, which may depend on its kind. */
function fieldsOf(known: KnownFields, value: object): FieldsOfOneKind {
  if (known === null || !('by' in known)) return known;
  return known.kinds.get(value[known.by as never]) ?? null;
}

/** Add an unknown name to `found`, up to the number that a response lists. */
export function addUnknown(found: UnknownName[], unknown: UnknownName): void {
  if (found.length < LIMITS.faultDetails) found.push(unknown);
}

/** Return the path of a field, truncated to what errors quote. */
const pathTo = (at: string, name: string) => (at === '' ? name : `${at}.${name}`).slice(0, LIMITS.faultPathCharacters);

/** Maximum edit distance between an unknown name and a suggestion. */
const MAX_DISTANCE = 2;
/** Length above which an unknown name suggests a known name that starts with it. */
const MIN_START = 5;

/** Return the faults of unknown names, each with the closest known name as a suggestion. */
export function unknownFaults(what: 'field' | 'query parameter', found: readonly UnknownName[]): FaultDetail[] {
  return found.map(({ path, name, known }) => unknownFault(what, path, similarTo(name, [...known])));
}

/** Return the known name that is closest to an unknown one; null if none is close. */
export function similarTo(name: string, known: readonly string[]): string | null {
  // Compare only the part of the name that a path quotes, because a longer name is not a spelling mistake.
  const unknown = name.slice(0, LIMITS.faultPathCharacters);
  // An empty name is close to every short one, but means none of them.
  const similar = known.length === 0 || name === '' ? null : closest(unknown, known);
  if (similar !== null && distance(unknown, similar) <= MAX_DISTANCE) return similar;
  // `maxRetry` means maxRetries, and `maxDelay` means maxDelaySeconds.
  const start = unknown.length > MIN_START ? unknown.slice(0, -1) : null;
  return known.find((each) => start !== null && each.startsWith(start)) ?? null;
}

/**
 * Refuse unknown query parameters. They are never ignored, because a misspelled filter would match everything.
 *
 * @throws INVALID_REQUEST
 */
export function checkParameters(names: Iterable<string>, known: readonly string[]): void {
  const unknown = [...names].filter((name) => !known.includes(name)).slice(0, LIMITS.faultDetails);
  if (unknown.length === 0) return;
  const found = unknown.map((name) => ({ path: pathTo('', name), name, known }));
  throw invalidRequest(unknownFaults('query parameter', found));
}
