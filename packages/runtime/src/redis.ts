import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from './logger.js';

/** What a connection is for; each use fails in its own way (docs/architecture.md, "Connections"). */
export type RedisUse = 'commands' | 'subscriber' | 'worker';

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
  // Redis 6.2 wraps what a script's command got: `ERR Error running script …: -READONLY …`.
  reconnectOnError: (error) => /(^|: -)READONLY\b/.test(error.message),
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
  // Whoever subscribes does so again at each `ready`: ioredis drops the promise of its own attempt, and when that
  // is not answered in time the rejection, unhandled, ends the process. Nor may it send again what it sent before.
  subscriber: {
    ...COMMON,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
  },
  // BullMQ asks for this: its workers wait through an outage. Its commands may come twice, which it is made for; what
  // must not is done over a connection for commands. It also gives up for good on a connection whose first attempt
  // fails, unless that is under way by the time it is handed over.
  worker: { ...COMMON, lazyConnect: false, maxRetriesPerRequest: null },
};

/** ioredis reads host and port from a URL by itself, but not a socket path. */
function addressOf(url: string): string {
  return url.startsWith('unix://') ? url.slice('unix://'.length) : url;
}

/**
 * Make a connection; it connects when `connect` is called, one for a worker at once, and reconnects for ever.
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

export interface WaitOptions {
  /** Whether an error means that Redis is not there yet. */
  isUnavailable: (error: unknown) => boolean;
  /** Told of an error that is another than the one before. */
  onWait: (error: unknown) => void;
  /** Ends the waiting: the error is thrown. */
  signal: AbortSignal;
}

/** Keep trying until Redis is there. */
export async function onceReachable<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { isUnavailable, onWait, signal } = options;
  for (let said = ''; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error;
      const cause = String((error as Error).cause ?? error);
      if (cause !== said) onWait(error);
      said = cause;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** How long a pong may take: longer than a command, since a long reply in front of it is no fault of the connection. */
const PONG_MS = 3_000;

async function answersPing(redis: Redis): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PONG_MS, false).unref();
  });
  const pong = redis.ping().then(
    () => true,
    // The command's own time-out is shorter; ask again within the deadline. Any other error is for `close` to mend.
    (error: Error) =>
      error.message === 'Command timed out'
        ? redis.ping().then(
            () => true,
            () => false,
          )
        : true,
  );
  const answered = await Promise.race([pong, late]);
  clearTimeout(timer);
  return answered;
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
    const { stream } = redis;
    // Only the socket that was asked: it may have been replaced meanwhile.
    if (!(await answersPing(redis)) && redis.stream === stream) redis.disconnect(true);
    waiting = false;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
