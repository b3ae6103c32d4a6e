import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  DELIVERY_TOKEN,
  findUnknownFields,
  invalidRequest,
  type KnownFields,
  knownFieldsOf,
  LIMITS,
  type UnknownName,
  unknownFaults,
  validate,
  YardmasterError,
} from '@yardmaster/protocol';
import type { z } from 'zod';
import type { Call, Examples, SizeLimits } from '../call.js';
import { readJson } from './body.js';

/** What a row reads from a request. */
export interface Input<B> {
  /** Schemas of the query. */
  queries: readonly z.ZodType[];
  /** Names of the query parameters; others are refused. */
  parameters: readonly string[];
  /** Description of the body for the OpenAPI document; null if it is not read. */
  body: BodyDescription | null;
  /**
   * Read and validate the input.
   *
   * @param held holds what a large body has reserved until the request is done
   * @throws INVALID_REQUEST, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, FORBIDDEN, OVERLOADED
   */
  read(call: Call, held: Held): B | Promise<B>;
}

/** A body in the OpenAPI document. */
export interface BodyDescription {
  /** Schema and examples by content type. */
  content: Record<string, { schema: z.ZodType; examples: Examples }>;
  /** Present if the body may also be a list. */
  list?: { schema: z.ZodType; examples: Examples; response: z.ZodType; responses: Examples };
  isOptional: boolean;
  /** Describe the size limits in sentences. */
  sizes(limits: SizeLimits): string;
}

/** Holds what a request has reserved until it is done. The client may disconnect while the reservation is pending. */
export class Held {
  #release: () => void = () => undefined;
  #isDone = false;

  /** Set the function to call once the request is done; call it immediately if it already is. */
  hold(release: () => void): void {
    if (this.#isDone) release();
    else this.#release = release;
  }

  done(): void {
    this.#isDone = true;
    this.#release();
  }
}

/**
 * Create an input that reads only the query.
 *
 * @param check refuses callers that aren't allowed to make this request
 */
export function query<Q>(schema: z.ZodType<Q>, check?: (query: Q, call: Call) => void): Input<Q> {
  const fields = knownFieldsOf(schema);
  const ofNone = schema.safeParse({});
  return {
    queries: [schema],
    parameters: fields instanceof Map ? [...fields.keys()] : [],
    body: null,
    read(call) {
      // Checked first, because `req.query` parses the URL.
      const isNone = ofNone.success && !call.req.url.includes('?');
      if (!isNone) checkPercentEncoding(call.req.url);
      const input = isNone ? ofNone.data : validate(schema, call.req.query, 'query');
      check?.(input, call);
      return input;
    },
  };
}

/** Refuse malformed percent-encoding in a query, which Express would replace with U+FFFD. @throws INVALID_REQUEST */
function checkPercentEncoding(url: string): void {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw new YardmasterError('INVALID_REQUEST', 'query must be valid percent-encoding');
  }
}

/** Create an input that reads both the query and a body. */
export const withQuery = <Q, B>(ofQuery: Input<Q>, ofBody: Input<B>): Input<{ query: Q; body: B }> => ({
  ...ofQuery,
  body: ofBody.body,
  async read(call, held) {
    const query = ofQuery.read(call, held) as Q;
    return { query, body: await ofBody.read(call, held) };
  },
});

export const JSON_TYPE = 'application/json';

export interface JsonOptions {
  examples: Examples;
  sizes?: readonly SizeRule[];
  /** Whether unknown fields are always refused, because ignoring one would mislead the caller. */
  isStrict?: true;
  /** Value of an absent body. Default `{}`; the schema then reports its missing fields. */
  absent?: null;
  /** Check the sizes of other parts. @throws TOO_LARGE */
  check?: (measured: Measured, limits: SizeLimits) => void;
}

/** How to validate a JSON body. */
export interface JsonValue<B> extends JsonOptions {
  schema: z.ZodType<B>;
  fields: KnownFields;
}

export const jsonValue = <B>(schema: z.ZodType<B>, options: JsonOptions): JsonValue<B> => ({
  ...options,
  schema,
  fields: knownFieldsOf(schema),
});

/** Create an input that reads a JSON body. */
export function json<B>(schema: z.ZodType<B>, options: JsonOptions): Input<B> {
  const value = jsonValue(schema, options);
  return {
    queries: [],
    parameters: [],
    body: {
      content: { [JSON_TYPE]: { schema, examples: options.examples } },
      isOptional: isOptional(value),
      sizes: (limits) => [wholeOf(limits.bodyBytes), ...partsOf(value, limits), MAY_BE_GZIP].join(' '),
    },
    async read(call) {
      return checkJson(value, await readJson(call.req, call.deps.sizes.bodyBytes), call);
    },
  };
}

/** Validate a parsed body. @throws INVALID_REQUEST, TOO_LARGE */
export function checkJson<B>(
  { schema, fields, isStrict, absent, sizes, check }: JsonValue<B>,
  { value = absent === null ? null : {}, bytes }: { value: unknown; bytes: number },
  call: Call,
): B {
  const { req, res, deps } = call;
  call.bytes = bytes;
  const unknown: UnknownName[] = [];
  findUnknownFields(fields, value, unknown);
  reportUnknownFields(req, res, unknown, isStrict);
  const input = validate(schema, value);
  checkSizes(sizes, { input, bytes }, deps.sizes);
  check?.({ input, bytes }, deps.sizes);
  return input;
}

/** Return whether a body may be absent: its schema accepts the value that replaces it. */
export const isOptional = ({ schema, absent }: JsonValue<unknown>) =>
  schema.safeParse(absent === null ? null : {}).success;

export const wholeOf = (bytes: number) => `At most ${bytes} bytes, on the wire and decompressed.`;

export const partsOf = ({ sizes = [] }: JsonOptions, limits: SizeLimits) =>
  sizes.map((rule) => sentenceOf(rule, limits));

export const MAY_BE_GZIP = 'The body can be compressed with `Content-Encoding: gzip`.';

/** A valid value, and the size of the JSON text that it was parsed from. */
export interface Measured {
  input: unknown;
  bytes: number;
}

/** Size limit of a part of a body; `path` null is the whole body. */
export interface SizeRule {
  path: string | null;
  limit: 'payloadBytes' | 'eventBytes';
}

/** Size rule of the data of an event. */
export const eventSize = (path: string | null): readonly SizeRule[] => [{ path, limit: 'eventBytes' }];

/** Size rule of a payload or result. */
export const payloadSize = (path: string): readonly SizeRule[] => [{ path, limit: 'payloadBytes' }];

/** Format a rule as a sentence. */
export const sentenceOf = ({ path, limit }: SizeRule, limits: SizeLimits) =>
  `${path === null ? 'The value' : `\`${path}\``} is limited to ${limits[limit]} bytes of JSON.`;

/** How many times longer JSON can get when it is parsed and serialized again: `1e20` becomes 21 digits. */
const GROWTH = 6;

/**
 * Refuse an input if one of its parts, as JSON text, is over its limit.
 *
 * @param at path of the input in the body; '' for the whole body
 * @throws TOO_LARGE
 */
export function checkSizes(
  rules: readonly SizeRule[] = [],
  { input, bytes }: Measured,
  limits: SizeLimits,
  at = '',
): void {
  for (const { path, limit } of rules) {
    const most = limits[limit];
    if (bytes * GROWTH <= most) continue;
    const part = path === null ? input : (input as Record<string, unknown>)[path];
    if (part === undefined || Buffer.byteLength(JSON.stringify(part)) <= most) continue;
    const where = [at, path ?? ''].filter((step) => step !== '').join('.') || 'body';
    throw new YardmasterError('TOO_LARGE', `${where} must be at most ${most} bytes of JSON`);
  }
}

/**
 * Refuse the unknown fields of a body if the client prefers that; otherwise list them in a header of the response, even if
 * the response is an error.
 *
 * @param isStrict whether the endpoint always refuses them
 * @throws INVALID_REQUEST
 */
export function reportUnknownFields(
  req: IncomingMessage,
  res: ServerResponse,
  found: readonly UnknownName[],
  isStrict = false,
): void {
  const isPreferred = prefersStrict(req.headers.prefer);
  if (found.length > 0 && (isStrict || isPreferred)) throw invalidRequest(unknownFaults('field', found));
  if (isPreferred) res.setHeader('preference-applied', 'handling=strict');
  else if (found.length > 0) res.setHeader('x-ignored-fields', listOf(found));
}

/** One preference of a list. Commas inside quotes don't separate preferences. */
const PREFERENCE = /(?:"[^"]*"|[^",])+/g;
const HANDLING = /^\s*handling\s*=\s*("?)(\w+)\1\s*(?:;|$)/i;

/** Return whether the first `handling` preference is `strict`. @see RFC 7240 §2, §4.4 */
function prefersStrict(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  for (const preference of String(prefer).match(PREFERENCE) ?? []) {
    const handling = HANDLING.exec(preference)?.[2];
    if (handling !== undefined) return handling.toLowerCase() === 'strict';
  }
  return false;
}

/** Maximum length of the list: proxies refuse responses with more than 4 KB of headers. */
const LIST_CHARACTERS = 2_048;

/** Format the paths of fields as an ASCII list; `decodeURIComponent` restores each path. */
function listOf(found: readonly UnknownName[]): string {
  let list = '';
  for (const { path } of found) {
    const item = path.toWellFormed().replace(/[^\w.[\]-]+/g, encodeURIComponent);
    if (list.length + item.length > LIST_CHARACTERS) break;
    if (item !== '') list += list === '' ? item : `, ${item}`;
  }
  return list;
}

const MAX = LIMITS.idempotencyKeyCharacters;

/** Request headers of endpoints by name, with the pattern that values must match and its description for errors. */
export const REQUEST_HEADERS = {
  'idempotency-key': {
    pattern: new RegExp(`^[ -~]{1,${MAX}}$`),
    rule: `must be 1 to ${MAX} printable ASCII characters`,
  },
  'x-delivery-token': { pattern: new RegExp(DELIVERY_TOKEN), rule: 'must be the deliveryToken of a claimed job' },
};
export type HeaderName = keyof typeof REQUEST_HEADERS;

/**
 * Return the value of a request header; null if it is absent.
 *
 * @throws INVALID_REQUEST
 * @see docs/idempotency.md
 */
export function requestHeader({ headers, rawHeaders }: IncomingMessage, name: HeaderName): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  // Node joins the values of a repeated header.
  const isRepeated = rawHeaders.filter((raw, i) => i % 2 === 0 && raw.toLowerCase() === name).length > 1;
  if (isRepeated) throw new YardmasterError('INVALID_REQUEST', `${name} must appear at most once`);
  const { pattern, rule } = REQUEST_HEADERS[name];
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new YardmasterError('INVALID_REQUEST', `${name} ${rule}`);
}
