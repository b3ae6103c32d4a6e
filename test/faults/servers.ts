import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { type RedisCluster, startCluster } from '../support/redis/cluster.js';
import { type RedisNode, startNode } from '../support/redis/node.js';
import { type Sentinels, startSentinels } from '../support/redis/sentinels.js';

/** What an installation keeps everything in. */
export interface Servers {
  /** The only one, or the first primary. */
  redis: RedisNode;
  /** Null where there are none. */
  sentinels: Sentinels | null;
  /** Null where Redis is no cluster. */
  cluster: RedisCluster | null;
  /** Where processes find it, past their proxies; undefined: through those. */
  url: string | undefined;
  /** Of the test's own; its commands wait through an outage. */
  connection: Redis;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Lines of redis.conf behind ours, of one Redis. */
  redisLines?: readonly string[];
  /** One primary, two replicas and three Sentinels in place of one Redis; no proxy stands in front of them. */
  hasSentinels?: boolean;
  /** Three primaries with a replica each in place of one Redis; no proxy stands in front of them. */
  isCluster?: boolean;
}

/** So many ranges of slots for each primary give each of them one of the load's spaces. */
const RANGES = 4;

/** Start Redis, as one, with Sentinels or as a cluster, and connect to it. */
export async function startServers(options: ServerOptions): Promise<Servers> {
  const { redisLines = [], hasSentinels, isCluster } = options;
  const sentinels = hasSentinels ? await startSentinels() : null;
  const cluster = isCluster ? await startCluster({ ranges: RANGES }) : null;
  const many = sentinels ?? cluster;
  const redis = many?.nodes[0] ?? (await startNode({ lines: (port) => [`port ${port}`, ...redisLines] }));
  const connection = connectTo(many?.url ?? `redis://127.0.0.1:${redis.port}`);
  connection.on('error', () => undefined); // It is told by the commands, which wait.
  return {
    redis,
    sentinels,
    cluster,
    url: many?.url,
    connection,
    async stop() {
      connection.disconnect();
      await (many ?? redis).stop();
    },
  };
}
