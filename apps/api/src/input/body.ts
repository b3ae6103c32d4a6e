import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { YardmasterError } from '@yardmaster/protocol';
import { wantBody } from '@yardmaster/server';

const inflateAll = promisify(gunzip);

/** A body as received. */
export interface RawBody<T extends string> {
  bytes: Buffer;
  type: T;
  isGzip: boolean;
}

/**
 * Read a request's body from the connection, in memory bounded by `limit`.
 *
 * @param types accepted content types
 * @returns null if the body is absent or empty
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST
 */
export async function readRawBody<T extends string>(
  req: IncomingMessage,
  { types, limit }: { types: readonly T[]; limit: number },
): Promise<RawBody<T> | null> {
  return hasNoBody(req) ? null : rawBodyOf(req, await readBytes(req, limit), types);
}

export function rawBodyOf<T extends string>(
  req: IncomingMessage,
  bytes: Buffer,
  types: readonly T[],
): RawBody<T> | null {
  if (bytes.length === 0) return null; // A chunked body without chunks.
  const type = contentTypeOf(req.headers['content-type'], types);
  return { bytes, type, isGzip: isGzipped(req.headers['content-encoding']) };
}

/** Return whether a body is compressed. @throws UNSUPPORTED_MEDIA_TYPE for a coding other than gzip, or several codings */
function isGzipped(header: string | undefined): boolean {
  if (header === undefined) return false;
  const names = header.split(',').map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== '' && name !== 'identity').join();
  if (codings === '') return false;
  // RFC 9110 §8.4.1.3: x-gzip is another name for gzip.
  if (codings === 'gzip' || codings === 'x-gzip') return true;
  const headers = { 'accept-encoding': 'gzip' };
  throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be gzip or identity', {}, { headers });
}

/**
 * Return the UTF-8 text of a body, decompressed if necessary, in memory bounded by `limit`.
 *
 * @throws TOO_LARGE, INVALID_REQUEST
 */
export async function inflateBody({ bytes, isGzip }: RawBody<string>, limit: number): Promise<Buffer> {
  return checkUtf8(isGzip ? await gunzipBounded(bytes, limit) : bytes, limit);
}

/** Check that text is UTF-8 of at most `limit` bytes, and strip a byte order mark. @throws TOO_LARGE, INVALID_REQUEST */
export function checkUtf8(text: Buffer, limit: number): Buffer {
  if (text.length > limit) throw tooLargeInflated(limit);
  if (!isUtf8(text)) throw new YardmasterError('INVALID_REQUEST', 'body must be valid UTF-8');
  return text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? text.subarray(3) : text;
}

/** Create the error for a decompressed body that is too large. */
export const tooLargeInflated = (limit: number) =>
  new YardmasterError('TOO_LARGE', `body must be at most ${limit} bytes decompressed`);

async function gunzipBounded(bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    // Decompression stops at the limit, even for a zip bomb.
    return await inflateAll(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLargeInflated(limit);
    throw invalidGzip(error);
  }
}

/** Decompress the first kilobytes of a body. @throws INVALID_REQUEST */
export async function inflateBegin(bytes: Buffer): Promise<Buffer> {
  try {
    for await (const begin of createGunzip().end(bytes)) return begin;
  } catch (error) {
    throw invalidGzip(error);
  }
  return Buffer.alloc(0);
}

const invalidGzip = (cause: unknown) =>
  new YardmasterError('INVALID_REQUEST', 'body must be valid gzip', {}, { cause });

/** Parse JSON. @throws INVALID_REQUEST */
export function parseJson(text: string, name = 'body'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Omit V8's message: it quotes the text, which must not be logged.
    throw new YardmasterError('INVALID_REQUEST', `${name} must be valid JSON`);
  }
}

/** Content types of a JSON body. */
export const JSON_ONLY = ['application/json'] as const;

/** Result of reading an absent JSON body. */
export const NO_JSON = { value: undefined, bytes: 0 };

/**
 * Read a request's JSON body, in memory bounded by `limit` on the wire and decompressed.
 *
 * @returns the parsed value and its size in bytes; undefined and 0 without a body
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST
 */
export async function readJson(req: IncomingMessage, limit: number): Promise<{ value: unknown; bytes: number }> {
  // Await only once for a typical body, because each await creates a promise.
  const rawBody = hasNoBody(req) ? null : rawBodyOf(req, await readBytes(req, limit), JSON_ONLY);
  if (rawBody === null) return NO_JSON;
  const text = rawBody.isGzip ? await inflateBody(rawBody, limit) : checkUtf8(rawBody.bytes, limit);
  return text.length === 0 ? NO_JSON : { value: parseJson(text.toString()), bytes: text.length };
}

/**
 * Return the content type of a body.
 *
 * @param allowed accepted types, in lowercase; errors name the first two
 * @returns one of them
 * @throws UNSUPPORTED_MEDIA_TYPE for another type, or a charset other than UTF-8
 */
export function contentTypeOf<T extends string>(header: string | undefined, allowed: readonly T[]): T {
  const known = allowed.find((type) => type === header);
  if (known !== undefined) return known; // The form that almost every client sends.
  const [name = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  const type = allowed.find((one) => one === name.trim());
  if (type === undefined) {
    const rule = `Content-Type must be ${allowed.slice(0, 2).join(' or ')}`;
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', rule, {}, { headers: { accept: allowed.join(', ') } });
  }
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', 'charset must be utf-8');
  }
  return type;
}

/** Return whether a request has no body, according to its headers. */
export const hasNoBody = (req: IncomingMessage) =>
  req.headers['transfer-encoding'] === undefined && (req.headers['content-length'] ?? '0') === '0';

/** Number of chunks after which they are joined; a typical body has one chunk. */
const MAX_CHUNKS = 1_024;

/** A higher limit for bodies that are lists. */
export interface ListLimit {
  limit: number;
  /** Whether it applies to every body of the endpoint. */
  isForAll: boolean;
  /** Check, from the bytes received so far, that the higher limit applies. @throws TOO_LARGE, OVERLOADED */
  admit(begin: Buffer): Promise<void>;
}

/** Collect a body. Written by hand, because a library's promise, checks and listeners double the cost of Node's own part. */
export function readBytes(req: IncomingMessage, usualLimit: number, ofLists?: ListLimit): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const stated = Number(req.headers['content-length']);
    let limit = usualLimit;
    let more = ofLists;
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      // A body in one-byte chunks would otherwise take 400 times its size in memory.
      if (chunks.length === MAX_CHUNKS) chunks.splice(0, MAX_CHUNKS, Buffer.concat(chunks, bytes));
      if (bytes > limit || stated > limit) onTooLarge();
    };
    const onTooLarge = () => {
      if (more === undefined) return fail(tooLarge(limit));
      const { limit: raised, admit } = more;
      more = undefined;
      req.pause();
      admit(Buffer.concat(chunks, bytes)).then(() => {
        limit = raised;
        if (bytes > limit || stated > limit) fail(tooLarge(limit));
        else req.resume();
      }, fail);
    };
    const onEnd = () => {
      leave();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
    };
    // The client has disconnected and won't read the response, but this must not be logged as a bug.
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
    // A body whose Content-Length is too large is refused before it is read; `sendText` then reads and discards it.
    if (stated > Math.max(limit, more?.limit ?? 0)) {
      return fail(more?.isForAll === true ? tooLarge(more.limit) : tooLarge(limit, more?.limit));
    }
    // The client disconnected, and `close` was emitted, before this function was called.
    if (req.destroyed) return onClose();
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('close', onClose);
    wantBody(req);
  });
}

/** Create the error for a body that is too large on the wire. @param ofLists limit for lists, if the body may be one */
export function tooLarge(limit: number, ofLists?: number) {
  const more = ofLists === undefined ? '' : `, or ${ofLists} bytes for a list`;
  return new YardmasterError('TOO_LARGE', `body must be at most ${limit} bytes${more}`);
}
