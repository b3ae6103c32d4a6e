import {
  CHECK_CONNECTIONS_MS,
  CHECK_SUBSCRIPTIONS_MS,
  type Cluster,
  ClusterSubscriptions,
  ConnectionChecks,
  ConnectionSubscriptions,
  createNodeSubscriber,
  createRedis,
  isCluster,
  type RedisClient,
  RedisClock,
  ReplicatedConnections,
  responds,
  type Subscriptions,
} from '@yardmaster/redis';
import { every, type Logger, type Service } from '@yardmaster/runtime';
import { presenceChannelOf } from '@yardmaster/store';

/** Connections of a process to Redis, a single server or a cluster. Starting makes the first attempt to connect. */
export interface Connections extends Service {
  /** For short commands. */
  redis: RedisClient;
  /** For data that may be several megabytes. */
  bulk: RedisClient;
  /** For writes that a replica must confirm; null if none need confirmation. */
  replicated: ReplicatedConnections | null;
  subscriptions: Subscriptions;
  clock: RedisClock;
  /** Functions that tell whether a connection is open, by use. */
  states: Record<'commands' | 'bulk' | 'subscriber', () => boolean>;
  /** Describe why a call failed; if there was no connection, describe why. */
  reasonOf(error: unknown): string;
  /** Check that Redis replies and that published messages are received. */
  areReady(): Promise<boolean>;
}

/** Fraction of a command's timeout within which a replica must confirm a write. */
const REPLICATED_WITHIN = 0.8;

/** Errors that ioredis throws without a connection, whatever the cause. */
const NOT_CONNECTED = /isn't writeable|isn't ready|Connection is closed/;

/** The connections that receive published messages. */
interface Receiver {
  subscriptions: Subscriptions;
  /** Clients to connect at startup. In a cluster, the subscriptions connect to the nodes later. */
  clients: RedisClient[];
  isReady(): boolean;
  /** Periodic work. */
  repeated: Service[];
  end(): void;
}

/**
 * Create the connections of a process.
 *
 * @param url REDIS_URL
 * @param options.commandTimeoutMs timeout of a command, milliseconds
 * @param options.areWritesReplicated whether writes must be confirmed by a replica
 */
export function createConnections(
  url: string,
  log: Logger,
  { commandTimeoutMs, areWritesReplicated }: { commandTimeoutMs: number; areWritesReplicated: boolean },
): Connections {
  const redis = createRedis(url, 'commands', log, commandTimeoutMs);
  const bulk = createRedis(url, 'commands', log, commandTimeoutMs);
  const clock = new RedisClock();
  const checks = new ConnectionChecks();
  const receiver = isCluster(redis) ? createClusterReceiver(redis, checks, log) : createReceiver(url, log);
  const clients = [redis, bulk, ...receiver.clients];
  const createChecked = () => {
    const client = createRedis(url, 'commands', log, commandTimeoutMs);
    checks.add(client);
    return client;
  };
  const replicated = areWritesReplicated
    ? new ReplicatedConnections(createChecked, Math.floor(REPLICATED_WITHIN * commandTimeoutMs))
    : null;
  for (const client of clients) checks.add(client, client === redis ? { clock } : {});
  const repeated = [
    every({ name: 'connection checks', ms: CHECK_CONNECTIONS_MS, run: checks.run }),
    ...receiver.repeated,
  ];
  let lastError: Error | null = null;
  redis.on('error', (error: Error & { lastNodeError?: Error }) => {
    const cause = error.lastNodeError ?? error; // A cluster's own error only says that no node could be used.
    if (!NOT_CONNECTED.test(cause.message)) lastError = cause;
  });
  return {
    name: 'connections',
    redis,
    bulk,
    replicated,
    clock,
    subscriptions: receiver.subscriptions,
    states: {
      commands: () => redis.status === 'ready',
      bulk: () => bulk.status === 'ready',
      subscriber: receiver.isReady,
    },
    reasonOf(error) {
      const cause = (error as Error).cause ?? error;
      return String((NOT_CONNECTED.test(String(cause)) && lastError) || cause);
    },
    areReady: async () => receiver.isReady() && (await responds(redis)),
    async start() {
      for (const service of repeated) await service.start();
      await Promise.all(clients.map(connectOnce));
    },
    async stop(withinMs) {
      for (const service of repeated) await service.stop(withinMs);
      receiver.end();
      replicated?.end();
      for (const client of clients) client.disconnect();
    },
  };
}

/**
 * Make the first attempt to connect, and wait until it ends. If a cluster node fails between two steps of the attempt,
 * ioredis starts over and never settles the promise; then only the event `close` shows that the attempt has ended.
 */
async function connectOnce(client: RedisClient): Promise<void> {
  const closed = new Promise<void>((resolve) => client.once('close', resolve));
  await Promise.race([client.connect().catch(() => undefined), closed]);
}

function createReceiver(url: string, log: Logger): Receiver {
  const redis = createRedis(url, 'subscriber', log);
  const subscriptions = new ConnectionSubscriptions(redis, { presenceOf: presenceChannelOf });
  const isReady = () => subscriptions.isConnected;
  return { subscriptions, clients: [redis], repeated: [], isReady, end: () => undefined };
}

/** @param checks receives the connections to check */
function createClusterReceiver(cluster: Cluster, checks: ConnectionChecks, log: Logger): Receiver {
  const subscriptions = new ClusterSubscriptions(
    cluster,
    (node) => {
      const redis = createNodeSubscriber(node, log);
      checks.add(redis);
      redis.connect().catch(() => undefined); // ioredis keeps trying.
      return {
        redis,
        end() {
          checks.delete(redis);
          redis.disconnect();
        },
      };
    },
    presenceChannelOf,
  );
  const check = every({ name: 'subscription checks', ms: CHECK_SUBSCRIPTIONS_MS, run: () => subscriptions.check() });
  // If one primary is unavailable, messages of the others still arrive; the subscriptions handle its channels.
  const isReady = () => cluster.status === 'ready';
  return { subscriptions, clients: [], repeated: [check], isReady, end: () => subscriptions.end() };
}
