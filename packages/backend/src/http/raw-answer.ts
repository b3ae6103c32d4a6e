import { randomUUID } from 'node:crypto';
import { type OutgoingHttpHeaders, STATUS_CODES } from 'node:http';
import type { YardmasterError } from '@yardmaster/protocol';
import { COMMON, errorBody, headersOf } from './answer.js';

export interface RawAnswerOptions {
  /** Status line to send instead of the error's own status. */
  status?: number;
  headers?: OutgoingHttpHeaders;
  requestId?: string;
}

/**
 * An error as the text of a whole HTTP answer, for sockets that have no response object: what could not be parsed,
 * and upgrades that are refused. The connection ends with it.
 */
export function rawAnswer(error: YardmasterError, options: RawAnswerOptions = {}): string {
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
