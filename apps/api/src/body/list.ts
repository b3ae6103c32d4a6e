import { setImmediate as letOthersRun } from 'node:timers/promises';
import {
  type FaultDetail,
  faultsOf,
  findUnknownFields,
  invalidRequest,
  LIMITS,
  validate,
  YardmasterError,
} from '@yardmaster/protocol';
import type { RedisQueue } from '../limits/redis-queue.js';
import { partsOf, skipBlanks, textOf } from '../logs/json-parts.js';
import type { BodyBounds, Call, Route } from '../routes/route.js';
import { parseJson } from './body.js';
import { isList, jsonIn, readLargeText } from './large-json.js';
import type { ListRow } from './list-row.js';
import { checkSizes } from './sizes.js';

/**
 * Return the reader of a body that may be a list.
 *
 * @returns the output of the row's schema, or an array of what the row keeps of each item
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, OVERLOADED
 */
export const readOneOrItems =
  (route: Route, call: Call): NonNullable<Route['readBody']> =>
  async (req, bounds) => {
    const text = await readLargeText(req, bounds, isList);
    if (isList(text)) return packItems(text, route, call, bounds);
    const { value = {}, bytes } = jsonIn(text);
    findUnknownFields(route.fields, value, bounds.unknown);
    const input = validate(route.body as NonNullable<Route['body']>, value);
    checkSizes(route.sizeRules, { input, bytes }, bounds.sizes);
    return input;
  };

/** How many times longer than another call one with a list may take; none of its steps may take longer than a call. */
const LIST_TIMES = 5;

/** Run the handler of a row for a list, whose steps take turns with other calls. */
export function runList(list: ListRow<never, unknown, unknown>, call: Call, withinMs: number, redisQueue: RedisQueue) {
  const endsAt = performance.now() + LIST_TIMES * withinMs;
  call.inTurn = (run) => {
    const leftMs = Math.min(withinMs, endsAt - performance.now());
    return redisQueue.withSlot({ isUrgent: false, owner: call.caller.keyId, withinMs: leftMs, run });
  };
  return list.handler(call as Call<unknown[]>);
}

const invalid = (sentence: string) => new YardmasterError('INVALID_REQUEST', sentence);

/** Bytes of JSON that are parsed before other requests run, see logs/batch.ts. */
const MAX_BYTES_PER_TURN = 256 * 1_024;

/**
 * Check and pack the items of a list, one by one: parsed at once, they could take forty times the memory of their text.
 *
 * @returns what is kept of them
 * @throws TOO_LARGE, INVALID_REQUEST with `details`, whose paths begin with the place of the item: `[3].name`
 */
async function packItems(
  text: Buffer,
  route: Route,
  call: Call,
  { sizes, unknown }: Pick<BodyBounds, 'sizes' | 'unknown'>,
): Promise<unknown[]> {
  const list = route.list as NonNullable<Route['list']>;
  const found = partsOf(text, skipBlanks(text, 0), list.max);
  if (found === null || skipBlanks(text, found.end) < text.length) throw invalid('body must be valid JSON');
  const { parts } = found;
  if (parts.length === 0) throw invalid(`body must have at least one ${list.what}`);
  if (parts.length > list.max) throw invalid(`body must have at most ${list.max} ${list.what}s`);

  const packed: unknown[] = [];
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
    const value = parseJson(json, at);
    findUnknownFields(route.fields, value, unknown, at);
    const item = checkItem(route, { value, bytes, at }, sizes);
    faults.push(...item.faults);
    if (faults.length === 0) packed.push(list.pack(item.checked, call));
    if (faults.length >= LIMITS.faultDetails) break;
  }
  if (faults.length > 0) throw invalidRequest(faults, { isListed: true });
  return packed;
}

/** An item that is not checked yet, its size, and its place in the list. */
interface Item {
  value: unknown;
  bytes: number;
  at: string;
}

/** @throws TOO_LARGE */
function checkItem({ body, list, sizeRules }: Route, { value, bytes, at }: Item, sizes: BodyBounds['sizes']) {
  const outcome = (body as NonNullable<typeof body>).safeParse(value);
  if (!outcome.success) {
    return { checked: null, faults: faultsOf(outcome.error.issues, (field) => pathOf(at, field)) };
  }
  checkSizes(sizeRules, { input: outcome.data, bytes }, sizes, at);
  const ofList = (list as NonNullable<typeof list>).faultsOf(outcome.data).map(({ path, message }) => {
    return { path: pathOf(at, path), message: `${pathOf(at, path)} ${message}` };
  });
  return { checked: outcome.data, faults: ofList };
}

const pathOf = (at: string, field: string) =>
  (field === '' ? at : `${at}.${field}`).slice(0, LIMITS.faultPathCharacters);

const tooLargeItem = (at: string, limit: number) =>
  new YardmasterError('TOO_LARGE', `${at} must be at most ${limit} bytes`);
