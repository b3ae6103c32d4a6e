import type { EventEmitter } from 'node:events';
import type { Backend } from '@yardmaster/backend';
import { createRedis, type Logger, watchConnection } from '@yardmaster/runtime';
import type { Queue, Worker } from 'bullmq';

/** What every queue and every worker of ours is made with. */
export interface Bull {
  connection: ReturnType<typeof createRedis>;
  prefix: string;
  /** Report what a queue or a worker says went wrong. An outage of Redis is not told again here. */
  watch<T extends Queue | Worker>(part: T): T;
  close(): void;
}

/** Keep few events: nobody reads them. BullMQ's default is 10 000. */
export const EVENTS = { streams: { events: { maxLen: 10 } } };

/** A job of BullMQ's is an alarm, which leaves nothing behind. */
export const ALARM = { removeOnComplete: true, removeOnFail: true };

/** Settings of workers: what went wrong is tried again soon, and what a dead process held is free after some 10 s. */
export const WORKER = { lockDuration: 10_000, stalledInterval: 5_000, runRetryDelay: 500, maxStalledCount: 1_000 };

/** Connect BullMQ to the Redis of a backend, under keys of its own. */
export function createBull(redisUrl: string, { store, metrics }: Backend, log: Logger): Bull {
  const connection = createRedis(redisUrl, 'worker', log);
  metrics.connected('worker', () => connection.status === 'ready');
  const watches = [watchConnection(connection)];
  keepPolicyFromBull(connection);
  // Each worker blocks on a copy of its own, which BullMQ looks after once Redis has answered on it, and not before.
  const duplicate = connection.duplicate.bind(connection) as (...args: unknown[]) => typeof connection;
  connection.duplicate = (...args: unknown[]) => {
    const copy = duplicate(...args);
    watches.push(watchConnection(copy, { isBlocking: true }));
    keepPolicyFromBull(copy);
    return copy as never;
  };
  /** When each fault was last told, by its message: once a minute is enough. */
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
 * BullMQ reads INFO for each of its connections, and prints a text of its own among the log's lines of JSON when Redis may
 * evict keys, each time. The watch of Redis' settings warns of it. ioredis asks as well, with a callback, and is not meant.
 */
function keepPolicyFromBull(connection: Bull['connection']): void {
  const info = connection.info.bind(connection) as (...args: unknown[]) => Promise<string>;
  const withoutPolicy = async () => (await info()).replace(/^maxmemory_policy:.*$/m, '');
  connection.info = ((...args: unknown[]) => (args.length > 0 ? info(...args) : withoutPolicy())) as never;
}

const isOfConnection = (error: Error & { code?: string }) =>
  /^(ECONN|EPIPE|ENOENT|ETIMEDOUT)/.test(error.code ?? '') || /Connection is closed|LOADING/.test(error.message);
