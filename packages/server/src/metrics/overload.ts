import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestMetrics } from './http.js';

/** State of the queue in front of Redis in this process, in requests. */
export interface QueueState {
  readonly underWay: number;
  readonly limit: number;
  readonly waiting: number;
}

/**
 * Show how busy the process is.
 *
 * @returns a function that counts a request that was refused because the process is busy
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
  gauge('yardmaster_http_requests_in_flight', 'Requests that are being served.', () => requests.inFlight);
  gauge('yardmaster_redis_requests', 'Requests that are at Redis.', () => queue.underWay);
  gauge(
    'yardmaster_redis_requests_limit',
    'Requests that may be at Redis at once; while several spaces use Redis, a large one counts as several.',
    () => queue.limit,
  );
  gauge(
    'yardmaster_redis_requests_waiting',
    'Requests that wait because the limit of requests at Redis is reached.',
    () => queue.waiting,
  );
  gauge(
    'yardmaster_waiting_calls',
    'Calls that wait for a job, or for the end of one; they are not counted as being served.',
    () => waits.size,
  );
  const refused = new Counter({
    name: 'yardmaster_overloaded_total',
    help: 'Requests that were refused as OVERLOADED; nothing was done.',
    registers,
  });
  return () => refused.inc();
}
