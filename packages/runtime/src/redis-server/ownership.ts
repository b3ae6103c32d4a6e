import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, shutDown, waitFor } from './probe.js';

/** Who uses a data folder, as written into it. */
interface Owner {
  /** Process that runs the redis-server. */
  pid: number;
  /** The redis-server, once it runs. */
  redisPid?: number | undefined;
  socket?: string;
  /** Folder made for the socket alone, when the data folder's path is too long for one. */
  socketDir?: string | null;
}

const fileOf = (dataDir: string) => join(dataDir, 'owner.json');

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // Another user's, but there.
  }
}

async function readOwner(file: string): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Owner;
  } catch {
    return null; // None, or cut short by a crash.
  }
}

/** A process that was killed could not stop its redis-server: stop it now, since two would write the same file. */
async function endLeftover({ redisPid, socket, socketDir }: Owner): Promise<void> {
  // Nobody on the socket: whatever process has that number by now, it is not the one we look for.
  if (socket !== undefined && (await answers(socket))) {
    await shutDown(socket);
    const isGone = await waitFor(() => redisPid === undefined || !isAlive(redisPid), 10_000);
    if (!isGone) throw new Error(`Process ${redisPid} is a redis-server left behind that does not end`);
  }
  if (socketDir) await rm(socketDir, { recursive: true, force: true });
}

/** Take the file of an owner that is gone out of the way, unless it is a new owner's by now. */
async function clearAway(file: string, owner: Owner | null): Promise<void> {
  const aside = `${file}.${process.pid}`;
  try {
    await rename(file, aside);
  } catch {
    return; // Somebody else did.
  }
  const moved = await readOwner(aside);
  if (moved?.pid === owner?.pid) await rm(aside, { force: true });
  else await rename(aside, file);
}

/**
 * Take a data folder for this process.
 *
 * @throws Error when another process that is alive has it, or left a redis-server there that does not end
 */
export async function takeOwnership(dataDir: string): Promise<void> {
  const file = fileOf(dataDir);
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      // `wx`: of two that start at once, one finds the other's file.
      await writeFile(file, JSON.stringify({ pid: process.pid } satisfies Owner), { mode: 0o600, flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = await readOwner(file);
    const isOther = owner !== null && owner.pid !== process.pid;
    if (isOther && isAlive(owner.pid)) {
      throw new Error(`${dataDir} is in use by process ${owner.pid}. Stop it, set another DATA_DIR, or delete ${file}`);
    }
    if (isOther) await endLeftover(owner);
    await clearAway(file, owner);
  }
  throw new Error(`${dataDir} is being taken by several processes at once`);
}

/** Note which redis-server this process runs on the folder, for whoever has to clean up after it. */
export async function noteOwner(dataDir: string, redis: Omit<Owner, 'pid'>): Promise<void> {
  await writeFile(fileOf(dataDir), JSON.stringify({ pid: process.pid, ...redis } satisfies Owner), { mode: 0o600 });
}

/** Give the folder back. */
export async function releaseOwnership(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
}
