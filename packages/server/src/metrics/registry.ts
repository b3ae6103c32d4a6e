import { readFileSync } from 'node:fs';
import type { StoreObserver } from '@yardmaster/store';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createRequestMetrics, type RequestMetrics } from './http.js';
import { type ConnectedGauge, connectedGauge } from './redis.js';
import { storeMetrics } from './store.js';

/** Metrics that a process serves at `/metrics`. Each app adds its own to the registry; docs/metrics.md lists them all. */
export interface Metrics {
  registry: Registry;
  /** Counts the effects of the store's verbs. */
  observer: StoreObserver;
  /** Observes HTTP requests. */
  requests: RequestMetrics;
  /** Shows which connections to Redis are open. */
  connected: ConnectedGauge;
}

/** Create the metrics that every process has, in a separate registry: several services may run in one process. */
export function createMetrics(): Metrics {
  const registry = createRegistry();
  return {
    registry,
    observer: storeMetrics(registry),
    requests: createRequestMetrics(registry),
    connected: connectedGauge(registry),
  };
}

/** Metrics of prom-client to omit: each scrape would list every socket, of which there may be tens of thousands. */
const COSTLY = ['handles', 'requests', 'resources'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Time between two measurements of the event loop lag. The default, 10 ms, takes 1% of a core in an idle process. */
const LAG_EVERY_MS = 50;

/** Create a registry with the metrics of any Node process and the running version. */
function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS });
  for (const name of COSTLY) registry.removeSingleMetric(name);
  new Gauge({
    name: 'yardmaster_build_info',
    help: 'Always 1; the label is the running version.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return registry;
}

/** How long a result is shared between scrapes, milliseconds. */
const FRESH_MS = 1_000;

/** How long a scrape waits, milliseconds, so that it gets a response within two seconds even if Redis does not reply. */
const WITHIN_MS = 1_500;

/**
 * Share a value read from Redis between scrapes: only one read at a time, and none if the last one is recent.
 *
 * @returns a function that resolves to the value; null if it could not be read in time, because an old value must not look
 *   current
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
