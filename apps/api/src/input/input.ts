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

/** What a row reads of a request. */
export interface Input<B> {
  /** Schemas of the query. */
  queries: readonly z.ZodType[];
  /** Names of the parameters of the query; others are refused. */
  parameters: readonly string[];
  /** The body, as the OpenAPI document describes it; null when it is not read. */
  body: BodyDescription | null;
  /**
   * Read and check it.
   *
   * @param held keeps what a large body has reserved, until the request is done
   * @throws INVALID_REQUEST, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, FORBIDDEN, OVERLOADED
   */
  read(call: Call, held: Held): B | Promise<B>;
}

/** A body in the OpenAPI document. */
export interface BodyDescription {
  /** Schema and examples by content type. */
  content: Record<string, { schema: z.ZodType; examples: Examples }>;
  /** For a body that may be a list, too. */
  list?: { schema: z.ZodType; examples: Examples; response: z.ZodType; responses: Examples };
  isOptional: boolean;
  /** Return how large it may be, in sentences. */
  sizes(limits: SizeLimits): string;
}

/** Keeps what a request has reserved until it is done. Its client may disconnect while it waits for a reservation. */
export class Held {
  #release: () => void = () => undefined;
  #isDone = false;

  /** Set the function to be called when the request is done, however it ends. */
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
 * Input from the query alone.
 *
 * @param check refuses a caller that may not ask for this
 */
export function query<Q>(schema: z.ZodType<Q>, check?: (query: Q, call: Call) => void): Input<Q> {
  const fields = knownFieldsOf(schema);
  const ofNone = schema.safeParse({});
  return {
    queries: [schema],
    parameters: fields instanceof Map ? [...fields.keys()] : [],
    body: null,
    read(call) {
      // Express would parse the URL of every request.
      const isNone = ofNone.success && !call.req.url.includes('?');
      if (!isNone) checkPercentEncoding(call.req.url);
      const input = isNone ? ofNone.data : validate(schema, call.req.query, 'query');
      check?.(input, call);
      return input;
    },
  };
}

/** Refuse a query that Express would read with U+FFFD in the place of what is malformed. @throws INVALID_REQUEST */
function checkPercentEncoding(url: string): void {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw new YardmasterError('INVALID_REQUEST', 'query must be valid percent-encoding');
  }
}

/** Input from the query and from a body. */
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
  /** Whether unknown fields are always refused, because an ignored one would leave its caller in a wrong belief. */
  isStrict?: true;
  /** Value of an absent body. Default `{}`; the schema then reports its missing fields. */
  absent?: null;
  /** Check the sizes of further parts. @throws TOO_LARGE */
  check?: (measured: Measured, limits: SizeLimits) => void;
}

/** The values of a JSON body: what they are checked for. */
export interface JsonValue<B> extends JsonOptions {
  schema: z.ZodType<B>;
  fields: KnownFields;
}

export const jsonValue = <B>(schema: z.ZodType<B>, options: JsonOptions): JsonValue<B> => ({
  ...options,
  schema,
  fields: knownFieldsOf(schema),
});

/** Input from a JSON body. */
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

/** Check a parsed body. @throws INVALID_REQUEST, TOO_LARGE */
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

/** Whether a body may be absent: its schema accepts the value that then replaces it. */
export const isOptional = ({ schema, absent }: JsonValue<unknown>) =>
  schema.safeParse(absent === null ? null : {}).success;

export const wholeOf = (bytes: number) => `At most ${bytes} bytes, on the wire and inflated.`;

export const partsOf = ({ sizes = [] }: JsonOptions, limits: SizeLimits) =>
  sizes.map((rule) => sentenceOf(rule, limits));

export const MAY_BE_GZIP = 'It may be compressed, with `content-encoding: gzip`.';

/** A valid value, and the size of the JSON text from which it was parsed. */
export interface Measured {
  input: unknown;
  bytes: number;
}

/** Size limit of a part of a body; `path` null is the whole body. */
export interface SizeRule {
  path: string | null;
  limit: 'payloadBytes' | 'eventBytes';
}

/** Size rule of data that an event contains. */
export const eventSize = (path: string | null): readonly SizeRule[] => [{ path, limit: 'eventBytes' }];

/** Size rule of a payload or a result. */
export const payloadSize = (path: string): readonly SizeRule[] => [{ path, limit: 'payloadBytes' }];

/** Return a rule as a sentence. */
export const sentenceOf = ({ path, limit }: SizeRule, limits: SizeLimits) =>
  `${path === null ? 'The value' : `\`${path}\``} is at most ${limits[limit]} bytes of JSON.`;

/** How many times longer JSON text may be than the text from which it was parsed: `1e20` is written as 21 digits. */
const GROWTH = 6;

/**
 * Refuse an input of which a part is over its limit, as JSON text.
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
 * Refuse the unknown fields of a body if the client prefers that; otherwise list them in a header of the response, which
 * may be an error.
 *
 * @param isStrict whether the endpoint refuses them in any case
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

/** One preference of a list, in which quoted commas do not separate. */
const PREFERENCE = /(?:"[^"]*"|[^",])+/g;
const HANDLING = /^\s*handling\s*=\s*("?)(\w+)\1\s*(?:;|$)/i;

/** Whether the first preference about handling is `handling=strict`. @see RFC 7240 §2, §4.4 */
function prefersStrict(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  for (const preference of String(prefer).match(PREFERENCE) ?? []) {
    const handling = HANDLING.exec(preference)?.[2];
    if (handling !== undefined) return handling.toLowerCase() === 'strict';
  }
  return false;
}

/** Most characters of the list: proxies refuse responses whose headers have more than 4 KB. */
const LIST_CHARACTERS = 2_048;

/** Write the paths of fields as a list in ASCII, from which `decodeURIComponent` gets each path back. */
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

/** Request headers of endpoints, by name: the pattern of their values, and what a value must be. */
export const REQUEST_HEADERS = {
  'idempotency-key': {
    pattern: new RegExp(`^[ -~]{1,${MAX}}$`),
    rule: `must be 1 to ${MAX} printable ASCII characters`,
  },
  'x-delivery-token': { pattern: new RegExp(DELIVERY_TOKEN), rule: 'must be the deliveryToken of a claimed job' },
};
export type HeaderName = keyof typeof REQUEST_HEADERS;

/**
 * Return the value of a request header; null without the header.
 *
 * @throws INVALID_REQUEST
 * @see docs/idempotency.md
 */
export function requestHeader({ headers, rawHeaders }: IncomingMessage, name: HeaderName): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  // Node joins the values of a header that appears twice.
  const isRepeated = rawHeaders.filter((raw, i) => i % 2 === 0 && raw.toLowerCase() === name).length > 1;
  if (isRepeated) throw new YardmasterError('INVALID_REQUEST', `${name} must appear at most once`);
  const { pattern, rule } = REQUEST_HEADERS[name];
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new YardmasterError('INVALID_REQUEST', `${name} ${rule}`);
}
