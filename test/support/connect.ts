import { createRedis } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';

/**
 * A connection of a test's own, whichever kind of Redis this URL names. Commands wait through an outage.
 *
 * A test that asks for what a cluster has not, such as keys of several slots at once, is not for clusters.
 */
export function connectTo(url: string): Redis {
  return createRedis(url, 'worker', createLogger('test', 'silent')) as Redis;
}
