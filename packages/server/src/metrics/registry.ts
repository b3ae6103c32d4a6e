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

/** Create a registry with the metrics of any Node process, and with the release of this one. */
function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of COSTLY) registry.removeSingleMetric(name);
  new Gauge({
    name: 'yardmaster_build_info',
    help: 'Always 1; the label is the release that runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return registry;
}
