import { startRedis } from '../own-redis.js';
import { startCluster } from '../redis/cluster.js';
import { startSentinels } from '../redis/sentinels.js';
import { startTlsRedis } from '../redis/tls.js';

/** Long, because a busy machine must not cause a failover; test/resilience/redis tests failovers. */
const NODE_TIMEOUT_MS = 15_000;

/** The kinds of Redis that REDIS_URL can name, with the function that starts each. */
export const REDIS_KINDS = {
  single: () => startRedis(),
  tls: () => startTlsRedis(),
  sentinel: () => startSentinels({ nodeTimeoutMs: NODE_TIMEOUT_MS }),
  cluster: () => startCluster({ nodeTimeoutMs: NODE_TIMEOUT_MS }),
} satisfies Record<string, () => Promise<{ url: string; stop(): Promise<void> }>>;

export type RedisKind = keyof typeof REDIS_KINDS;

export const isRedisKind = (text: string): text is RedisKind => Object.hasOwn(REDIS_KINDS, text);
