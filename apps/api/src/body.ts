import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { YardmasterError } from '@yardmaster/protocol';
import getRawBody from 'raw-body';

const inflate = promisify(gunzip);

const NO_BODY = { value: undefined, bytes: 0 };

const isAbsent = (req: IncomingMessage) =>
  req.headers['transfer-encoding'] === undefined && (req.headers['content-length'] ?? '0') === '0';

function checkContentType(header: string | undefined): void {
  if (header === 'application/json') return;
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (type.trim() !== 'application/json') {
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json');
  }
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', 'charset must be utf-8');
  }
}

const tooLarge = (limit: number) => new YardmasterError('TOO_LARGE', `body must be at most ${limit} bytes`);

async function readWire(req: IncomingMessage, limit: number): Promise<Buffer> {
  try {
    return await getRawBody(req, { length: req.headers['content-length'] ?? null, limit });
  } catch (error) {
    const { type } = error as { type?: string };
    if (type === 'entity.too.large') throw tooLarge(limit);
    // Cut short or aborted: nobody is left to read this answer, but it is no bug of ours.
    throw new YardmasterError('INVALID_REQUEST', 'body ended before it was complete', {}, { cause: error });
  }
}

async function decode(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  if (encoding === 'identity') return bytes;
  try {
    // Stops inflating at the limit, whatever the bomb holds.
    return await inflate(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new YardmasterError('INVALID_REQUEST', 'body must be valid gzip', {}, { cause: error });
  }
}

/**
 * Read a request's JSON body, in memory bounded by `limit` on the wire and inflated.
 *
 * @returns the parsed value and its size in bytes; undefined and 0 when there is no body at all
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST
 */
export async function readJson(req: IncomingMessage, limit: number): Promise<{ value: unknown; bytes: number }> {
  if (isAbsent(req)) return NO_BODY;
  const wire = await readWire(req, limit);
  if (wire.length === 0) return NO_BODY; // A chunked body of no chunks.
  checkContentType(req.headers['content-type']);
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new YardmasterError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be gzip or identity');
  }

  const body = await decode(wire, encoding, limit);
  if (body.length === 0) return NO_BODY;
  if (!isUtf8(body)) throw new YardmasterError('INVALID_REQUEST', 'body must be valid UTF-8');
  try {
    return { value: JSON.parse(body.toString()), bytes: body.length };
  } catch {
    // V8's message quotes the body; the caller has it, and the log should not.
    throw new YardmasterError('INVALID_REQUEST', 'body must be valid JSON');
  }
}
