import {
  answers,
  type Cluster,
  createNodeSubscriber,
  createRedis,
  isCluster,
  type Logger,
  type RedisClient,
  RedisClock,
  watchConnection,
} from '@yardmaster/runtime';
import { ClusterSubscriptions, ConnectionSubscriptions, type Subscriptions } from '@yardmaster/store';

/** What a process is connected to Redis by, however Redis is run. */
export interface Connections {
  /** For short commands. */
  redis: RedisClient;
  /** For what may be megabytes long. */
  bulk: RedisClient;
  subscriptions: Subscriptions;
  clock: RedisClock;
  /** Connect, and look after the connections. A first attempt that fails is followed by others. */
  connect(): Promise<void>;
  /** Whether each is there just now, by what it is used for. */
  states: Record<'commands' | 'bulk' | 'subscriber', () => boolean>;
  /** Why a call failed, for people: of one that failed for want of a connection, why there is none. */
  reasonOf(error: unknown): string;
  /** Whether Redis answers and what is published is heard. */
  areReady(): Promise<boolean>;
  end(): void;
}

/** What ioredis says of a call while there is no connection, whatever is wrong with that. */
const NOT_CONNECTED = /isn't writeable|isn't ready|Connection is closed/;

/**
 * Make the connections of a process.
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
    const told = error.lastNodeError ?? error; // A cluster's own says only that no node would do.
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
      watches.push(watchConnection(redis, { clock }));
      for (const client of [bulk, ...heard.clients]) watches.push(watchConnection(client));
      await Promise.all(clients.map(attempt));
    },
    reasonOf(error) {
      const cause = (error as Error).cause ?? error;
      return String((NOT_CONNECTED.test(String(cause)) && lastError) || cause);
    },
    areReady: async () => heard.isReady() && (await answers(redis)),
    end() {
      for (const stopWatching of watches) stopWatching();
      heard.end();
      for (const client of clients) client.disconnect();
    },
  };
}

/**
 * Make the first attempt to connect, and wait for its end. When a cluster's node fails between two steps of it, ioredis
 * begins anew and leaves the promise open for ever: only `close` tells.
 */
async function attempt(client: RedisClient): Promise<void> {
  const closed = new Promise<void>((resolve) => client.once('close', resolve));
  await Promise.race([client.connect().catch(() => undefined), closed]);
}

/** What hears channels, and the connections that it needs beside those it makes itself. */
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
    const stopWatching = watchConnection(redis);
    redis.connect().catch(() => undefined); // It goes on trying.
    return {
      redis,
      end() {
        stopWatching();
        redis.disconnect();
      },
    };
  });
  // While one primary is away the channels of the others are heard; those of its own are looked after.
  return { subscriptions, clients: [], isReady: () => cluster.status === 'ready', end: () => subscriptions.end() };
}
