import { setFlagsFromString } from 'node:v8';
import type { Logger } from './logger.js';
import type { Service } from './service.js';

/** Signals that come this soon after the first count as the first, milliseconds. */
const SAME_SIGNAL_MS = 1_000;

export interface RunOptions {
  log: Logger;
  /** How long the process may take to end, milliseconds. Open work is cut off after half of it. */
  stopWithinMs: number;
}

/**
 * Run a service as this process: start it, stop it on SIGTERM, SIGINT or SIGHUP, exit 0. A second signal, or a stop
 * that takes too long, exits 1 at once.
 */
export async function runProcess(service: Service, { log, stopWithinMs }: RunOptions): Promise<void> {
  // With pretenuring, V8 may learn from a burst that the objects of a request live long. It then makes them among the
  // old objects, where only a full collection frees them, and memory grows by 30 to 70 MB more (docs/decisions/011).
  setFlagsFromString('--no-allocation-site-pretenuring');
  let stoppingSince = Number.POSITIVE_INFINITY;
  const stop = async (signal: NodeJS.Signals) => {
    // One Ctrl-C under npm arrives twice: from the terminal, and passed on by npm.
    if (performance.now() - stoppingSince > SAME_SIGNAL_MS) {
      log.warn({ signal }, 'second signal, exiting at once');
      process.exit(1);
    }
    if (stoppingSince < Number.POSITIVE_INFINITY) return;
    stoppingSince = performance.now();
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error({ stopWithinMs }, 'stop took too long, exiting');
      process.exit(1);
    }, stopWithinMs).unref();
    try {
      await service.stop(stopWithinMs / 2);
      log.info('stopped');
      process.exit(0);
    } catch (err) {
      log.error({ err }, 'stop failed');
      process.exit(1);
    }
  };
  // SIGHUP: the terminal is gone.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  try {
    await service.start();
  } catch (error) {
    // A signal stopped the start: `stop` ends the process once the open work is done.
    if (stoppingSince === Number.POSITIVE_INFINITY) throw error;
  }
}
