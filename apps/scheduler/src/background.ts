import type { Config, Logger } from '@yardmaster/runtime';
import { type Background, type ServerContext, within } from '@yardmaster/server';
import { backlogMetrics, type METRICS_VARIABLES } from './backlog-metrics.js';
import { createBullMq } from './bullmq.js';
import { type CALLBACK_VARIABLES, createCallbacks } from './callbacks/callbacks.js';
import { callbackMetrics } from './callbacks/metrics.js';
import { checkGuard } from './callbacks/ssrf-guard.js';
import { createSweeper } from './deadlines/sweeper.js';
import { createTicks } from './deadlines/ticks.js';
import { createKeyRemoval } from './expired-keys.js';

/** A process is not live once it has not swept for this long. */
const DEAD_AFTER_MS = 30_000;

export interface BackgroundOptions {
  context: ServerContext;
  config: Config<(typeof CALLBACK_VARIABLES | typeof METRICS_VARIABLES)[number]> & { REDIS_URL: string };
  log: Logger;
}

/**
 * Create the background work of a scheduler: time-outs, retention and callbacks. Any number of processes may run it at
 * once.
 *
 * @throws ConfigError when callbacks could reach addresses that are not public
 */
export function createBackground({ context, config, log }: BackgroundOptions): Background {
  checkGuard();
  const sweeper = createSweeper(context, log);
  const metrics = callbackMetrics(context.metrics);
  const keyRemoval = createKeyRemoval(context, log);
  backlogMetrics(context, config);
  let stop: (withinMs: number) => Promise<void> = async () => undefined;
  return {
    isLive: () => sweeper.idleMs() < DEAD_AFTER_MS,
    isReady: sweeper.hasSettled,
    async start() {
      const bullMq = createBullMq(config.REDIS_URL, context, log);
      const callbacks = createCallbacks({ context, bullMq, config, log, metrics });
      const ticks = createTicks(bullMq, sweeper);
      sweeper.onCallbacksPending(callbacks.wake);
      callbacks.start();
      ticks.start();
      keyRemoval.start();
      stop = async (withinMs) => {
        keyRemoval.stop();
        // The wait is limited, because BullMQ waits for Redis while Redis is unavailable.
        const inOrder = Promise.all([ticks.stop(), callbacks.stop()]);
        await within(withinMs, inOrder).catch(() => log.warn({ withinMs }, 'duties did not end in time'));
        bullMq.close();
      };
    },
    stop: (withinMs) => stop(withinMs),
  };
}
