import type { IncomingMessage } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { skipBlanks } from '../logs/json-parts.js';
import type { BodyBounds } from '../routes/route.js';
import {
  inflateBegin,
  inflateBody,
  JSON_ONLY,
  NO_JSON,
  parseJson,
  type RawBody,
  rawBodyOf,
  tooLargeInflated,
} from './body.js';
import { hasNoBody, readBytes, tooLarge } from './read-bytes.js';

const OPEN = '['.charCodeAt(0);

const isList = (text: Buffer) => text[skipBlanks(text, 0)] === OPEN;

/** A body that is not a list. */
interface OneValue {
  value: unknown;
  bytes: number;
}

type ReadBounds = Pick<BodyBounds, 'sizes' | 'batchBudget' | 'onDone'>;

/**
 * Read a JSON body that may be a list. A list may be larger than another body. It then needs room in the budget first,
 * until the request is done.
 *
 * @returns the value, or the text of a list
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, OVERLOADED
 */
export async function readOneOrList(req: IncomingMessage, bounds: ReadBounds): Promise<OneValue | Buffer> {
  const text = await readText(req, bounds, isList);
  return isList(text) ? text : jsonIn(text);
}

/**
 * Read a JSON body that may be as large as a list.
 *
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, OVERLOADED
 */
export async function readLargeJson(req: IncomingMessage, bounds: ReadBounds): Promise<OneValue> {
  return jsonIn(await readText(req, bounds, () => true));
}

const jsonIn = (text: Buffer): OneValue =>
  text.length === 0 ? NO_JSON : { value: parseJson(text.toString()), bytes: text.length };

/** Check by the beginning of a body whether it may be as large as a list. */
type MayBeLarge = (begin: Buffer) => boolean;

/** Read the text of a body; empty without one. */
async function readText(req: IncomingMessage, bounds: ReadBounds, mayBeLarge: MayBeLarge): Promise<Buffer> {
  const { bodyBytes, batchBytes } = bounds.sizes;
  const isGzip = req.headers['content-encoding'] !== undefined;
  const admit = async (begin: Buffer) => {
    // A compressed body shows later what it is.
    if (!isGzip && !mayBeLarge(begin)) throw tooLarge(bodyBytes);
    const stated = isGzip ? batchBytes : Number(req.headers['content-length'] ?? batchBytes);
    bounds.onDone(await bounds.batchBudget.reserve(stated));
  };
  const ofLists = { limit: batchBytes, admit };
  const rawBody = hasNoBody(req) ? null : rawBodyOf(req, await readBytes(req, bodyBytes, ofLists), JSON_ONLY);
  if (rawBody === null) return Buffer.alloc(0);
  const text = await textOf(rawBody, bounds, mayBeLarge);
  const limit = mayBeLarge(text) ? batchBytes : bodyBytes;
  if (text.length > limit) throw (rawBody.isGzip ? tooLargeInflated : tooLarge)(limit);
  return text;
}

/** Inflate a body. Only its beginning shows that it is a list, when it is larger than other bodies. */
async function textOf(
  rawBody: RawBody<string>,
  { sizes, batchBudget, onDone }: ReadBounds,
  mayBeLarge: MayBeLarge,
): Promise<Buffer> {
  const { bodyBytes, batchBytes } = sizes;
  if (!rawBody.isGzip) return inflateBody(rawBody, Math.max(bodyBytes, batchBytes));
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
  if (!isLarge) onDone(await batchBudget.reserve(batchBytes));
  return inflateBody(rawBody, batchBytes);
}
