import type { Subscriptions } from '@yardmaster/redis';
import { REDIS_FAULTS, type RedisFault, type RedisSettings } from '@yardmaster/store';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Adds a connection to the gauge, by its use, with a function that tells whether it is open. */
export type ConnectedGauge = (use: string, isConnected: () => boolean) => void;

/** Create the gauge of connections to Redis. */
export function connectedGauge(registry: Registry): ConnectedGauge {
  const connections = new Map<string, () => boolean>();
  new Gauge({
    name: 'yardmaster_redis_connected',
    help: 'Whether a connection to Redis is open (1) or not (0), by use.',
    labelNames: ['use'],
    registers: [registry],
    collect() {
      for (const [use, isConnected] of connections) this.set({ use }, isConnected() ? 1 : 0);
    },
  });
  return (use, isConnected) => connections.set(use, isConnected);
}

/** Wrap subscriptions to count their channels and the gaps in their messages. */
export function countedSubscriptions(subscriptions: Subscriptions, registry: Registry): Subscriptions {
  const channels = new Set<string>();
  new Gauge({
    name: 'yardmaster_subscriptions',
    help: 'Redis channels that this process subscribes to, even while Redis is unavailable.',
    registers: [registry],
    collect() {
      this.set(channels.size);
    },
  });
  const gaps = new Counter({
    name: 'yardmaster_subscription_gaps_total',
    help: 'Gaps in which messages may have been missed, counted per channel.',
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
    isSubscribed: (channel) => subscriptions.isSubscribed(channel),
  };
}

/** The settings of a primary, and their faults. */
export interface CheckedSettings {
  settings: RedisSettings;
  faults: readonly RedisFault[];
}

/** Shows the last check of Redis's settings, without primaries that did not reply. */
export interface RedisSettingsMetrics {
  show(all: readonly CheckedSettings[]): void;
}

/** Create the gauges of Redis's settings. */
export function redisSettingsMetrics(registry: Registry): RedisSettingsMetrics {
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const unsafe = gauge(
    'yardmaster_redis_unsafe',
    'Whether Redis is configured, or fails, in a way that loses jobs (1) or not (0), by fault.',
    ['primary', 'fault'],
  );
  const maxMemory = gauge('yardmaster_redis_maxmemory_bytes', 'Memory limit of Redis; 0 for none.', ['primary']);
  const evicted = gauge('yardmaster_redis_evicted_keys', 'Keys that Redis has evicted since it started.', ['primary']);
  const appendOnly = gauge('yardmaster_redis_append_only', 'Whether Redis keeps an append-only file (1) or not (0).', [
    'primary',
  ]);
  return {
    show(all) {
      for (const each of [unsafe, maxMemory, evicted, appendOnly]) each.reset();
      for (const { settings, faults } of all) {
        const { primary, maxMemoryBytes, evictedKeys, isAppendOnly } = settings;
        for (const fault of REDIS_FAULTS) unsafe.set({ primary, fault }, faults.includes(fault) ? 1 : 0);
        maxMemory.set({ primary }, maxMemoryBytes);
        evicted.set({ primary }, evictedKeys);
        appendOnly.set({ primary }, isAppendOnly ? 1 : 0);
      }
    },
  };
}
