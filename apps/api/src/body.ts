import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { YardmasterError } from '@yardmaster/protocol';
import { contentTypeOf } from './content-type.js';

const inflateAll = promisify(gunzip);

const isAbsent = (req: IncomingMessage) =>
  req.headers['transfer-encoding'] === undefined && (req.headers['content-length'] ?? '0') === '0';

/** A body as it was sent. */
export interface WireBody<T extends string> {
  bytes: Buffer;
  type: T;
  isGzip: boolean;
}

/**
 * Read a request's body from the connection, in memory bounded by `limit`.
 *
 * @param types content types that are understood
 * @returns null when there is no body, or one of no bytes
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST
 */
export async function readWire<T extends string>(
  req: IncomingMessage,
  { types, limit }: { types: readonly T[]; limit: number },
): Promise<WireBody<T> | null> {
  return isAbsent(req) ? null : wireBodyOf(req, await readBytes(req, limit), types);
}

function wireBodyOf<T extends string>(req: IncomingMessage, bytes: Buffer, types: readonly T[]): WireBody<T> | null {
  if (bytes.length === 0) return null; // A chunked body without chunks.
  const type = contentTypeOf(req.headers['content-type'], types);
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be gzip or identity');
  }
  return { bytes, type, isGzip: encoding === 'gzip' };
}

/** Chunks that are kept apart; a usual body has one chunk. */
const MOST_CHUNKS = 1_024;

/**
 * Collect a body. By hand, because a library's promise, checks and listeners cost as much again as Node's own part.
 */
function readBytes(req: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      // A buffer for each byte would take 400 times the memory of a body of such chunks.
      if (chunks.length === MOST_CHUNKS) chunks.splice(0, MOST_CHUNKS, Buffer.concat(chunks, bytes));
      if (bytes > limit) fail(tooLarge(limit));
    };
    const onEnd = () => {
      leave();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
    };
    // No client is left to read this response, but it is no bug of ours.
    const onClose = () => fail(new YardmasterError('INVALID_REQUEST', 'body ended before it was complete'));
    const leave = () => {
      req.off('data', onData);
      req.off('end', onEnd);
      req.off('close', onClose);
    };
    const fail = (error: YardmasterError) => {
      leave();
      req.pause();
      reject(error);
    };
    // A body whose stated length is too large is refused unread; `sendText` then reads and drops it.
    if (Number(req.headers['content-length']) > limit) return fail(tooLarge(limit));
    // Its client went away, and 'close' happened, while the request waited for something else.
    if (req.destroyed) return onClose();
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('close', onClose);
  });
}

const tooLarge = (limit: number) => new YardmasterError('TOO_LARGE', `body must be at most ${limit} bytes`);

/**
 * Return the text of a body, inflated when it was compressed, in memory bounded by `limit`.
 *
 * @throws TOO_LARGE, INVALID_REQUEST
 */
export async function inflated({ bytes, isGzip }: WireBody<string>, limit: number): Promise<Buffer> {
  return checkText(isGzip ? await inflate(bytes, limit) : bytes, limit);
}

function checkText(text: Buffer, limit: number): Buffer {
  if (text.length > limit) throw tooLargeInflated(limit);
  if (!isUtf8(text)) throw new YardmasterError('INVALID_REQUEST', 'body must be valid UTF-8');
  return text;
}

const tooLargeInflated = (limit: number) =>
  new YardmasterError('TOO_LARGE', `body must be at most ${limit} bytes inflated`);

async function inflate(bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    // Stops inflating at the limit, however large a zip bomb is.
    return await inflateAll(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLargeInflated(limit);
    throw new YardmasterError('INVALID_REQUEST', 'body must be valid gzip', {}, { cause: error });
  }
}

/** Parse JSON. */
export function parseJson(text: string, what = 'body'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's message quotes the text. The caller has the text, and the log should not.
    throw new YardmasterError('INVALID_REQUEST', `${what} must be valid JSON`);
  }
}

const JSON_ONLY = ['application/json'] as const;
const NO_JSON = { value: undefined, bytes: 0 };

/**
 * Read a request's JSON body, in memory bounded by `limit` on the wire and inflated.
 *
 * @returns the parsed value and its size in bytes; undefined and 0 when there is no body at all
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST
 */
export async function readJson(req: IncomingMessage, limit: number): Promise<{ value: unknown; bytes: number }> {
  // One await for a usual body, not one for each step, because each await costs a call a promise.
  const wire = isAbsent(req) ? null : wireBodyOf(req, await readBytes(req, limit), JSON_ONLY);
  if (wire === null) return NO_JSON;
  const text = wire.isGzip ? await inflated(wire, limit) : checkText(wire.bytes, limit);
  return text.length === 0 ? NO_JSON : { value: parseJson(text.toString()), bytes: text.length };
}
