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
import { presenceChannelOf } from '@yardmaster/store';

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
  /** Whether each connection is open now, by its use. */
  states: Record<'commands' | 'bulk' | 'subscriber', () => boolean>;
  /** Return why a call failed, as a text. When there was no connection, return why. */
  reasonOf(error: unknown): string;
  /** Whether Redis replies and published messages are received. */
  areReady(): Promise<boolean>;
  end(): void;
}

/** Errors that ioredis throws while there is no connection, for any cause. */
const NOT_CONNECTED = /isn't writeable|isn't ready|Connection is closed/;

/** The part of the connections that receives published messages. */
interface Receiver {
  subscriptions: Subscriptions;
  /** Connections to make at the start; those to the nodes of a cluster are made later, by the subscriptions. */
  clients: RedisClient[];
  isReady(): boolean;
  end(): void;
}

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
  const receiver = isCluster(redis) ? createClusterReceiver(redis, log) : createReceiver(url, log);
  const clients = [redis, bulk, ...receiver.clients];
  const endKeepAlive: (() => void)[] = [];
  let lastError: Error | null = null;
  redis.on('error', (error: Error & { lastNodeError?: Error }) => {
    const cause = error.lastNodeError ?? error; // A cluster's own error says only that no node could be used.
    if (!NOT_CONNECTED.test(cause.message)) lastError = cause;
  });
  return {
    redis,
    bulk,
    clock,
    subscriptions: receiver.subscriptions,
    states: {
      commands: () => redis.status === 'ready',
      bulk: () => bulk.status === 'ready',
      subscriber: receiver.isReady,
    },
    async connect() {
      endKeepAlive.push(keepAlive(redis, { clock }));
      for (const client of [bulk, ...receiver.clients]) endKeepAlive.push(keepAlive(client));
      await Promise.all(clients.map(connectOnce));
    },
    reasonOf(error) {
      const cause = (error as Error).cause ?? error;
      return String((NOT_CONNECTED.test(String(cause)) && lastError) || cause);
    },
    areReady: async () => receiver.isReady() && (await responds(redis)),
    end() {
      for (const end of endKeepAlive) end();
      receiver.end();
      for (const client of clients) client.disconnect();
    },
  };
}

/**
 * Make the first attempt to connect, and wait for its end. When a cluster's node fails between two steps of it, ioredis
 * restarts and never settles the promise. Then only the event `close` shows that the attempt has ended.
 */
async function connectOnce(client: RedisClient): Promise<void> {
  const closed = new Promise<void>((resolve) => client.once('close', resolve));
  await Promise.race([client.connect().catch(() => undefined), closed]);
}

function createReceiver(url: string, log: Logger): Receiver {
  const redis = createRedis(url, 'subscriber', log);
  const subscriptions = new ConnectionSubscriptions(redis, { presenceOf: presenceChannelOf });
  return { subscriptions, clients: [redis], isReady: () => subscriptions.isConnected, end: () => undefined };
}

function createClusterReceiver(cluster: Cluster, log: Logger): Receiver {
  const subscriptions = new ClusterSubscriptions(
    cluster,
    (node) => {
      const redis = createNodeSubscriber(node, log);
      const endKeepAlive = keepAlive(redis);
      redis.connect().catch(() => undefined); // It keeps trying.
      return {
        redis,
        end() {
          endKeepAlive();
          redis.disconnect();
        },
      };
    },
    presenceChannelOf,
  );
  // While one primary is away, messages of the others still arrive; the subscriptions take care of its own channels.
  return { subscriptions, clients: [], isReady: () => cluster.status === 'ready', end: () => subscriptions.end() };
}
