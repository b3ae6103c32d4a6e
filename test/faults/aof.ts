import { open, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Random } from '../logs/random.js';

/** The end of Redis' append-only file, as a power cut leaves it. */
export interface Tail {
  /** Look no more, once Redis is dead. */
  stop(): Promise<void>;
  /**
   * Cut it off at a random byte of what was written in the last two seconds, but not of the last half.
   *
   * @returns bytes cut off; the time up to which everything that was answered is kept, and that at which Redis died,
   *   epoch milliseconds
   */
  cut(random: Random): Promise<{ bytes: number; keptUntil: number; died: number }>;
  /** Leave half a command behind, as one that was being written when the power went. */
  tear(): Promise<void>;
}

/** Redis writes to the disk every second, or two when that is slow. */
const LOST_AT_MOST_MS = 2_000;
const LOST_AT_LEAST_MS = 500;

interface Seen {
  at: number;
  length: number;
}

/** How often the length of the file is looked at. */
const EVERY_MS = 10;

/** Of a command that was being written: a length that promises more than comes. */
const TORN = '*3\r\n$3\r\nSET\r\n$4\r\nto';

/** Look at the file from now on. What was answered was written before, so its length tells what a cut costs. */
export async function watchTail(connection: Redis): Promise<Tail> {
  const path = await pathOf(connection);
  const seen: Seen[] = [];
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  async function look(): Promise<void> {
    const at = Date.now(); // Before the look: what was answered by then is in it.
    seen.push({ at, length: (await stat(path)).size });
    timer = setTimeout(() => (looking = look()), EVERY_MS);
  }
  await look();
  const died = () => (seen.at(-1) as Seen).at;
  const lengthAgo = (ms: number) => (seen.findLast(({ at }) => at <= died() - ms) ?? (seen[0] as Seen)).length;

  return {
    async stop() {
      await looking;
      clearTimeout(timer);
    },
    async cut(random) {
      const { size } = await stat(path);
      const first = lengthAgo(LOST_AT_MOST_MS);
      const length = first + random.below(lengthAgo(LOST_AT_LEAST_MS) - first + 1);
      await truncate(path, length);
      const kept = seen.findLast((one) => one.length <= length) as Seen;
      return { bytes: size - length, keptUntil: kept.at, died: died() };
    },
    async tear() {
      const file = await open(path, 'a');
      await file.write(TORN);
      await file.close();
    },
  };
}

/** Redis 7 has several files in a folder, of which the last is written to; Redis 6 has one. */
async function pathOf(connection: Redis): Promise<string> {
  const { dir, appendfilename, appenddirname } = await settingsOf(connection);
  if (appenddirname === undefined) return join(dir as string, appendfilename as string);
  const folder = join(dir as string, appenddirname);
  const numbered = (await readdir(folder)).map((file) => [Number(/\.(\d+)\.incr\.aof$/.exec(file)?.[1] ?? 0), file]);
  const [, last] = numbered.sort(([a], [b]) => Number(a) - Number(b)).at(-1) as [number, string];
  return join(folder, last);
}

async function settingsOf(connection: Redis): Promise<Record<string, string | undefined>> {
  const flat = (await Promise.all(['dir', 'append*'].map((name) => connection.config('GET', name)))).flat() as string[];
  return Object.fromEntries(flat.flatMap((word, i) => (i % 2 === 0 ? [[word, flat[i + 1]]] : [])));
}
