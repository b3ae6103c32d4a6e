import { type Config, compose, type Logger, type Service } from '@yardmaster/runtime';
import type { Background, ServerContext } from '@yardmaster/server';
import { backlogMetrics, type METRICS_VARIABLES } from './backlog-metrics.js';
import { createBullMq } from './bullmq.js';
import { createAgents } from './callbacks/agents.js';
import { attemptCallback } from './callbacks/attempt.js';
import { CallbackDispatcher } from './callbacks/dispatcher.js';
import { createResolver } from './callbacks/dns-lookup.js';
import { createRelay } from './callbacks/relay.js';
import { checkGuard } from './callbacks/ssrf-guard.js';
import { createWakeups, type Wakeups } from './callbacks/wakeups.js';
import { createSweeper } from './deadlines/sweeper.js';
import { createTicks } from './deadlines/ticks.js';
import { createKeyRemoval } from './key-removal.js';
import { type CallbackMetrics, callbackMetrics } from './metrics.js';

/** Variables that callbacks read. */
export const CALLBACK_VARIABLES = [
  'CALLBACK_SIGNING_SECRET',
  'CALLBACK_RETRY_DELAYS',
  'CALLBACK_ALLOW_PRIVATE',
  'CALLBACK_DNS_SERVERS',
  'CALLBACKS_PER_HOST',
] as const;

/** A process is not live once its sweeps have made no progress for this long. */
const DEAD_AFTER_MS = 30_000;

export interface BackgroundOptions {
  context: ServerContext;
  config: Config<(typeof CALLBACK_VARIABLES | typeof METRICS_VARIABLES)[number]> & { REDIS_URL: string };
  log: Logger;
}

/**
 * Create the background work of a scheduler: timeouts, retention, callbacks, and the removal of expired API keys. Any
 * number of processes may run it at once.
 *
 * @throws ConfigError when callbacks could reach addresses that are not public
 */
export function createBackground({ context, config, log }: BackgroundOptions): Background {
  checkGuard();
  const { store, subscriptions } = context;
  const sweeper = createSweeper(context, log);
  const metrics = callbackMetrics(context.metrics);
  backlogMetrics(context, config);
  let services: Service | undefined;
  return {
    name: 'background',
    isLive: () => sweeper.idleMs() < DEAD_AFTER_MS,
    isReady: sweeper.isReady,
    async start() {
      const bullMq = createBullMq(config.REDIS_URL, context, log);
      const wakeups = createWakeups(bullMq, (callback) => dispatcher.dispatch(callback));
      const dispatcher = createDispatcher({ context, config, log }, metrics, wakeups);
      const relay = createRelay({ store, subscriptions, dispatcher, log });
      // They start in this order. They stop in the opposite order, those of one line at the same time.
      services = compose('background', [
        [bullMq],
        [dispatcher],
        [wakeups, createTicks(bullMq, sweeper)],
        [relay, createKeyRemoval(store, log)],
      ]);
      sweeper.onCallbacksPending(relay.wake);
      await services.start();
    },
    async stop(withinMs) {
      // The wait is limited, because BullMQ waits for Redis while Redis is unavailable.
      await services?.stop(withinMs).catch((err) => log.warn({ withinMs, err }, 'background work did not end in time'));
    },
  };
}

/** Create the dispatcher with all that an attempt at a callback needs. */
function createDispatcher(
  { context: { store }, config, log }: BackgroundOptions,
  metrics: CallbackMetrics,
  wakeups: Wakeups,
): CallbackDispatcher {
  const options = {
    store,
    agents: createAgents({
      resolve: createResolver(config.CALLBACK_DNS_SERVERS),
      allowPrivate: config.CALLBACK_ALLOW_PRIVATE ?? false,
    }),
    masterSecrets: config.CALLBACK_SIGNING_SECRET ?? [],
    delays: config.CALLBACK_RETRY_DELAYS,
    metrics,
  };
  return new CallbackDispatcher({
    attempt: (callback) => attemptCallback(callback, options),
    postpone: wakeups.schedule,
    perHost: config.CALLBACKS_PER_HOST,
    log,
  });
}
