import { Cluster, type Redis } from 'ioredis';

/** A connection to Redis: to one server, which sentinels may find, or to each node of a cluster. */
export type RedisClient = Redis | Cluster;

/** Whether a client is connected to a cluster. */
export const isCluster = (client: RedisClient): client is Cluster => client instanceof Cluster;
