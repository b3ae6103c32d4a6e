import { REDIS_FAULTS, type RedisFault, type RedisSettings } from '@yardmaster/store';
import { Gauge, type Registry } from 'prom-client';

/** The settings of a primary, and what is wrong with them. */
export interface CheckedSettings {
  settings: RedisSettings;
  faults: readonly RedisFault[];
}

/** Shows the last check of Redis' settings, and nothing for a primary that did not reply. */
export interface RedisSettingsMetrics {
  show(all: readonly CheckedSettings[]): void;
}

/** Make the gauges of Redis' settings. */
export function redisSettingsMetrics(registry: Registry): RedisSettingsMetrics {
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const unsafe = gauge(
    'yardmaster_redis_unsafe',
    'Whether Redis is set up, or fails, so that jobs are lost (1) or not (0), by what is wrong.',
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
