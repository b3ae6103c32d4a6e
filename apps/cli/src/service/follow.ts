import { setTimeout as delay } from 'node:timers/promises';
import { CLOSE_CODES } from '@yardmaster/protocol';
import { type ConnectionOptions, connect, type Ending } from './connection.js';
import { backoffMs, PASSING_STATUSES } from './connectivity.js';

export interface FollowOptions extends Omit<ConnectionOptions, 'url'> {
  /** Returns the address of the next connection. */
  urlOf: () => URL;
  /** Called when the connection was lost or could not be made. */
  onLost: (reason: string) => void;
}

/** How a stream ended for good: on its own, refused, or because the signal was aborted. */
export type End = Exclude<NextStep, { kind: 'reconnect' }> | { kind: 'stopped' };

/**
 * Follow a stream over all its connections.
 *
 *   connected ── lost: pause, longer each time ──▶ connected …
 *       └─────── ended, refused or stopped ──▶ returns
 *
 * Each connection begins with an init, which shows the current state. Its address may ask for the events in between.
 */
export async function follow(options: FollowOptions): Promise<End> {
  const { signal, onLost, urlOf } = options;
  for (let failures = 0; ; ) {
    const ending = await connect({ ...options, url: urlOf() });
    if (signal.aborted) return { kind: 'stopped' };
    const next = nextStepOf(ending);
    if (next.kind !== 'reconnect') return next;
    failures = ending.kind === 'closed' && ending.wasStable ? 1 : failures + 1;
    onLost(next.reason);
    // The jitter is added, because clients that got the same time would otherwise all return together.
    await delay(next.notBeforeMs + backoffMs(failures), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return { kind: 'stopped' };
  }
}

/** Next step of a client after a connection has ended. */
export type NextStep =
  /** The connection is lost, the stream is not. */
  | { kind: 'reconnect'; reason: string; notBeforeMs: number }
  /** No message will follow. */
  | { kind: 'ended' }
  /** A new connection would be refused the same way again. */
  | { kind: 'refused'; sentence: string };

/** Close codes after which a client connects again, with the reason to show when the close frame has none. */
const PASSING_CODES: Record<number, string> = {
  [CLOSE_CODES.goingAway]: 'the server is stopping',
  [CLOSE_CODES.interrupted]: 'messages may be missing',
  [CLOSE_CODES.tooSlow]: 'this client reads too slowly',
  // Codes of RFC 6455: no code in the close frame, which some proxies leave out; a broken connection; a server error.
  1005: 'closed without a reason',
  1006: 'the connection broke',
  1011: 'server error',
};

const TOKEN_EXPIRED = 'the stream token has expired; get another one, and watch again';

/** Decide what to do after the end of a connection. */
export function nextStepOf(ending: Ending): NextStep {
  if (ending.kind === 'refused') {
    const { status, sentence, notBeforeMs } = ending;
    return PASSING_STATUSES.has(status)
      ? { kind: 'reconnect', reason: sentence, notBeforeMs }
      : { kind: 'refused', sentence };
  }
  const { code, reason } = ending;
  if (code === CLOSE_CODES.ended) return { kind: 'ended' };
  const passing = PASSING_CODES[code];
  if (passing !== undefined) return { kind: 'reconnect', reason: reason || passing, notBeforeMs: 0 };
  if (code === CLOSE_CODES.tokenExpired) return { kind: 'refused', sentence: TOKEN_EXPIRED };
  return { kind: 'refused', sentence: reason || `the stream was closed with code ${code}` };
}
