import { type Config, compose, type Logger, type Service } from '@yardmaster/runtime';
import { type Background, CALLBACK_SECRET_VARIABLES, type ServerContext } from '@yardmaster/server';
import { finishRevocations, type PendingCallback, removeExpiredKeys } from '@yardmaster/store';
import { createBullMq } from './bullmq.js';
import { type AttemptOptions, attemptCallback } from './callbacks/attempt.js';
import { CallbackDispatcher } from './callbacks/dispatcher.js';
import { createResolver } from './callbacks/dns-lookup.js';
import { createRelay } from './callbacks/relay.js';
import { checkGuard, createAgents } from './callbacks/ssrf-guard.js';
import { createSweeper } from './deadlines/sweeper.js';
import { backlogMetrics, callbackMetrics, type METRICS_VARIABLES } from './metrics.js';
import { createTicks, type RepeatedWork } from './ticks.js';

export const CALLBACK_VARIABLES = [
  ...CALLBACK_SECRET_VARIABLES,
  'CALLBACK_RETRY_DELAYS',
  'CALLBACK_ALLOW_PRIVATE',
  'CALLBACK_DNS_SERVERS',
  'CALLBACKS_PER_HOST',
] as const;

/** Time between two sweeps. The first sweep after a deadline processes it. */
const SWEEP_EVERY_MS = 500;

/** How long a process goes without ticks before it sweeps on its own, because timeouts may be at most 2 s late. */
const OWN_SWEEP_AFTER_MS = 1_000;

/** How long sweeps may make no progress before the process is no longer live. */
const DEAD_AFTER_MS = 30_000;

export interface BackgroundOptions {
  context: ServerContext;
  config: Config<(typeof CALLBACK_VARIABLES | typeof METRICS_VARIABLES)[number]> & { REDIS_URL: string };
  log: Logger;
}

/**
 * Create the background work of a scheduler: timeouts, retention, callbacks, and the removal of expired API keys. Any
 * number of processes can run it at the same time.
 *
 * @throws ConfigError if callbacks could reach non-public addresses
 */
export function createBackground({ context, config, log }: BackgroundOptions): Background {
  checkGuard();
  const { store, subscriptions } = context;
  const sweeper = createSweeper(context, log);
  const options: AttemptOptions = {
    store,
    agents: createAgents({
      resolve: createResolver(config.CALLBACK_DNS_SERVERS),
      allowPrivate: config.CALLBACK_ALLOW_PRIVATE ?? false,
    }),
    masterSecrets: context.callbackMasters,
    delays: config.CALLBACK_RETRY_DELAYS,
    metrics: callbackMetrics(context.metrics),
  };
  const attempt = (callback: PendingCallback) => attemptCallback(callback, options);
  const works: RepeatedWork[] = [
    { name: 'sweep', everyMs: SWEEP_EVERY_MS, run: sweeper.runOnce, withoutTicksAfterMs: OWN_SWEEP_AFTER_MS },
    { name: 'remove-expired-keys', everyMs: 3_600_000, run: removeKeys },
  ];
  backlogMetrics(context, config);

  async function removeKeys(): Promise<void> {
    try {
      await finishRevocations(store);
      const removed = await removeExpiredKeys(store);
      if (removed > 0) log.info({ removed }, 'expired API keys removed');
    } catch (err) {
      log.warn({ err }, 'expired API keys not removed'); // The next run, an hour later, removes them.
    }
  }

  let services: Service | undefined;
  return {
    name: 'background',
    isLive: () => sweeper.idleMs() < DEAD_AFTER_MS,
    isReady: sweeper.isReady,
    async start() {
      const bullMq = createBullMq(config.REDIS_URL, context, log);
      const dispatcher = new CallbackDispatcher({ bullMq, attempt, perHost: config.CALLBACKS_PER_HOST, log });
      const relay = createRelay({ store, subscriptions, dispatcher, log });
      // Started in this order, and stopped in reverse order, group by group.
      services = compose('background', [[bullMq], [dispatcher, createTicks(bullMq, works)], [relay]]);
      sweeper.onCallbacksPending(relay.wake);
      await services.start();
    },
    async stop(withinMs) {
      // The wait is limited: while Redis is unavailable, BullMQ waits for it.
      await services
        ?.stop(withinMs)
        .catch((err) => log.warn({ withinMs, err }, 'background work did not stop in time'));
    },
  };
}
