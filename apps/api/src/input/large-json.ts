import { YardmasterError } from '@yardmaster/protocol';
import type { Call } from '../call.js';
import {
  checkUtf8,
  inflateBegin,
  inflateBody,
  JSON_ONLY,
  NO_JSON,
  parseJson,
  type RawBody,
  rawBodyOf,
  tooLargeInflated,
} from './body.js';
import type { Held } from './input.js';
import { skipBlanks } from './logs/json-parts.js';
import { hasNoBody, readBytes, tooLarge } from './read-bytes.js';
import type { SizeLimits } from './sizes.js';

const OPEN = '['.charCodeAt(0);

/** Whether the text of a body is a list. */
export const isList = (text: Buffer) => text[skipBlanks(text, 0)] === OPEN;

/** Parse the text of a body. @returns the value and its size; no value without a body. @throws INVALID_REQUEST */
export const jsonIn = (text: Buffer) =>
  text.length === 0 ? NO_JSON : { value: parseJson(text.toString()), bytes: text.length };

/** Check by the beginning of a body whether it may be as large as a list. */
type MayBeLarge = (begin: Buffer) => boolean;

/** For an endpoint whose bodies may all be as large as a list. */
export const ALWAYS: MayBeLarge = () => true;

/**
 * Read the text of a body that may be larger than others. It then needs room in the budget first, until the request is
 * done.
 *
 * @returns UTF-8; empty without a body
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, OVERLOADED
 */
export async function readLargeText({ req, deps }: Call, held: Held, mayBeLarge: MayBeLarge): Promise<Buffer> {
  const { bodyBytes, batchBytes } = deps.sizes;
  const reserve = async (bytes: number) => held.hold(await deps.batchBudget.reserve(bytes));
  const isGzip = req.headers['content-encoding'] !== undefined;
  const admit = async (begin: Buffer) => {
    // A compressed body shows later what it is.
    if (!isGzip && !mayBeLarge(begin)) throw tooLarge(bodyBytes);
    const stated = isGzip ? batchBytes : Number(req.headers['content-length'] ?? batchBytes);
    await reserve(stated);
  };
  const ofLists = { limit: batchBytes, isForAll: mayBeLarge === ALWAYS, admit };
  const rawBody = hasNoBody(req) ? null : rawBodyOf(req, await readBytes(req, bodyBytes, ofLists), JSON_ONLY);
  if (rawBody === null) return Buffer.alloc(0);
  const most = Math.max(bodyBytes, batchBytes);
  // Await only what takes time, because each await creates a promise.
  const text = rawBody.isGzip
    ? await inflateText(rawBody, deps.sizes, { mayBeLarge, reserve })
    : checkUtf8(rawBody.bytes, most);
  const limit = mayBeLarge(text) ? batchBytes : bodyBytes;
  if (text.length > limit) throw (rawBody.isGzip ? tooLargeInflated : tooLarge)(limit);
  return text;
}

/** Inflate a body. Only its beginning shows that it is a list, when it is larger than other bodies. */
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
  // A body that is large on the wire has its room already.
  if (!isLarge) await reserve(batchBytes);
  return inflateBody(rawBody, batchBytes);
}
