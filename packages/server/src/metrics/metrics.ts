import type { StoreObserver } from '@yardmaster/store';
import type { Registry } from 'prom-client';
import { type ConnectedGauge, connectedGauge } from './connected.js';
import { createRegistry } from './registry.js';
import { createRequestMetrics, type RequestMetrics } from './requests.js';
import { storeMetrics } from './store-metrics.js';

/** Metrics that a process publishes at `/metrics`. Each app adds its own to the registry; docs/metrics.md lists them all. */
export interface Metrics {
  registry: Registry;
  /** Counts what the store's verbs do. */
  observer: StoreObserver;
  /** Observes HTTP requests. */
  requests: RequestMetrics;
  /** Shows which connections to Redis are there. */
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
