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
import type { Call, Examples } from '../call.js';
import { parseJson } from './body.js';
import type { Input } from './input.js';
import {
  checkJson,
  isOptional,
  JSON_TYPE,
  type JsonOptions,
  type JsonValue,
  jsonValue,
  MAY_BE_GZIP,
  partsOf as partSizes,
  wholeOf,
} from './json.js';
import { isList, jsonIn, readLargeText } from './large-json.js';
import { partsOf, skipBlanks, textOf } from './logs/json-parts.js';
import { checkSizes, type SizeLimits } from './sizes.js';
import { reportUnknownFields } from './unknown-fields.js';

/** A list in place of one value. Each item is checked, packed and dropped before the next one is parsed. */
export interface ListOptions<B, P> {
  /** Most items. */
  max: number;
  /** Noun of the items, for errors. */
  what: string;
  /** Schemas that describe the body and the response, with examples of both. */
  schema: z.ZodType;
  examples: Examples;
  response: z.ZodType;
  responses: Examples;
  /** Return the faults that an item has in a list only. */
  faultsOf(item: B): FaultDetail[];
  /** Return what is kept of a valid item. */
  pack(item: B, call: Call): P;
}

/** What is kept of the items of a list. */
export class Items<P> {
  constructor(readonly items: P[]) {}
}

/** Input from a JSON body that is one value or a list of such values. */
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
          `A list: at most ${limits.batchBytes} bytes, and ${list.max} ${list.what}s.`,
          ...partSizes(options, limits),
          MAY_BE_GZIP,
        ].join(' '),
    },
    async read(call, held) {
      const text = await readLargeText(call, held, isList);
      if (!isList(text)) return checkJson(value, jsonIn(text), call);
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

/** Bytes of JSON that are parsed before other requests run, see logs/batch.ts. */
const MAX_BYTES_PER_TURN = 256 * 1_024;

interface Packing<B, P> {
  value: JsonValue<B>;
  list: ListOptions<B, P>;
  call: Call;
  /** Gets the unknown fields. */
  unknown: UnknownName[];
}

/**
 * Check and pack the items of a list, one by one: parsed at once, they could take forty times the memory of their text.
 *
 * @returns what is kept of them
 * @throws TOO_LARGE, INVALID_REQUEST with `details`, whose paths begin with the place of the item: `[3].name`
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

/** An item that is not checked yet, its size, and its place in the list. */
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
