import { Cluster, type Redis } from 'ioredis';

export type { Cluster };

/** A connection to Redis: to one server, which sentinels may find, or to each node of a cluster. */
export type RedisClient = Redis | Cluster;

/** Whether a client is connected to a cluster. */
export const isCluster = (client: RedisClient): client is Cluster => client instanceof Cluster;

/** List every Redis that contains data, to check it at the start or to search through it. */
export const primariesOf = (redis: RedisClient): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];
