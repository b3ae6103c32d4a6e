import { setFlagsFromString } from 'node:v8';
import type { Logger } from './logger.js';
import type { Service } from './service.js';

/** Signals within this time after the first are ignored, milliseconds. */
const SAME_SIGNAL_MS = 1_000;

export interface RunOptions {
  log: Logger;
  /** How long the process may take to shut down, milliseconds. Open work is cut off after half of it. */
  stopWithinMs: number;
}

/**
 * Run a service as this process: start it, stop it on SIGTERM, SIGINT or SIGHUP, and exit with 0. A second signal, or a
 * shutdown that takes too long, exits with 1 immediately.
 */
export async function runProcess(service: Service, { log, stopWithinMs }: RunOptions): Promise<void> {
  // With pretenuring, V8 may learn from a burst that the objects of a request live long. It then allocates them in the old
  // space, where only a full collection frees them, which costs 30 to 70 MB of memory (docs/decisions/011).
  setFlagsFromString('--no-allocation-site-pretenuring');
  let stoppingSince = Number.POSITIVE_INFINITY;
  const stop = async (signal: NodeJS.Signals) => {
    // Under npm, a single Ctrl-C arrives twice: from the terminal and from npm.
    if (performance.now() - stoppingSince > SAME_SIGNAL_MS) {
      log.warn({ signal }, 'second signal, exiting immediately');
      process.exit(1);
    }
    if (stoppingSince < Number.POSITIVE_INFINITY) return;
    stoppingSince = performance.now();
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error({ stopWithinMs }, 'shutdown took too long, exiting');
      process.exit(1);
    }, stopWithinMs).unref();
    try {
      await service.stop(stopWithinMs / 2);
      log.info('stopped');
      process.exit(0);
    } catch (err) {
      log.error({ err }, 'shutdown failed');
      process.exit(1);
    }
  };
  // SIGHUP: the terminal was closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  try {
    await service.start();
  } catch (error) {
    // A signal interrupted the start; `stop` exits once the open work is done.
    if (stoppingSince === Number.POSITIVE_INFINITY) throw error;
  }
}
