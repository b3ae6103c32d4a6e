import { startRedis } from '../own-redis.js';
import { startCluster } from '../redis/cluster.js';
import { startSentinels } from '../redis/sentinels.js';
import { startTlsRedis } from '../redis/tls.js';

/** Each kind of Redis that REDIS_URL can name, with what starts one. */
export const REDIS_KINDS = {
  single: () => startRedis(),
  tls: () => startTlsRedis(),
  sentinel: () => startSentinels(),
  cluster: () => startCluster(),
} satisfies Record<string, () => Promise<{ url: string; stop(): Promise<void> }>>;

export type RedisKind = keyof typeof REDIS_KINDS;

export const isRedisKind = (text: string): text is RedisKind => Object.hasOwn(REDIS_KINDS, text);
