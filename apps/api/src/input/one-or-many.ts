import { setImmediate as letOthersRun } from 'node:timers/promises';
import {
  type FaultDetail,
  faultsOf,
  findUnknownFields,
  invalidRequest,
  LIMITS,
  type UnknownName,
  YardmasterError,
} from '@yardmaster/protocol';
import type { z } from 'zod';
import type { Call, Examples, SizeLimits } from '../call.js';
import {
  checkUtf8,
  hasNoBody,
  inflateBegin,
  inflateBody,
  JSON_ONLY,
  NO_JSON,
  parseJson,
  type RawBody,
  rawBodyOf,
  readBytes,
  tooLarge,
  tooLargeInflated,
} from './body.js';
import {
  checkJson,
  checkSizes,
  type Held,
  type Input,
  isOptional,
  JSON_TYPE,
  type JsonOptions,
  type JsonValue,
  jsonValue,
  MAY_BE_GZIP,
  partsOf as partSizes,
  reportUnknownFields,
  wholeOf,
} from './input.js';
import { partsOf, skipBlanks, textOf } from './logs/json-parts.js';

/** How to read a list in place of a single value. Each item is validated, packed and dropped before the next is parsed. */
export interface ListOptions<B, P> {
  /** Maximum number of items. */
  max: number;
  /** Singular noun for the items, for errors. */
  what: string;
  /** Schemas that describe the body and the response, with examples of both. */
  schema: z.ZodType;
  examples: Examples;
  response: z.ZodType;
  responses: Examples;
  /** Return the faults of an item that would be valid outside a list. */
  faultsOf(item: B): FaultDetail[];
  /** Convert a valid item to the form that is kept. */
  pack(item: B, call: Call): P;
}

/** The packed items of a list. */
export class Items<P> {
  constructor(readonly items: P[]) {}
}

/** Create an input that reads a JSON body with a single value or a list of values. */
export function oneOrMany<B, P>(
  schema: z.ZodType<B>,
  { list, ...options }: JsonOptions & { list: ListOptions<B, P> },
): Input<B | Items<P>> {
  const value = jsonValue(schema, options);
  return {
    queries: [],
    parameters: [],
    body: {
      content: { [JSON_TYPE]: { schema, examples: options.examples } },
      list,
      isOptional: isOptional(value),
      sizes: (limits) =>
        [
          wholeOf(limits.bodyBytes),
          `A list is limited to ${limits.batchBytes} bytes and ${list.max} ${list.what}s.`,
          ...partSizes(options, limits),
          MAY_BE_GZIP,
        ].join(' '),
    },
    async read(call, held) {
      const text = await readLargeText(call, held, isList);
      if (!isList(text)) return checkJson(value, jsonIn(text), call);
      call.bytes = text.length;
      const unknown: UnknownName[] = [];
      try {
        return new Items(await packItems(text, { value, list, call, unknown }));
      } finally {
        reportUnknownFields(call.req, call.res, unknown);
      }
    },
  };
}

const invalid = (sentence: string) => new YardmasterError('INVALID_REQUEST', sentence);

/** Bytes of JSON to parse before other requests get a turn; see logs/batch.ts. */
const MAX_BYTES_PER_TURN = 256 * 1_024;

interface Packing<B, P> {
  value: JsonValue<B>;
  list: ListOptions<B, P>;
  call: Call;
  /** Receives the unknown fields. */
  unknown: UnknownName[];
}

/**
 * Validate and pack the items of a list one by one. Parsed all at once, they could take 40 times the memory of their text.
 *
 * @returns the packed items
 * @throws TOO_LARGE, INVALID_REQUEST with `details` whose paths start with the index of the item: `[3].name`
 */
async function packItems<B, P>(text: Buffer, { value, list, call, unknown }: Packing<B, P>): Promise<P[]> {
  const { sizes } = call.deps;
  const found = partsOf(text, skipBlanks(text, 0), list.max);
  if (found === null || skipBlanks(text, found.end) < text.length) throw invalid('body must be valid JSON');
  const { parts } = found;
  if (parts.length === 0) throw invalid(`body must have at least one ${list.what}`);
  if (parts.length > list.max) throw invalid(`body must have at most ${list.max} ${list.what}s`);

  const packed: P[] = [];
  const faults: FaultDetail[] = [];
  let parsed = 0;
  for (const [i, part] of parts.entries()) {
    const at = `[${i}]`;
    const json = textOf(text, part);
    const bytes = Buffer.byteLength(json);
    if (bytes > sizes.bodyBytes) throw tooLargeItem(at, sizes.bodyBytes);
    parsed += bytes;
    if (parsed > MAX_BYTES_PER_TURN) {
      parsed = 0;
      await letOthersRun();
    }
    const parsedItem = parseJson(json, at);
    findUnknownFields(value.fields, parsedItem, unknown, at);
    const item = checkItem({ value, list }, { parsed: parsedItem, bytes, at }, sizes);
    faults.push(...item.faults);
    if (faults.length === 0) packed.push(list.pack(item.checked as B, call));
    if (faults.length >= LIMITS.faultDetails) break;
  }
  if (faults.length > 0) throw invalidRequest(faults, { isListed: true });
  return packed;
}

/** A parsed item, its size, and its path in the list. */
interface Item {
  parsed: unknown;
  bytes: number;
  at: string;
}

/** @throws TOO_LARGE */
function checkItem<B, P>(
  { value: { schema, sizes }, list }: Pick<Packing<B, P>, 'value' | 'list'>,
  { parsed, bytes, at }: Item,
  limits: SizeLimits,
) {
  const outcome = schema.safeParse(parsed);
  if (!outcome.success) {
    return { checked: null, faults: faultsOf(outcome.error.issues, (field) => pathOf(at, field)) };
  }
  checkSizes(sizes, { input: outcome.data, bytes }, limits, at);
  const ofList = list.faultsOf(outcome.data).map(({ path, message }) => {
    return { path: pathOf(at, path), message: `${pathOf(at, path)} ${message}` };
  });
  return { checked: outcome.data, faults: ofList };
}

const pathOf = (at: string, field: string) =>
  (field === '' ? at : `${at}.${field}`).slice(0, LIMITS.faultPathCharacters);

const tooLargeItem = (at: string, limit: number) =>
  new YardmasterError('TOO_LARGE', `${at} must be at most ${limit} bytes`);

const OPEN = '['.charCodeAt(0);

/** Return whether the text of a body is a list. */
export const isList = (text: Buffer) => text[skipBlanks(text, 0)] === OPEN;

/** Parse the text of a body. @returns the value and its size; no value if the body is empty. @throws INVALID_REQUEST */
export const jsonIn = (text: Buffer) =>
  text.length === 0 ? NO_JSON : { value: parseJson(text.toString()), bytes: text.length };

/** Decide from the beginning of a body whether it may be as large as a list. */
type MayBeLarge = (begin: Buffer) => boolean;

/** Allow every body to be as large as a list. */
export const ALWAYS: MayBeLarge = () => true;

/**
 * Read the text of a body that may be larger than others. Such a body first needs room in the budget, and holds it until
 * the request is done.
 *
 * @returns UTF-8 text; empty without a body
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, OVERLOADED
 */
export async function readLargeText({ req, deps }: Call, held: Held, mayBeLarge: MayBeLarge): Promise<Buffer> {
  const { bodyBytes, batchBytes } = deps.sizes;
  const reserve = async (bytes: number) => held.hold(await deps.batchBudget.reserve(bytes));
  const isGzip = req.headers['content-encoding'] !== undefined;
  const admit = async (begin: Buffer) => {
    // Whether a compressed body is a list is known only later.
    if (!isGzip && !mayBeLarge(begin)) throw tooLarge(bodyBytes);
    const stated = isGzip ? batchBytes : Number(req.headers['content-length'] ?? batchBytes);
    await reserve(stated);
  };
  const ofLists = { limit: batchBytes, isForAll: mayBeLarge === ALWAYS, admit };
  const rawBody = hasNoBody(req) ? null : rawBodyOf(req, await readBytes(req, bodyBytes, ofLists), JSON_ONLY);
  if (rawBody === null) return Buffer.alloc(0);
  const most = Math.max(bodyBytes, batchBytes);
  // Await only when necessary, because each await creates a promise.
  const text = rawBody.isGzip
    ? await inflateText(rawBody, deps.sizes, { mayBeLarge, reserve })
    : checkUtf8(rawBody.bytes, most);
  const limit = mayBeLarge(text) ? batchBytes : bodyBytes;
  if (text.length > limit) throw (rawBody.isGzip ? tooLargeInflated : tooLarge)(limit);
  return text;
}

/** Decompress a body. If it is larger than other bodies, its beginning must show that it is a list. */
async function inflateText(
  rawBody: RawBody<string>,
  { bodyBytes, batchBytes }: SizeLimits,
  { mayBeLarge, reserve }: { mayBeLarge: MayBeLarge; reserve(bytes: number): Promise<void> },
): Promise<Buffer> {
  const isLarge = rawBody.bytes.length > bodyBytes;
  if (!isLarge) {
    try {
      return await inflateBody(rawBody, bodyBytes);
    } catch (error) {
      if (!(error instanceof YardmasterError && error.code === 'TOO_LARGE')) throw error;
    }
  }
  if (!mayBeLarge(await inflateBegin(rawBody.bytes))) throw (isLarge ? tooLarge : tooLargeInflated)(bodyBytes);
  // A body that is large on the wire already has its reservation.
  if (!isLarge) await reserve(batchBytes);
  return inflateBody(rawBody, batchBytes);
}
