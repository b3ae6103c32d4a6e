import { open, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Random } from '../../test/support/random.js';

const LOST_AT_MOST_MS = 2_000; // Redis writes to the disk every second, or two when that is slow.
const LOST_AT_LEAST_MS = 500;
const EVERY_MS = 10; // How often the length of the file is read.
const TORN = '*3\r\n$3\r\nSET\r\n$4\r\nto'; // A command that promises more bytes than it has.

/**
 * Watch the end of Redis' append-only file, which a power cut takes. What was answered was written before, so its length tells
 * what a cut costs.
 */
export async function watchTail(connection: Redis) {
  const path = await pathOf(connection);
  const seen: { at: number; length: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  async function look(): Promise<void> {
    const at = Date.now(); // Before the look: what was answered by then is in the file.
    seen.push({ at, length: (await stat(path)).size });
    timer = setTimeout(() => (looking = look()), EVERY_MS);
  }
  await look();
  const lengthAgo = (ms: number) => {
    const at = (seen.at(-1)?.at as number) - ms;
    return (seen.findLast((one) => one.at <= at) ?? seen[0])?.length as number;
  };

  return {
    /** Stop watching it, once Redis is dead. */
    async stop(): Promise<void> {
      await looking;
      clearTimeout(timer);
    },
    /**
     * Cut the file at a random byte of what was written between two seconds and half a second before the end.
     *
     * @returns the time up to which all that was answered is kept, epoch milliseconds
     */
    async cut(random: Random): Promise<number> {
      const first = lengthAgo(LOST_AT_MOST_MS);
      const length = first + random.below(lengthAgo(LOST_AT_LEAST_MS) - first + 1);
      await truncate(path, length);
      return seen.findLast((one) => one.length <= length)?.at as number;
    },
    /** Append half a command, as one that was being written when the power failed. */
    async tear(): Promise<void> {
      const file = await open(path, 'a');
      await file.write(TORN);
      await file.close();
    },
  };
}

/** Redis 7 has several files in a folder, and writes to the last; Redis 6 has one. */
async function pathOf(connection: Redis): Promise<string> {
  const [, dir = ''] = (await connection.config('GET', 'dir')) as string[];
  const numberOf = (file: string) => Number(/\.(\d+)\.incr\.aof$/.exec(file)?.[1] ?? 0);
  const files = (await readdir(dir, { recursive: true })).filter((file) => file.endsWith('.aof'));
  return join(dir, files.sort((a, b) => numberOf(a) - numberOf(b)).at(-1) as string);
}
