import { createRedis } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';

/**
 * Connect a test to any kind of Redis that a URL can name. Commands wait through an outage.
 *
 * A test that does what a cluster does not support, such as reading keys of several slots at once, cannot use a cluster.
 */
export function connectTo(url: string): Redis {
  return createRedis(url, 'worker', createLogger('test', 'silent')) as Redis;
}
