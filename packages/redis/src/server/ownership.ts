import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** Owner of a data folder, as stored in it. */
interface Owner {
  /** ID of the process that runs the redis-server; null once it has released the folder. */
  pid: number | null;
  /** Process ID of the redis-server, once it runs. */
  redisPid?: number | undefined;
  socket?: string;
  /** Folder created just for the socket if the data folder's path is too long for one. */
  socketDir?: string | null;
}

/** Ownership of a folder by this process. */
export interface Ownership {
  /** Record which redis-server this process runs on the folder, in case the next owner has to clean up. */
  note(redis: Omit<Owner, 'pid'>): Promise<void>;
  /** Release the folder. */
  release(): Promise<void>;
}

/** Return the file of an owner. Each owner has its own file, numbered one higher; the highest number owns the folder. */
const fileOf = (dataDir: string, number: number) => join(dataDir, `owner-${number}.json`);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // The process exists but belongs to another user.
  }
}

/** Return the numbers of the owners whose files exist, in ascending order. */
async function ownerNumbers(dataDir: string): Promise<number[]> {
  const found = (await readdir(dataDir)).map((name) => Number(/^owner-(\d+)\.json$/.exec(name)?.[1] ?? 0));
  return found.filter((number) => number > 0).sort((a, b) => a - b);
}

async function readOwner(dataDir: string, number: number): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(fileOf(dataDir, number), 'utf8')) as Owner;
  } catch {
    return null; // The file doesn't exist, or was truncated by a power failure.
  }
}

/** Write an owner's file atomically, so that no process ever reads a partial one. */
async function publish(dataDir: string, owner: Owner, put: (written: string) => Promise<void>): Promise<void> {
  const written = join(dataDir, `owner.${randomUUID()}.part`);
  await writeFile(written, JSON.stringify(owner), { mode: 0o600 });
  try {
    await put(written);
  } finally {
    await rm(written, { force: true });
  }
}

async function call(socket: string, ...command: [string, ...string[]]): Promise<unknown> {
  const redis = new Redis(socket, {
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 2_000,
    disconnectTimeout: 50,
  });
  redis.on('error', () => undefined); // The failing call reports the error.
  try {
    await redis.connect();
    return await redis.call(...command);
  } finally {
    redis.disconnect();
  }
}

/** Return whether the redis-server on a Unix socket has loaded its data and replies. */
export async function isServing(socket: string): Promise<boolean> {
  // While loading, it replies with the error LOADING.
  return (await call(socket, 'PING').catch(() => null)) === 'PONG';
}

/** Stop the redis-server of a process that was killed before it could stop it, or two servers would write the same file. */
async function endLeftover({ redisPid, socket, socketDir }: Owner): Promise<void> {
  // If nothing responds on the socket, the process with this ID is a different one.
  if (socket !== undefined && (await isServing(socket))) {
    // It flushes its append-only file first, and closes the connection instead of replying.
    await call(socket, 'SHUTDOWN', 'NOSAVE').catch(() => undefined);
    for (const end = performance.now() + 10_000; redisPid !== undefined && isAlive(redisPid); await delay(20)) {
      if (performance.now() >= end)
        throw new Error(`Process ${redisPid} is a leftover redis-server that does not exit`);
    }
  }
  if (socketDir) await rm(socketDir, { recursive: true, force: true });
}

/** Claim a number. @returns whether we got it; if two processes claim it, the file system lets only one have it */
async function claim(dataDir: string, number: number): Promise<boolean> {
  try {
    await publish(dataDir, { pid: process.pid }, (written) => link(written, fileOf(dataDir, number)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // Between our check and our claim, other processes may have claimed this number, claimed higher ones, and removed it.
  if ((await ownerNumbers(dataDir)).at(-1) === number) return true;
  await rm(fileOf(dataDir, number), { force: true });
  return false;
}

/**
 * Remove earlier owners. Only the owner may do this: all use the same socket name, so a late second owner would stop the new
 * redis-server.
 */
async function removeOwnersBefore(dataDir: string, number: number): Promise<void> {
  for (const earlier of await ownerNumbers(dataDir)) {
    if (earlier >= number) continue;
    const owner = await readOwner(dataDir, earlier);
    if (owner?.pid) await endLeftover(owner);
    await rm(fileOf(dataDir, earlier), { force: true });
  }
}

/**
 * Take ownership of a data folder, and stop a redis-server that a killed process left behind there.
 *
 * @throws Error if another live process owns it, or a leftover redis-server doesn't exit
 */
export async function takeOwnership(dataDir: string): Promise<Ownership> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const latest = (await ownerNumbers(dataDir)).at(-1) ?? 0;
    const pid = (await readOwner(dataDir, latest))?.pid;
    if (pid && pid !== process.pid && isAlive(pid)) {
      const file = fileOf(dataDir, latest);
      throw new Error(
        `${dataDir} is in use by process ${pid}. Stop it, or set another DATA_DIR. If that process is another program, delete ${file}`,
      );
    }
    const number = latest + 1;
    if (!(await claim(dataDir, number))) continue;
    await removeOwnersBefore(dataDir, number);
    const write = (owner: Owner) => publish(dataDir, owner, (written) => rename(written, fileOf(dataDir, number)));
    return {
      note: (redis) => write({ pid: process.pid, ...redis }),
      // Keep the file: if numbers were reused, a process that saw the previous owner could still take the next number.
      release: () => write({ pid: null }),
    };
  }
  throw new Error(`${dataDir} is being taken by several processes at once`);
}
