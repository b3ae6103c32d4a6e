import { fsck } from '@yardmaster/fsck';
import { keepAlive, type RedisClient } from '@yardmaster/redis';
import { type Config, readConfig } from '@yardmaster/runtime';
import { createStore, type Store } from '@yardmaster/store';
import { FSCK_EXIT } from '../exit-codes.js';
import type { FsckRequest } from '../fsck-command.js';
import { connectToRedis, sentenceOf } from '../redis-access.js';
import { jsonReport } from './json-report.js';
import { type ReportOptions, textReport } from './text-report.js';

const VARIABLES = ['REDIS_URL', 'KEY_PREFIX', 'RETENTION_SECONDS', 'DELIVERY_TIMEOUT_SECONDS'] as const;

export interface RunFsckOptions extends Omit<ReportOptions, 'isRepairing' | 'isVerbose' | 'format'> {
  /** Ends the check between two steps when it is aborted. */
  signal: AbortSignal;
}

/**
 * Check what is stored, and report what is wrong with it.
 *
 * @returns the exit code
 */
export async function runFsck(request: FsckRequest, options: RunFsckOptions): Promise<number> {
  const { isRepairing } = request;
  const report = request.format === 'json' ? jsonReport(options) : textReport({ ...options, ...request });
  let redis: RedisClient | null = null;
  try {
    const config = readConfig(request.variables, VARIABLES);
    const { signal } = options;
    redis = await connectToRedis(config);
    const stopWatching = keepAlive(redis);
    const seen = await fsck(storeOn(redis, config), {
      isRepairing,
      onFault: report.fault,
      onProgress: report.progress,
      signal,
    }).finally(stopWatching);
    const left = report.end(seen, signal.aborted);
    if (signal.aborted) return FSCK_EXIT.interrupted;
    return left > 0 ? FSCK_EXIT.faults : FSCK_EXIT.clean;
  } catch (error) {
    report.close();
    options.err.write(`yardmaster: ${sentenceOf(error)}\n`);
    return FSCK_EXIT.unchecked;
  } finally {
    redis?.disconnect();
  }
}

function storeOn(redis: RedisClient, config: Config<(typeof VARIABLES)[number]>): Store {
  return createStore(redis, {
    keyPrefix: config.KEY_PREFIX,
    retentionMs: config.RETENTION_SECONDS * 1000,
    deliveryTimeoutMs: config.DELIVERY_TIMEOUT_SECONDS * 1000,
  });
}
