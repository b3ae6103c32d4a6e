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

/**
 * Connections of a process to Redis, whether Redis is a single server or a cluster. The start makes the first attempt to
 * connect; when it fails, others follow.
 */
export interface Connections extends Service {
  /** For short commands. */
  redis: RedisClient;
  /** For data that may be megabytes long. */
  bulk: RedisClient;
  /** For writes that a replica must confirm; null when no writes are confirmed. */
  replicated: ReplicatedConnections | null;
  subscriptions: Subscriptions;
  clock: RedisClock;
  /** Whether each connection is open now, by its use. */
  states: Record<'commands' | 'bulk' | 'subscriber', () => boolean>;
  /** Return why a call failed, as a text. When there was no connection, return why. */
  reasonOf(error: unknown): string;
  /** Whether Redis replies and published messages are received. */
  areReady(): Promise<boolean>;
}

/** Share of the timeout of a command in which a replica must confirm a write. */
const REPLICATED_WITHIN = 0.8;

/** Errors that ioredis throws while there is no connection, for any cause. */
const NOT_CONNECTED = /isn't writeable|isn't ready|Connection is closed/;

/** The part of the connections that receives published messages. */
interface Receiver {
  subscriptions: Subscriptions;
  /** Connections to make at the start; those to the nodes of a cluster are made later, by the subscriptions. */
  clients: RedisClient[];
  isReady(): boolean;
  /** What it does again and again. */
  repeated: Service[];
  end(): void;
}

/**
 * Create the connections of a process.
 *
 * @param url as REDIS_URL
 * @param options.commandTimeoutMs how long one command may take, milliseconds
 * @param options.areWritesReplicated whether there are connections for writes that a replica must confirm
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
    const cause = error.lastNodeError ?? error; // A cluster's own error says only that no node could be used.
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
  const isReady = () => subscriptions.isConnected;
  return { subscriptions, clients: [redis], repeated: [], isReady, end: () => undefined };
}

/** @param checks to which it adds its connections */
function createClusterReceiver(cluster: Cluster, checks: ConnectionChecks, log: Logger): Receiver {
  const subscriptions = new ClusterSubscriptions(
    cluster,
    (node) => {
      const redis = createNodeSubscriber(node, log);
      checks.add(redis);
      redis.connect().catch(() => undefined); // It keeps trying.
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
  // While one primary is away, messages of the others still arrive; the subscriptions take care of its own channels.
  const isReady = () => cluster.status === 'ready';
  return { subscriptions, clients: [], repeated: [check], isReady, end: () => subscriptions.end() };
}
