import type { Subscriptions } from '@yardmaster/redis';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Wrap subscriptions so that metrics count their channels, and the gaps in the messages on them. */
export function countedSubscriptions(subscriptions: Subscriptions, registry: Registry): Subscriptions {
  const channels = new Set<string>();
  new Gauge({
    name: 'yardmaster_subscriptions',
    help: 'Channels of Redis that this process hears, or wants to hear as soon as Redis is back.',
    registers: [registry],
    collect() {
      this.set(channels.size);
    },
  });
  const gaps = new Counter({
    name: 'yardmaster_subscription_gaps_total',
    help: 'Times that messages on a channel may have been missed, counted for each channel.',
    registers: [registry],
  });
  return {
    add(channel, listener) {
      subscriptions.add(channel, {
        message: (text) => listener.message(text),
        subscribed: () => listener.subscribed(),
        lost() {
          gaps.inc();
          listener.lost();
        },
      });
      channels.add(channel);
    },
    remove(channel) {
      channels.delete(channel);
      subscriptions.remove(channel);
    },
    hears: (channel) => subscriptions.hears(channel),
  };
}
