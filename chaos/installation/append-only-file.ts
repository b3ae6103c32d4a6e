import { open, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Random } from '../../test/support/random.js';

const LOST_AT_MOST_MS = 2_000; // Redis writes to the disk every second, or every two when the disk is slow.
const LOST_AT_LEAST_MS = 500;
const EVERY_MS = 10; // Interval of reading the length of the file.
const TORN = '*3\r\n$3\r\nSET\r\n$4\r\nto'; // A command that announces more bytes than it contains.

/**
 * Watch the length of the append-only file. Redis writes before it replies, so the length at a time shows what a power cut
 * loses.
 */
export async function watchTail(connection: Redis) {
  const path = await pathOf(connection);
  const seen: { at: number; length: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
  async function readLength(): Promise<void> {
    const at = Date.now(); // Before the length: effects with a reply by then are in the file.
    seen.push({ at, length: (await stat(path)).size });
    timer = setTimeout(() => (reading = readLength()), EVERY_MS);
  }
  await readLength();
  const lengthAgo = (ms: number) => {
    const at = (seen.at(-1)?.at as number) - ms;
    return (seen.findLast((one) => one.at <= at) ?? seen[0])?.length as number;
  };

  return {
    /** Stop watching, once Redis is dead. */
    async stop(): Promise<void> {
      await reading;
      clearTimeout(timer);
    },
    /**
     * Cut the file at a random byte written between two seconds and half a second before the end.
     *
     * @returns time up to which all effects are kept, epoch milliseconds
     */
    async cut(random: Random): Promise<number> {
      const first = lengthAgo(LOST_AT_MOST_MS);
      const length = first + random.below(lengthAgo(LOST_AT_LEAST_MS) - first + 1);
      await truncate(path, length);
      return seen.findLast((one) => one.length <= length)?.at as number;
    },
    /** Append half a command, as if the power had failed during the write. */
    async tear(): Promise<void> {
      const file = await open(path, 'a');
      await file.write(TORN);
      await file.close();
    },
  };
}

/** Find the file that Redis writes: the last of several in Redis 7, the only one in Redis 6. */
async function pathOf(connection: Redis): Promise<string> {
  const [, dir = ''] = (await connection.config('GET', 'dir')) as string[];
  const numberOf = (file: string) => Number(/\.(\d+)\.incr\.aof$/.exec(file)?.[1] ?? 0);
  const files = (await readdir(dir, { recursive: true })).filter((file) => file.endsWith('.aof'));
  return join(dir, files.sort((a, b) => numberOf(a) - numberOf(b)).at(-1) as string);
}
