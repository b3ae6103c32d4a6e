import { randomUUID } from 'node:crypto';
import { startApiProcess } from './api-process.js';
import type { Api } from './reading.js';

export interface ReadingApi extends Api {
  prefix: string;
  stop(): Promise<void>;
}

/**
 * Start an API as a process of its own, for tests that read megabytes: the reply parser of ioredis keeps a timer for
 * seconds after it has read large entries, which this process would have to wait for.
 */
export async function startReadingApi(redisUrl?: string): Promise<ReadingApi> {
  const prefix = `t-${randomUUID().slice(0, 8)}`;
  const { call, stop } = await startApiProcess({ prefix }, redisUrl);
  return { prefix, call, stop };
}
