import { CLOSE_CODES } from '@yardmaster/protocol';
import type { Ending } from './connection.js';

/** What a connection's end means for the watch. */
export type Verdict =
  /** The connection is lost, the stream is not. */
  | { kind: 'again'; reason: string; notBeforeMs: number }
  /** Nothing more will come. */
  | { kind: 'over' }
  /** It would be refused the same way again. */
  | { kind: 'refused'; sentence: string };

/** Answers that a later attempt may not get: too much at once, and servers that are away or overloaded. */
export const PASSING_STATUSES = new Set([429, 502, 503, 504]);

/** Why a connection ended, where its close frame does not say. */
const PASSING_CODES: Record<number, string> = {
  [CLOSE_CODES.goingAway]: 'server is stopping',
  [CLOSE_CODES.interrupted]: 'messages may be missing',
  [CLOSE_CODES.tooSlow]: 'client reads too slowly',
  // Of RFC 6455: no code in the close frame, which some proxies leave out; broken; an error of the server.
  1005: 'closed without a reason',
  1006: 'connection broken',
  1011: 'error of the server',
};

/** Tell what the end of a connection means. */
export function verdictOf(ending: Ending): Verdict {
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
