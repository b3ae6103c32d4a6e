import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from './backoff.js';
import { type ConnectionOptions, connect } from './connection.js';
import { type NextStep, nextStepOf } from './next-step.js';

export interface FollowOptions extends ConnectionOptions {
  /** Called when the connection was lost or could not be made. */
  onLost: (reason: string) => void;
}

/** How a stream ended for good: by itself, refused, or because the signal was aborted. */
export type End = Exclude<NextStep, { kind: 'again' }> | { kind: 'stopped' };

/**
 * Follow a stream over all its connections.
 *
 *   connected ── lost: pause, longer each time ──▶ connected …
 *       └─────── over, refused or stopped ──▶ returns
 *
 * Each connection begins with an init, which shows the current state. What happened in between is not repeated.
 */
export async function follow(options: FollowOptions): Promise<End> {
  const { signal, onLost } = options;
  for (let failures = 0; ; ) {
    const ending = await connect(options);
    if (signal.aborted) return { kind: 'stopped' };
    const verdict = nextStepOf(ending);
    if (verdict.kind !== 'again') return verdict;
    failures = ending.kind === 'closed' && ending.wasGood ? 1 : failures + 1;
    onLost(verdict.reason);
    // The jitter is added, because clients that got the same time would otherwise all come back together.
    await delay(verdict.notBeforeMs + backoffMs(failures), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return { kind: 'stopped' };
  }
}
