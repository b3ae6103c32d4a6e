export * from './config.js';
export * from './logger.js';
export { createRedis, onceReachable, type RedisUse, watchConnection } from './redis.js';
export type { RedisBinary } from './redis-server/binary.js';
export { findRedisServer } from './redis-server/find.js';
export { PrivateRedis, type PrivateRedisOptions } from './redis-server/private.js';
export * from './service.js';
export * from './variables.js';
