import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from './logger.js';

/** What a connection is for; each use fails in its own way (docs/architecture.md, "Connections"). */
export type RedisUse = 'commands' | 'subscriber';

/** Reconnect quickly and for ever: service must be back within 2 s of Redis' return. */
const retryStrategy = (attempt: number) => Math.min(attempt * 50, 500);

const COMMON: RedisOptions = {
  lazyConnect: true,
  retryStrategy,
  connectTimeout: 2_000,
  keepAlive: 10_000,
  // How long a closing socket may linger; its timer also keeps the process from ending.
  disconnectTimeout: 100,
  // A failed-over primary answers READONLY on the old connection for ever.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
};

const BY_USE: Record<RedisUse, RedisOptions> = {
  commands: {
    ...COMMON,
    // By default ioredis sends a command again when the connection breaks before its reply: two claims, one answer.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // While there is no connection a caller gets its 503 at once, and nothing piles up in memory.
    enableOfflineQueue: false,
    // 503 within 2 s, with room for the rest of the request.
    commandTimeout: 1_500,
    // ioredis' socketTimeout is left off: its timer outlives the socket it was set for and then cuts the next one.
    // `watchConnection` finds half-open connections instead.
  },
  subscriber: { ...COMMON, maxRetriesPerRequest: null, autoResubscribe: true, commandTimeout: 2_000 },
};

/** ioredis reads host and port from a URL by itself, but not a socket path. */
function addressOf(url: string): string {
  return url.startsWith('unix://') ? url.slice('unix://'.length) : url;
}

/**
 * Make a connection; it connects when `connect` is called and reconnects for ever.
 *
 * @param url `redis://`, `rediss://` or `unix:///path`
 */
export function createRedis(url: string, use: RedisUse, log: Logger): Redis {
  const redis = new Redis(addressOf(url), BY_USE[use]);
  // One line per change, not per attempt: an outage must not fill the disk.
  let healthy = true;
  redis.on('error', (err) => {
    if (healthy) log.error({ err, use }, 'redis connection lost');
    healthy = false;
  });
  redis.on('ready', () => {
    if (!healthy) log.info({ use }, 'redis connection restored');
    healthy = true;
  });
  return redis;
}

/**
 * Keep asking until Redis is there.
 *
 * @param attempt what to do on the connection; called again while `isUnavailable` says so of its error
 */
export async function onceReachable<T>(
  attempt: () => Promise<T>,
  {
    isUnavailable,
    signal,
    everyMs = 250,
  }: { isUnavailable: (error: unknown) => boolean; signal: AbortSignal; everyMs?: number },
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/**
 * Ping a connection, and make a new one when no pong comes: a half-open one never heals by itself, and pub/sub
 * loses silently.
 *
 * @returns a function that ends the watch
 */
export function watchConnection(redis: Redis, everyMs = 1_000): () => void {
  let waiting = false;
  const timer = setInterval(async () => {
    if (waiting || redis.status !== 'ready') return;
    waiting = true;
    // The command time-out is the deadline. A new connection also subscribes again.
    await redis.ping().catch(() => redis.status === 'ready' && redis.disconnect(true));
    waiting = false;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
