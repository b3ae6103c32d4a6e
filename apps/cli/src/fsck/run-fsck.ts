import {
  type Config,
  ConfigError,
  createLogger,
  createRedis,
  type RedisClient,
  readConfig,
  watchConnection,
} from '@yardmaster/runtime';
import { createStore, FsckError, fsck, type Store } from '@yardmaster/store';
import { FSCK_EXIT } from '../exit-codes.js';
import type { FsckRequest } from '../fsck-command.js';
import { printable } from '../printable.js';
import { jsonReport } from './json-report.js';
import { type ReportOptions, textReport } from './text-report.js';

const VARIABLES = ['REDIS_URL', 'KEY_PREFIX', 'RETENTION_SECONDS', 'DELIVERY_TIMEOUT_SECONDS'] as const;

export interface RunFsckOptions extends Omit<ReportOptions, 'isMending' | 'isVerbose' | 'format'> {
  /** Ends the check between two steps. */
  signal: AbortSignal;
}

/** What keeps a check from being made, in a sentence for people. */
class Unchecked extends Error {}

/**
 * Check what is stored, and say what is wrong with it.
 *
 * @returns the exit code
 */
export async function runFsck(request: FsckRequest, options: RunFsckOptions): Promise<number> {
  const { isMending } = request;
  const report = request.format === 'json' ? jsonReport(options) : textReport({ ...options, ...request });
  let redis: RedisClient | null = null;
  try {
    const config = readConfig(request.variables, VARIABLES);
    const { signal } = options;
    redis = await connect(config);
    const stopWatching = watchConnection(redis);
    const seen = await fsck(storeOn(redis, config), {
      isMending,
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

/** @throws Unchecked when there is no Redis to begin with; one that goes away later is waited for. */
async function connect({ REDIS_URL }: Config<'REDIS_URL'>): Promise<RedisClient> {
  if (REDIS_URL === undefined) {
    throw new Unchecked('where is Redis? Put its address into REDIS_URL, as the service has it, or give --redis');
  }
  const redis = createRedis(REDIS_URL, 'commands', createLogger('fsck', 'silent'));
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw new Unchecked(`no connection to Redis: ${messageOf(reason ?? error)}`);
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof Unchecked || error instanceof ConfigError || error instanceof FsckError) return error.message;
  const { name, cause, stack } = error as Error;
  if (cause !== undefined) return `Redis does not answer: ${messageOf(cause)}`;
  // What Redis itself said, such as that this user may not do so.
  if (name === 'ReplyError') return `Redis refuses: ${messageOf(error)}`;
  return stack ?? messageOf(error);
}

const messageOf = (error: unknown) => printable(error instanceof Error ? error.message : String(error));
