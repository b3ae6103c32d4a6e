import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestMetrics } from './http.js';

/** State of this process's queue in front of Redis, in requests. */
export interface QueueState {
  readonly underWay: number;
  readonly limit: number;
  readonly waiting: number;
}

/**
 * Create the metrics of how busy the process is.
 *
 * @returns a function that counts a request refused because the process is busy
 */
export function overloadMetrics(
  { registry, requests }: { registry: Registry; requests: RequestMetrics },
  queue: QueueState,
  waits: { readonly size: number },
): () => void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('yardmaster_http_requests_in_flight', 'Requests being served.', () => requests.inFlight);
  gauge('yardmaster_redis_requests', 'Requests being processed by Redis.', () => queue.underWay);
  gauge(
    'yardmaster_redis_requests_limit',
    'Maximum number of requests in Redis at once; while several spaces use Redis, a large one counts as several.',
    () => queue.limit,
  );
  gauge(
    'yardmaster_redis_requests_waiting',
    'Requests waiting because the limit of requests in Redis is reached.',
    () => queue.waiting,
  );
  gauge(
    'yardmaster_waiting_calls',
    'Calls that wait for a job, or for a job to end; they do not count as in flight.',
    () => waits.size,
  );
  const refused = new Counter({
    name: 'yardmaster_overloaded_total',
    help: 'Requests refused as OVERLOADED; nothing was done.',
    registers,
  });
  return () => refused.inc();
}
