import { createRedis } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';

/**
 * Connect a test to any kind of Redis that a URL can name. Commands wait during an outage.
 *
 * A test can't use a cluster if it needs more than a cluster supports, such as reading keys of several slots together.
 */
export function connectTo(url: string): Redis {
  return createRedis(url, 'worker', createLogger('test', 'silent')) as Redis;
}
