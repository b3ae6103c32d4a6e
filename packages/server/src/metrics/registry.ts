import { readFileSync } from 'node:fs';
import type { StoreObserver } from '@yardmaster/store';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createRequestMetrics, type RequestMetrics } from './http.js';
import { type ConnectedGauge, connectedGauge } from './redis.js';
import { storeMetrics } from './store.js';

/**
 * Metrics that a process publishes at `/metrics`. Each app adds its own to the registry; docs/metrics.md lists them
 * all.
 */
export interface Metrics {
  registry: Registry;
  /** Counts the effects of the store's verbs. */
  observer: StoreObserver;
  /** Observes HTTP requests. */
  requests: RequestMetrics;
  /** Shows which connections to Redis are open. */
  connected: ConnectedGauge;
}

/** Create the metrics that every process has, in a registry of its own: several services may run in one process. */
export function createMetrics(): Metrics {
  const registry = createRegistry();
  return {
    registry,
    observer: storeMetrics(registry),
    requests: createRequestMetrics(registry),
    connected: connectedGauge(registry),
  };
}

/**
 * Metrics of prom-client to leave out: each scrape would list every socket, of which there may be tens of thousands.
 */
const COSTLY = ['handles', 'requests', 'resources'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** How often the lag of the event loop is measured. Every 10 ms, the default, takes 1% of a core of an idle process. */
const LAG_EVERY_MS = 50;

/** Create a registry with the metrics of any Node process, and with the release of this one. */
function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS });
  for (const name of COSTLY) registry.removeSingleMetric(name);
  new Gauge({
    name: 'yardmaster_build_info',
    help: 'Always 1; the label is the release that runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return registry;
}

/** Two scrapes within this time share one result, milliseconds. */
const FRESH_MS = 1_000;

/**
 * How long a scrape waits, milliseconds, so that it has its response within two seconds also when Redis does not reply.
 */
const WITHIN_MS = 1_500;

/**
 * Share the values read from Redis for a scrape: one read at a time, however many clients scrape, and none when one was
 * just made.
 *
 * @returns a function that resolves to the value, or to null when it could not be read, or not in time, because an old
 *   value must not look new
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T | null> {
  let last: { value: T; at: number } | null = null;
  let reading: Promise<T | null> | null = null;

  async function readOnce(): Promise<T | null> {
    try {
      const value = await read();
      last = { value, at: performance.now() };
      return value;
    } catch {
      return null; // The connection logs the error.
    } finally {
      reading = null;
    }
  }

  return () => {
    if (last !== null && performance.now() - last.at < FRESH_MS) return Promise.resolve(last.value);
    reading ??= readOnce();
    return orNull(reading);
  };
}

async function orNull<T>(reading: Promise<T | null>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, WITHIN_MS, null);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}
