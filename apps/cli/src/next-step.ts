import { CLOSE_CODES } from '@yardmaster/protocol';
import type { Ending } from './connection.js';

/** What a watch must do after a connection has ended. */
export type NextStep =
  /** The connection is lost, the stream is not. */
  | { kind: 'again'; reason: string; notBeforeMs: number }
  /** Nothing more will come. */
  | { kind: 'over' }
  /** A new connection would be refused the same way again. */
  | { kind: 'refused'; sentence: string };

/** HTTP statuses of refusals that may pass: too much at once, and servers that are away or overloaded. */
export const PASSING_STATUSES = new Set([429, 502, 503, 504]);

/** Close codes after which the watch connects again, with the reason to show when the close frame has none. */
const PASSING_CODES: Record<number, string> = {
  [CLOSE_CODES.goingAway]: 'server is stopping',
  [CLOSE_CODES.interrupted]: 'messages may be missing',
  [CLOSE_CODES.tooSlow]: 'client reads too slowly',
  // Codes of RFC 6455: no code in the close frame, which some proxies leave out; a broken connection; a server error.
  1005: 'closed without a reason',
  1006: 'connection broken',
  1011: 'error of the server',
};

/** Decide what to do after the end of a connection. */
export function nextStepOf(ending: Ending): NextStep {
  if (ending.kind === 'refused') {
    const { status, sentence, notBeforeMs } = ending;
    return PASSING_STATUSES.has(status)
      ? { kind: 'again', reason: sentence, notBeforeMs }
      : { kind: 'refused', sentence };
  }
  const { code, reason } = ending;
  if (code === CLOSE_CODES.ended) return { kind: 'over' };
  const passing = PASSING_CODES[code];
  if (passing !== undefined) return { kind: 'again', reason: reason || passing, notBeforeMs: 0 };
  return { kind: 'refused', sentence: reason || `the stream was closed with code ${code}` };
}
