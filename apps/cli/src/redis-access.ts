import { FsckError } from '@yardmaster/fsck';
import { createRedis, type RedisClient } from '@yardmaster/redis';
import { type Config, ConfigError, createLogger } from '@yardmaster/runtime';
import { FormatError } from '@yardmaster/store';
import { printable } from './printable.js';

/** Why a command cannot reach what is stored, in a sentence for people. */
export class NoAccess extends Error {}

/**
 * Connect to the Redis of the service.
 *
 * @throws NoAccess when there is no Redis at the start; the client waits for a Redis that goes away later
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

/** Return the reason why a command that works on Redis failed. */
export function sentenceOf(error: unknown): string {
  if (FOR_PEOPLE.some((kind) => error instanceof kind)) return (error as Error).message;
  const { name, cause, stack } = error as Error;
  if (cause !== undefined) return `Redis does not answer: ${messageOf(cause)}`;
  // An error of Redis itself, for example that this user lacks a permission.
  if (name === 'ReplyError') return `Redis refuses: ${messageOf(error)}`;
  return stack ?? messageOf(error);
}

const messageOf = (error: unknown) => printable(error instanceof Error ? error.message : String(error));
