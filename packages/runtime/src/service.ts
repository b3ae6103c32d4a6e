import { setFlagsFromString } from 'node:v8';
import type { Logger } from './logger.js';

/** A long-lived part of a process. */
export interface Service {
  /** Name in the log. */
  name: string;
  /** Start; resolves when the service serves. A failure leaves nothing behind. */
  start(): Promise<void>;
  /** Take no new work and finish what is open; resolves when all is released. Safe after a failed start. */
  stop(): Promise<void>;
}

/** Signals that come this soon after the first count as the first. */
const ONE_KEYSTROKE_MS = 1_000;

export interface RunOptions {
  log: Logger;
  /** How long `stop` may take before the process ends anyway, in milliseconds. */
  stopWithinMs: number;
}

/**
 * Run a service as this process: start it, stop it on SIGTERM, SIGINT or SIGHUP, exit 0. A second signal, or a stop
 * that takes too long, exits 1 at once.
 */
export async function runProcess(service: Service, { log, stopWithinMs }: RunOptions): Promise<void> {
  // With pretenuring, V8 may learn from a burst that the objects of a request live long. From then on it makes them among the
  // old objects, where only a full collection frees them, and memory grows by 30 to 70 MB more (docs/decisions/011).
  setFlagsFromString('--no-allocation-site-pretenuring');
  let stoppingSince = Number.POSITIVE_INFINITY;
  const stop = async (signal: NodeJS.Signals) => {
    // One Ctrl-C under npm arrives twice: from the terminal, and passed on by npm.
    if (performance.now() - stoppingSince > ONE_KEYSTROKE_MS) {
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
      await service.stop();
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
    // Stopped while it started: `stop` ends the process once what is open is done.
    if (stoppingSince === Number.POSITIVE_INFINITY) throw error;
  }
}
