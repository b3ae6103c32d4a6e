import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** Owner of a data folder, as written into it. */
interface Owner {
  /** Process that runs the redis-server, or null once it has released the folder. */
  pid: number | null;
  /** Process id of the redis-server, once it runs. */
  redisPid?: number | undefined;
  socket?: string;
  /** Folder made only for the socket, when the data folder's path is too long for one. */
  socketDir?: string | null;
}

/** Ownership of a folder that this process has taken. */
export interface Ownership {
  /** Record which redis-server this process runs on the folder, for the next owner that has to clean up. */
  note(redis: Omit<Owner, 'pid'>): Promise<void>;
  /** Release the folder. */
  release(): Promise<void>;
}

/** Each owner has a file of its own, one number above the previous owner's. The highest number owns the folder. */
const fileOf = (dataDir: string, number: number) => join(dataDir, `owner-${number}.json`);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // The process exists, but belongs to another user.
  }
}

/** Return the numbers of the owners whose files exist, the highest last. */
async function ownerNumbers(dataDir: string): Promise<number[]> {
  const found = (await readdir(dataDir)).map((name) => Number(/^owner-(\d+)\.json$/.exec(name)?.[1] ?? 0));
  return found.filter((number) => number > 0).sort((a, b) => a - b);
}

async function readOwner(dataDir: string, number: number): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(fileOf(dataDir, number), 'utf8')) as Owner;
  } catch {
    return null; // There is no file, or a power cut has cut it short.
  }
}

/** Write an owner's file in one piece, so that no process ever reads half of one. */
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
  redis.on('error', () => undefined); // The call that fails reports this.
  try {
    await redis.connect();
    return await redis.call(...command);
  } finally {
    redis.disconnect();
  }
}

/** Whether the redis-server on a unix socket has loaded its data and replies. */
export async function isServing(socket: string): Promise<boolean> {
  // While it loads, its reply is the error LOADING.
  return (await call(socket, 'PING').catch(() => null)) === 'PONG';
}

/** Stop the redis-server of a process that was killed and could not stop it: two servers would write the same file. */
async function endLeftover({ redisPid, socket, socketDir }: Owner): Promise<void> {
  // When nothing responds on the socket, the process that has this id now is another one.
  if (socket !== undefined && (await isServing(socket))) {
    // It flushes its append-only file first, and closes the connection instead of replying.
    await call(socket, 'SHUTDOWN', 'NOSAVE').catch(() => undefined);
    for (const end = performance.now() + 10_000; redisPid !== undefined && isAlive(redisPid); await delay(20)) {
      if (performance.now() >= end)
        throw new Error(`Process ${redisPid} is a redis-server left behind that does not end`);
    }
  }
  if (socketDir) await rm(socketDir, { recursive: true, force: true });
}

/** Claim a number. @returns whether it is ours now: of two processes that claim it, the file system lets one have it */
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
 * Remove earlier owners, only as the owner: all use one socket name, so a late second owner would end the new
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
 * Take a data folder for this process. Ends the redis-server that a killed process left behind on it.
 *
 * @throws Error when another process that is alive has it, or left a redis-server there that does not end
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
      // The file stays: if numbers were reused, a process that saw the owner before us could still take the next number.
      release: () => write({ pid: null }),
    };
  }
  throw new Error(`${dataDir} is being taken by several processes at once`);
}
