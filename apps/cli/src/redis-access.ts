import { type Config, ConfigError, createLogger, createRedis, type RedisClient } from '@yardmaster/runtime';
import { FormatError, FsckError } from '@yardmaster/store';
import { printable } from './printable.js';

/** What keeps a command from reaching what is stored, in a sentence for people. */
export class NoAccess extends Error {}

/**
 * Connect to the Redis of the service.
 *
 * @throws NoAccess when there is none to begin with; one that goes away later is waited for
 */
export async function connectToRedis({ REDIS_URL }: Config<'REDIS_URL'>): Promise<RedisClient> {
  if (REDIS_URL === undefined) {
    throw new NoAccess('REDIS_URL is not set; set it as for the service, or pass --redis <url>');
  }
  const redis = createRedis(REDIS_URL, 'commands', createLogger('cli', 'silent'));
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw new NoAccess(`no connection to Redis: ${messageOf(reason ?? error)}`);
  }
}

const FOR_PEOPLE = [NoAccess, ConfigError, FsckError, FormatError];

/** Say why a command that works on Redis failed. */
export function sentenceOf(error: unknown): string {
  if (FOR_PEOPLE.some((kind) => error instanceof kind)) return (error as Error).message;
  const { name, cause, stack } = error as Error;
  if (cause !== undefined) return `Redis does not answer: ${messageOf(cause)}`;
  // What Redis itself said, such as that this user may not do so.
  if (name === 'ReplyError') return `Redis refuses: ${messageOf(error)}`;
  return stack ?? messageOf(error);
}

const messageOf = (error: unknown) => printable(error instanceof Error ? error.message : String(error));
