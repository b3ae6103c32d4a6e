import type { EventEmitter } from 'node:events';
import { CHECK_CONNECTIONS_MS, ConnectionChecks, createRedis } from '@yardmaster/redis';
import { every, type Logger, type Service } from '@yardmaster/runtime';
import { rejectAfter, type ServerContext } from '@yardmaster/server';
import { type Processor, Queue, Worker, type WorkerOptions } from 'bullmq';

/**
 * BullMQ, with its own connection to Redis and its own keys. All of these keys may be lost, because the information in its
 * jobs is recorded elsewhere. Each job is removed when it ends.
 */
export interface BullMq extends Service {
  /** Create a queue, which is closed when BullMQ stops. */
  queue<T>(name: string): Queue<T>;
  /** Create a worker, which starts to process jobs immediately. The caller must close it. */
  worker<T>(name: string, processor: Processor<T>, options?: Pick<WorkerOptions, 'concurrency'>): Worker<T>;
}

/** Settings of queues. Few events are kept, because nothing reads them; BullMQ's default is 10,000. */
const QUEUE = {
  streams: { events: { maxLen: 10 } },
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
};

/** Settings of workers: retry soon after an error, and release the jobs of a dead process after about 10 seconds. */
const WORKER = { lockDuration: 10_000, stalledInterval: 5_000, runRetryDelay: 500, maxStalledCount: 1_000 };

/** How long a fault with the same message is not logged again. */
const SAME_FAULT_MS = 60_000;

type Connection = ReturnType<typeof createRedis>;

/** Connect BullMQ to the Redis of a server context. */
export function createBullMq(redisUrl: string, { store, metrics }: ServerContext, log: Logger): BullMq {
  const connection = createRedis(redisUrl, 'worker', log);
  metrics.connected('worker', () => connection.status === 'ready');
  const checks = checksOf(connection);
  const checking = every({ name: 'connection checks of bullmq', ms: CHECK_CONNECTIONS_MS, run: checks.run });
  const common = { connection, prefix: store.keys.bull };
  const queues: Queue[] = [];
  const shouldLog = throttleByMessage();

  /** Log the faults of a queue or worker, except Redis outages, which are logged elsewhere. */
  function logFaults<T extends Queue | Worker>(part: T): T {
    (part as EventEmitter).on('error', (err: Error) => {
      if (!isOfConnection(err) && shouldLog(err.message))
        log.warn({ err, queue: part.name }, 'bullmq reported a fault');
    });
    return part;
  }

  return {
    name: 'bullmq',
    queue<T>(name: string) {
      const queue = logFaults(new Queue<T>(name, { ...common, ...QUEUE }));
      queues.push(queue as Queue);
      return queue;
    },
    worker: (name, processor, options) => logFaults(new Worker(name, processor, { ...common, ...WORKER, ...options })),
    start: () => checking.start(), // The connection is opened on creation, because queues use it immediately.
    async stop(withinMs) {
      try {
        await rejectAfter(withinMs, Promise.all(queues.map((queue) => queue.close())));
      } finally {
        await checking.stop(0);
        connection.disconnect();
      }
    },
  };
}

/**
 * Create the checks of a connection and its copies, and hide the eviction policy on them. Each worker blocks on its own
 * copy. BullMQ watches a copy only once Redis has replied on it, so it is checked here from the start.
 */
function checksOf(connection: Connection): ConnectionChecks {
  const checks = new ConnectionChecks();
  checks.add(connection);
  hideEvictionPolicy(connection);
  const duplicate = connection.duplicate.bind(connection) as (...args: unknown[]) => Connection;
  connection.duplicate = (...args: unknown[]) => {
    const copy = duplicate(...args);
    checks.add(copy, { isBlocking: true });
    hideEvictionPolicy(copy);
    return copy as never;
  };
  return checks;
}

/**
 * Hide the eviction policy of Redis from BullMQ. BullMQ reads INFO on each of its connections, and if Redis may evict keys,
 * it prints plain text among the JSON lines of the log. The watch of Redis's settings already warns about this. ioredis also
 * reads INFO, with a callback, and still gets the policy.
 */
function hideEvictionPolicy(connection: Connection): void {
  const info = connection.info.bind(connection) as (...args: unknown[]) => Promise<string>;
  const withoutPolicy = async () => (await info()).replace(/^maxmemory_policy:.*$/m, '');
  connection.info = ((...args: unknown[]) => (args.length > 0 ? info(...args) : withoutPolicy())) as never;
}

/** Create a function that lets each message pass once a minute. It forgets all messages after 100 different ones. */
function throttleByMessage(): (message: string) => boolean {
  const loggedAt = new Map<string, number>();
  return (message) => {
    const now = performance.now();
    if (now - (loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < SAME_FAULT_MS) return false;
    if (loggedAt.size === 100) loggedAt.clear();
    loggedAt.set(message, now);
    return true;
  };
}

const isOfConnection = (error: Error & { code?: string }) =>
  /^(ECONN|EPIPE|ENOENT|ETIMEDOUT)/.test(error.code ?? '') || /Connection is closed|LOADING/.test(error.message);
