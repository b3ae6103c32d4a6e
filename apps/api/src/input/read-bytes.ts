import type { IncomingMessage } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';

/** Whether a request has no body, by its headers. */
export const hasNoBody = (req: IncomingMessage) =>
  req.headers['transfer-encoding'] === undefined && (req.headers['content-length'] ?? '0') === '0';

/** Most chunks before they are joined; a usual body has one chunk. */
const MAX_CHUNKS = 1_024;

/** A higher limit, which only lists have. */
export interface ListLimit {
  limit: number;
  /** Whether no body of the endpoint has the usual limit. */
  isForAll: boolean;
  /** Decide by what has arrived whether the higher limit holds. @throws TOO_LARGE, OVERLOADED */
  admit(begin: Buffer): Promise<void>;
}

/**
 * Collect a body. This is written by hand, because a library's promise, checks and listeners double the cost of Node's
 * own part.
 */
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
      // A buffer for each byte would take 400 times the memory of a body of such chunks.
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
    // The client has disconnected and reads no response, but this is not a bug that must be logged.
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
    // A body whose stated length is too large is refused without being read; `sendText` then reads and drops it.
    if (stated > Math.max(limit, more?.limit ?? 0)) {
      return fail(more?.isForAll === true ? tooLarge(more.limit) : tooLarge(limit, more?.limit));
    }
    // The client disconnected, and 'close' was emitted, before this function was called.
    if (req.destroyed) return onClose();
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('close', onClose);
  });
}

/** Refusal of a body on the wire. @param ofLists limit for a body that may be a list */
export function tooLarge(limit: number, ofLists?: number) {
  const more = ofLists === undefined ? '' : `, or ${ofLists} bytes for a list`;
  return new YardmasterError('TOO_LARGE', `body must be at most ${limit} bytes${more}`);
}
