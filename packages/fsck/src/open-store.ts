import { CHECK_CONNECTIONS_MS, ConnectionChecks, createRedis, type RedisClient } from '@yardmaster/redis';
import { ConfigError, createLogger, every } from '@yardmaster/runtime';
import { createStore, FormatError, type Store, type StoreSettings } from '@yardmaster/store';
import { FsckError } from './fsck.js';

/** The stored data cannot be reached. The message is for the operator. */
export class AccessError extends Error {}

/**
 * Connect to Redis, run a function on its store, and disconnect.
 *
 * @param url REDIS_URL of the service; undefined when it is not set
 * @throws AccessError when Redis is unavailable at the start; if it goes away later, the client reconnects
 */
export async function withStore<T>(
  url: string | undefined,
  settings: Partial<StoreSettings>,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  if (url === undefined) {
    throw new AccessError('REDIS_URL is not set; set it or REDIS_URL_FILE as for the service, or pass --redis <url>');
  }
  const redis = createRedis(url, 'commands', createLogger('fsck', 'silent'));
  const store = await openStore(redis, settings);
  const checks = new ConnectionChecks();
  checks.add(redis);
  const checking = every({ name: 'connection checks', ms: CHECK_CONNECTIONS_MS, run: checks.run });
  await checking.start();
  try {
    return await use(store);
  } finally {
    await checking.stop(0);
    redis.disconnect();
  }
}

/** Connect, and create a store with the clock of the service: the manual clock, if it was started. */
async function openStore(redis: RedisClient, settings: Partial<StoreSettings>): Promise<Store> {
  const store = createStore(redis, settings);
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    const isClockManual = (await redis.exists(store.keys.manualClock)) === 1;
    return isClockManual ? createStore(redis, { ...settings, isClockManual }) : store;
  } catch (error) {
    redis.disconnect();
    if (reason === undefined && (error as Error).name === 'ReplyError') throw error;
    // The rejection is often just "Connection is closed"; the event has the reason.
    throw new AccessError(`no connection to Redis: ${messageOf(reason ?? error)}`);
  }
}

const FOR_OPERATORS = [AccessError, ConfigError, FsckError, FormatError];

/** Explain to an operator why a command failed. The text can contain the reply of Redis. */
export function reasonOf(error: unknown): string {
  if (FOR_OPERATORS.some((kind) => error instanceof kind)) return (error as Error).message;
  const { name, cause, stack } = error as Error;
  if (cause !== undefined) return `Redis does not respond: ${messageOf(cause)}`;
  // An error from Redis itself, such as a missing permission.
  if (name === 'ReplyError') return `Redis refused a command: ${messageOf(error)}`;
  return stack ?? messageOf(error);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
