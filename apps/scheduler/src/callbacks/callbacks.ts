import type { Config, Logger } from '@yardmaster/runtime';
import type { ServerContext } from '@yardmaster/server';
import { PARTITION_TAGS } from '@yardmaster/store';
import type { BullMq } from '../bullmq.js';
import { createAgents } from './agents.js';
import { attemptCallback } from './attempt.js';
import { CallbackDispatcher } from './dispatcher.js';
import { createResolve } from './dns-lookup.js';
import type { CallbackMetrics } from './metrics.js';
import { createRelay } from './relay.js';
import { createWakeups } from './wakeups.js';

/** Variables that callbacks read. */
export const CALLBACK_VARIABLES = [
  'CALLBACK_SIGNING_SECRET',
  'CALLBACK_RETRY_DELAYS',
  'CALLBACK_ALLOW_PRIVATE',
  'CALLBACK_DNS_SERVERS',
  'CALLBACKS_PER_HOST',
] as const;

export interface CallbacksOptions {
  context: ServerContext;
  bullMq: BullMq;
  config: Config<(typeof CALLBACK_VARIABLES)[number]>;
  log: Logger;
  metrics: CallbackMetrics;
}

/**
 * Create the services that send callbacks. The path of a callback: pending in Redis → relay → wake-up → dispatcher,
 * where it waits in the queue of its host → POST → outcome recorded → settled, or a wake-up for the next attempt.
 */
export function createCallbacks({ context, bullMq, config, log, metrics }: CallbacksOptions) {
  const { store, subscriptions } = context;
  const agents = createAgents({
    resolve: createResolve(config.CALLBACK_DNS_SERVERS),
    allowPrivate: config.CALLBACK_ALLOW_PRIVATE ?? false,
  });
  const delivery = {
    store,
    agents,
    masters: config.CALLBACK_SIGNING_SECRET ?? [],
    delays: config.CALLBACK_RETRY_DELAYS,
    metrics,
  };
  const wakeups = createWakeups(bullMq);
  const dispatcher = new CallbackDispatcher({
    store,
    log,
    attempt: (callback) => attemptCallback(callback, delivery),
    postpone: wakeups.schedule,
    perHost: config.CALLBACKS_PER_HOST,
  });
  const relay = createRelay({ store, wakeups, dispatcher, log });
  const channels = PARTITION_TAGS.map((tag) => [tag, store.keys.pendingChannel(tag)] as const);

  return {
    /** Wake the relay for a partition that has pending callbacks. */
    wake: relay.wake,
    start(): void {
      wakeups.start(dispatcher);
      const nothing = () => undefined; // The next sweep finds the callbacks whose message was missed.
      for (const [tag, channel] of channels) {
        subscriptions.add(channel, { message: () => relay.wake(tag), lost: nothing, subscribed: nothing });
      }
    },
    async stop(): Promise<void> {
      for (const [, channel] of channels) subscriptions.remove(channel);
      await wakeups.stop();
      await dispatcher.close();
      await wakeups.close();
    },
  };
}
