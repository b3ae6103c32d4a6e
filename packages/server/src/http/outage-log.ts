import type { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';

/** Log one line per second and error code, however many requests fail, because an outage must not fill the disk. */
const EVERY_MS = 1_000;

/** Create a function that logs requests with a 503; each line counts the similar ones since the line before. */
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
