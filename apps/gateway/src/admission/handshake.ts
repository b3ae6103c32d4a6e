import type { IncomingMessage } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';

/** 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/**
 * Check the headers with which a client opens a WebSocket.
 *
 * The library would refuse invalid headers with a response of its own.
 *
 * @throws UPGRADE_REQUIRED for any version but 13, INVALID_REQUEST
 * @see RFC 6455 §4.2.1
 */
export function checkHandshake({ headers }: IncomingMessage): void {
  const version = headers['sec-websocket-version'];
  if (version !== '13') throw new YardmasterError('UPGRADE_REQUIRED', 'Sec-WebSocket-Version must be 13');
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) {
    throw new YardmasterError('INVALID_REQUEST', 'Sec-WebSocket-Key must be 16 bytes in base64');
  }
}
