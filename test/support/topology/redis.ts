import { startRedis } from '../own-redis.js';
import { startCluster } from '../redis/cluster.js';
import { startSentinels } from '../redis/sentinels.js';
import { startTlsRedis } from '../redis/tls.js';

/** A machine that is busy with tests is no failure; what fails over does so in test/resilience/redis. */
const PATIENCE_MS = 15_000;

/** Each kind of Redis that REDIS_URL can name, with what starts one. */
export const REDIS_KINDS = {
  single: () => startRedis(),
  tls: () => startTlsRedis(),
  sentinel: () => startSentinels({ patienceMs: PATIENCE_MS }),
  cluster: () => startCluster({ patienceMs: PATIENCE_MS }),
} satisfies Record<string, () => Promise<{ url: string; stop(): Promise<void> }>>;

export type RedisKind = keyof typeof REDIS_KINDS;

export const isRedisKind = (text: string): text is RedisKind => Object.hasOwn(REDIS_KINDS, text);
