import type { Backend } from '@yardmaster/backend';
import type { Config, Logger } from '@yardmaster/runtime';
import { PARTITION_TAGS } from '@yardmaster/store';
import type { Bull } from '../bull.js';
import type { CallbackMetrics } from '../metrics/callback-metrics.js';
import { createAgents } from './agents.js';
import { createAlarms } from './alarms.js';
import { deliver } from './deliver.js';
import { Desk } from './desk.js';
import { createResolve } from './lookup.js';
import { createRelay } from './relay.js';

/** Variables that callbacks read. */
export const CALLBACK_VARIABLES = [
  'CALLBACK_SIGNING_SECRET',
  'CALLBACK_RETRY_DELAYS',
  'CALLBACK_ALLOW_PRIVATE',
  'CALLBACK_DNS_SERVERS',
  'CALLBACKS_PER_HOST',
] as const;

export interface CallbacksOptions {
  backend: Backend;
  bull: Bull;
  config: Config<(typeof CALLBACK_VARIABLES)[number]>;
  log: Logger;
  metrics: CallbackMetrics;
}

/**
 * Make what sends callbacks. A callback goes: owed in Redis → relay → alarm → desk, where it waits in the line of its
 * host → POST → outcome recorded → settled, or an alarm for the next attempt.
 */
export function createCallbacks({ backend, bull, config, log, metrics }: CallbacksOptions) {
  const { store, subscriptions } = backend;
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
  const alarms = createAlarms(bull);
  const desk = new Desk({
    store,
    log,
    deliver: (debt) => deliver(debt, delivery),
    comeBack: alarms.set,
    perHost: config.CALLBACKS_PER_HOST,
  });
  const relay = createRelay({ store, alarms, desk, log });
  const channels = PARTITION_TAGS.map((tag) => [tag, store.keys.owedChannel(tag)] as const);

  return {
    /** Tell of a partition in which callbacks are owed. */
    wake: relay.wake,
    start(): void {
      alarms.ringAt(desk);
      const nothing = () => undefined; // What goes unheard is found by the next sweep.
      for (const [tag, channel] of channels) {
        subscriptions.add(channel, { message: () => relay.wake(tag), lost: nothing, subscribed: nothing });
      }
    },
    async stop(): Promise<void> {
      for (const [, channel] of channels) subscriptions.remove(channel);
      await alarms.silence();
      await desk.close();
      await alarms.close();
    },
  };
}
