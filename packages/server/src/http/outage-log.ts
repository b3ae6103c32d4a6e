import type { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';

/** Minimum time between two lines for the same error code, milliseconds, so that an outage doesn't fill the disk. */
const EVERY_MS = 1_000;

/** Create a function that logs requests with a 503. Each line counts the similar requests since the previous line. */
export function createOutageLog(log: Logger): (error: YardmasterError, ids: object) => void {
  const last = new Map<string, { at: number; notLogged: number }>();
  return (error, ids) => {
    const before = last.get(error.code) ?? { at: Number.NEGATIVE_INFINITY, notLogged: 0 };
    const now = performance.now();
    if (now - before.at < EVERY_MS) {
      before.notLogged++;
      return;
    }
    const reason = error.cause instanceof Error ? error.cause.message : undefined;
    log.warn({ ...ids, reason, similar: before.notLogged }, 'request not served');
    last.set(error.code, { at: now, notLogged: 0 });
  };
}
