import type { RedisClient } from '@yardmaster/redis';
import { readConfig } from '@yardmaster/runtime';
import { createStore, FORMAT, FormatError, isInUse, raiseFormat, readFormat, type Store } from '@yardmaster/store';
import { FORMAT_EXIT } from './exit-codes.js';
import type { FormatRequest } from './format-command.js';
import { connectToRedis, NoAccess, sentenceOf } from './redis-access.js';

interface Channel {
  write(text: string): unknown;
}

/**
 * Show or raise the format of what is stored.
 *
 * @returns the exit code
 */
export async function runFormat(
  { isRaising, variables }: FormatRequest,
  { out, err }: { out: Channel; err: Channel },
): Promise<number> {
  let redis: RedisClient | null = null;
  try {
    const config = readConfig(variables, ['REDIS_URL', 'KEY_PREFIX']);
    redis = await connectToRedis(config);
    const store = createStore(redis, { keyPrefix: config.KEY_PREFIX });
    await expectOurs(store);
    out.write(`${await (isRaising ? raise(store) : show(store))}\n`);
    return FORMAT_EXIT.done;
  } catch (error) {
    err.write(`yardmaster: ${sentenceOf(error)}\n`);
    return error instanceof FormatError ? FORMAT_EXIT.newer : FORMAT_EXIT.failed;
  } finally {
    redis?.disconnect();
  }
}

/** Refuse a prefix without data, because a format would otherwise be written under a wrong prefix. */
async function expectOurs(store: Store): Promise<void> {
  const { keyPrefix } = store.settings;
  if (!(await isInUse(store)))
    throw new NoAccess(`there is no Yardmaster data under the prefix ${keyPrefix}: is this the right Redis?`);
}

const show = async (store: Store) =>
  `Redis holds format ${await readFormat(store)}. This release knows formats up to ${FORMAT}.`;

async function raise(store: Store): Promise<string> {
  const before = await raiseFormat(store);
  return before === FORMAT
    ? `Redis holds format ${FORMAT}, the highest that this release knows: there is nothing to do.`
    : `Raised the format from ${before} to ${FORMAT}. Releases that do not know it refuse to start.`;
}
