import { type Backend, type Duties, within } from '@yardmaster/backend';
import type { Config, Logger } from '@yardmaster/runtime';
import { createBull } from './bull.js';
import { checkGuard } from './callbacks/addresses.js';
import { type CALLBACK_VARIABLES, createCallbacks } from './callbacks/callbacks.js';
import { createKeyRemoval } from './expired-keys.js';
import { backlogMetrics, type METRICS_VARIABLES } from './metrics/backlog-metrics.js';
import { callbackMetrics } from './metrics/callback-metrics.js';
import { createSweeper } from './sweeper.js';
import { createTicks } from './ticks.js';

/** A process that has not swept for so long does not do its work. */
const DEAD_AFTER_MS = 30_000;

export interface DutiesOptions {
  backend: Backend;
  config: Config<(typeof CALLBACK_VARIABLES | typeof METRICS_VARIABLES)[number]> & { REDIS_URL: string };
  log: Logger;
}

/**
 * Make what a scheduler does: time-outs, retention, callbacks. Any number of processes may do it at once.
 *
 * @throws ConfigError when callbacks could reach addresses that are not public
 */
export function createDuties({ backend, config, log }: DutiesOptions): Duties {
  checkGuard();
  const sweeper = createSweeper(backend, log);
  const metrics = callbackMetrics(backend.metrics);
  const keyRemoval = createKeyRemoval(backend, log);
  backlogMetrics(backend, config);
  let stop: (withinMs: number) => Promise<void> = async () => undefined;
  return {
    isLive: () => sweeper.idleMs() < DEAD_AFTER_MS,
    isReady: sweeper.hasSettled,
    async start() {
      const bull = createBull(config.REDIS_URL, backend, log);
      const callbacks = createCallbacks({ backend, bull, config, log, metrics });
      const ticks = createTicks(bull, sweeper);
      sweeper.onOwed(callbacks.wake);
      callbacks.start();
      ticks.start();
      keyRemoval.start();
      stop = async (withinMs) => {
        keyRemoval.stop();
        // While Redis is away, BullMQ would wait for it.
        const inOrder = Promise.all([ticks.stop(), callbacks.stop()]);
        await within(withinMs, inOrder).catch(() => log.warn({ withinMs }, 'duties did not end in time'));
        bull.close();
      };
    },
    stop: (withinMs) => stop(withinMs),
  };
}
