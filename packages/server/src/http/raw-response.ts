import { randomUUID } from 'node:crypto';
import { type OutgoingHttpHeaders, STATUS_CODES } from 'node:http';
import type { YardmasterError } from '@yardmaster/protocol';
import { COMMON, errorBody, headersOf } from './response.js';

export interface RawResponseOptions {
  /** Status line to send instead of the error's own status. */
  status?: number;
  headers?: OutgoingHttpHeaders;
  requestId?: string;
}

/**
 * Write an error as the text of a whole HTTP response, for sockets that have no response object: for input that could
 * not be parsed, and for refused upgrades. The connection ends with it.
 */
export function rawResponse(error: YardmasterError, options: RawResponseOptions = {}): string {
  const { status = error.status, headers = {}, requestId = randomUUID() } = options;
  const body = JSON.stringify(errorBody(error));
  const all = {
    ...COMMON,
    ...headersOf(error),
    ...headers,
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
