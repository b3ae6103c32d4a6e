import { Gauge, type Registry } from 'prom-client';

/** Adds a connection to the gauge: what it is for, and a function that returns whether it is there. */
export type ConnectedGauge = (use: string, isConnected: () => boolean) => void;

/** Make the gauge of connections to Redis. */
export function connectedGauge(registry: Registry): ConnectedGauge {
  const connections = new Map<string, () => boolean>();
  new Gauge({
    name: 'yardmaster_redis_connected',
    help: 'Whether a connection to Redis is there (1) or not (0), by what it is used for.',
    labelNames: ['use'],
    registers: [registry],
    collect() {
      for (const [use, isConnected] of connections) this.set({ use }, isConnected() ? 1 : 0);
    },
  });
  return (use, isConnected) => connections.set(use, isConnected);
}
