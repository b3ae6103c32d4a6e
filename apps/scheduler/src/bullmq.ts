import type { EventEmitter } from 'node:events';
import { createRedis, keepAlive } from '@yardmaster/redis';
import type { Logger } from '@yardmaster/runtime';
import type { ServerContext } from '@yardmaster/server';
import type { Queue, Worker } from 'bullmq';

/** Options that all BullMQ queues and workers of the scheduler share. */
export interface BullMq {
  connection: ReturnType<typeof createRedis>;
  prefix: string;
  /** Log the errors of a queue or a worker, except outages of Redis, which are logged elsewhere. */
  watch<T extends Queue | Worker>(part: T): T;
  close(): void;
}

/** Keep few events, because no process reads them. BullMQ's default is 10 000. */
export const EVENTS = { streams: { events: { maxLen: 10 } } };

/** A BullMQ job only wakes a scheduler, so it is removed when it ends. */
export const ALARM = { removeOnComplete: true, removeOnFail: true };

/** Settings of BullMQ workers: retry soon after an error, and release the jobs of a dead process after some 10 s. */
export const WORKER = { lockDuration: 10_000, stalledInterval: 5_000, runRetryDelay: 500, maxStalledCount: 1_000 };

/** Connect BullMQ to the Redis of a server context, under keys of its own. */
export function createBullMq(redisUrl: string, { store, metrics }: ServerContext, log: Logger): BullMq {
  const connection = createRedis(redisUrl, 'worker', log);
  metrics.connected('worker', () => connection.status === 'ready');
  const watches = [keepAlive(connection)];
  keepPolicyFromBullMq(connection);
  // Each worker blocks on its own copy of the connection. BullMQ watches the copy only after Redis has replied on it, so
  // it is watched here from the start.
  const duplicate = connection.duplicate.bind(connection) as (...args: unknown[]) => typeof connection;
  connection.duplicate = (...args: unknown[]) => {
    const copy = duplicate(...args);
    watches.push(keepAlive(copy, { isBlocking: true }));
    keepPolicyFromBullMq(copy);
    return copy as never;
  };
  /** When each fault was last logged, by its message: once a minute is enough. */
  const told = new Map<string, number>();
  const isNews = ({ message }: Error) => {
    if (performance.now() - (told.get(message) ?? Number.NEGATIVE_INFINITY) < 60_000) return false;
    if (told.size === 100) told.clear();
    told.set(message, performance.now());
    return true;
  };
  return {
    connection,
    prefix: store.keys.bull,
    watch(part) {
      (part as EventEmitter).on('error', (err: Error) => {
        if (!isOfConnection(err) && isNews(err)) log.warn({ err, queue: part.name }, 'bullmq reports a fault');
      });
      return part;
    },
    close() {
      for (const stopWatching of watches) stopWatching();
      connection.disconnect();
    },
  };
}

/**
 * Hide the eviction policy of Redis from BullMQ. BullMQ reads INFO for each of its connections. When Redis may evict
 * keys, BullMQ prints its own text among the JSON lines of the log, each time. The watch of Redis' settings already
 * warns of this. ioredis reads INFO as well, with a callback, and still gets the policy.
 */
function keepPolicyFromBullMq(connection: BullMq['connection']): void {
  const info = connection.info.bind(connection) as (...args: unknown[]) => Promise<string>;
  const withoutPolicy = async () => (await info()).replace(/^maxmemory_policy:.*$/m, '');
  connection.info = ((...args: unknown[]) => (args.length > 0 ? info(...args) : withoutPolicy())) as never;
}

const isOfConnection = (error: Error & { code?: string }) =>
  /^(ECONN|EPIPE|ENOENT|ETIMEDOUT)/.test(error.code ?? '') || /Connection is closed|LOADING/.test(error.message);
