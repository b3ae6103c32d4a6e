import {
  type Cluster,
  ClusterSubscriptions,
  ConnectionSubscriptions,
  createNodeSubscriber,
  createRedis,
  isCluster,
  keepAlive,
  type RedisClient,
  RedisClock,
  responds,
  type Subscriptions,
} from '@yardmaster/redis';
import type { Logger } from '@yardmaster/runtime';

/** Connections of a process to Redis, whether Redis is a single server or a cluster. */
export interface Connections {
  /** For short commands. */
  redis: RedisClient;
  /** For data that may be megabytes long. */
  bulk: RedisClient;
  subscriptions: Subscriptions;
  clock: RedisClock;
  /** Connect, and keep the connections alive. When the first attempt fails, others follow. */
  connect(): Promise<void>;
  /** Whether each connection is there just now, by what it is used for. */
  states: Record<'commands' | 'bulk' | 'subscriber', () => boolean>;
  /** Return why a call failed, for people. When it failed without a connection, return why there is none. */
  reasonOf(error: unknown): string;
  /** Whether Redis replies and published messages are received. */
  areReady(): Promise<boolean>;
  end(): void;
}

/** Errors that ioredis gives to a call while there is no connection, whatever the cause. */
const NOT_CONNECTED = /isn't writeable|isn't ready|Connection is closed/;

/**
 * Create the connections of a process.
 *
 * @param url as REDIS_URL
 * @param commandTimeoutMs how long one command may take, milliseconds
 */
export function createConnections(url: string, log: Logger, commandTimeoutMs: number): Connections {
  const redis = createRedis(url, 'commands', log, commandTimeoutMs);
  const bulk = createRedis(url, 'commands', log, commandTimeoutMs);
  const clock = new RedisClock();
  const heard = isCluster(redis) ? hearCluster(redis, log) : hear(url, log);
  const clients = [redis, bulk, ...heard.clients];
  const watches: (() => void)[] = [];
  let lastError: Error | null = null;
  redis.on('error', (error: Error & { lastNodeError?: Error }) => {
    const told = error.lastNodeError ?? error; // A cluster's own error says only that no node could be used.
    if (!NOT_CONNECTED.test(told.message)) lastError = told;
  });
  return {
    redis,
    bulk,
    clock,
    subscriptions: heard.subscriptions,
    states: {
      commands: () => redis.status === 'ready',
      bulk: () => bulk.status === 'ready',
      subscriber: heard.isReady,
    },
    async connect() {
      watches.push(keepAlive(redis, { clock }));
      for (const client of [bulk, ...heard.clients]) watches.push(keepAlive(client));
      await Promise.all(clients.map(attempt));
    },
    reasonOf(error) {
      const cause = (error as Error).cause ?? error;
      return String((NOT_CONNECTED.test(String(cause)) && lastError) || cause);
    },
    areReady: async () => heard.isReady() && (await responds(redis)),
    end() {
      for (const stopWatching of watches) stopWatching();
      heard.end();
      for (const client of clients) client.disconnect();
    },
  };
}

/**
 * Make the first attempt to connect, and wait for its end. When a cluster's node fails between two steps of it,
 * ioredis begins again and never settles the promise: only the event `close` shows that the attempt has ended.
 */
async function attempt(client: RedisClient): Promise<void> {
  const closed = new Promise<void>((resolve) => client.once('close', resolve));
  await Promise.race([client.connect().catch(() => undefined), closed]);
}

/** Subscriptions to channels, and the connections that they need in addition to those that they make themselves. */
interface Heard {
  subscriptions: Subscriptions;
  clients: RedisClient[];
  isReady(): boolean;
  end(): void;
}

function hear(url: string, log: Logger): Heard {
  const redis = createRedis(url, 'subscriber', log);
  const subscriptions = new ConnectionSubscriptions(redis);
  return { subscriptions, clients: [redis], isReady: () => subscriptions.isConnected, end: () => undefined };
}

function hearCluster(cluster: Cluster, log: Logger): Heard {
  const subscriptions = new ClusterSubscriptions(cluster, (node) => {
    const redis = createNodeSubscriber(node, log);
    const stopWatching = keepAlive(redis);
    redis.connect().catch(() => undefined); // It keeps trying.
    return {
      redis,
      end() {
        stopWatching();
        redis.disconnect();
      },
    };
  });
  // While one primary is away, the channels of the others are still heard; the subscriptions take care of its own.
  return { subscriptions, clients: [], isReady: () => cluster.status === 'ready', end: () => subscriptions.end() };
}
