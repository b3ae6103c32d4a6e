import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shutDown, waitFor } from './probe.js';

/** Who uses a data folder, as written into it. */
interface Owner {
  /** Process that runs the redis-server. */
  pid: number;
  /** The redis-server, once it runs. */
  redisPid?: number;
  socket?: string;
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

async function readOwner(dataDir: string): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(fileOf(dataDir), 'utf8')) as Owner;
  } catch {
    return null; // None, or cut short by a crash.
  }
}

/** A process that was killed could not stop its redis-server: stop it now, since two would write the same file. */
async function endLeftover(dataDir: string, { redisPid, socket }: Owner): Promise<void> {
  if (redisPid === undefined || socket === undefined || !isAlive(redisPid)) return;
  await shutDown(socket);
  if (await waitFor(() => !isAlive(redisPid), 10_000)) {
    // A socket elsewhere has a folder of its own, see MAX_SOCKET_PATH.
    if (dirname(socket) !== dataDir) await rm(dirname(socket), { recursive: true, force: true });
    return;
  }
  throw new Error(`Process ${redisPid}, a redis-server left behind, may still use ${dataDir}: end it first`);
}

/**
 * Take a data folder for this process.
 *
 * @throws Error when another process that is alive has it, or left a redis-server there that does not end
 */
export async function takeOwnership(dataDir: string): Promise<void> {
  const owner = await readOwner(dataDir);
  if (owner !== null && owner.pid !== process.pid) {
    if (isAlive(owner.pid)) {
      throw new Error(
        `${dataDir} is in use by process ${owner.pid}. Stop it, set another DATA_DIR, or delete ${fileOf(dataDir)}`,
      );
    }
    await endLeftover(dataDir, owner);
  }
  await noteOwner(dataDir, {});
}

/** Note which redis-server this process runs on the folder, for whoever has to clean up after it. */
export async function noteOwner(dataDir: string, redis: Omit<Owner, 'pid'>): Promise<void> {
  await writeFile(fileOf(dataDir), JSON.stringify({ pid: process.pid, ...redis } satisfies Owner), { mode: 0o600 });
}

/** Give the folder back. */
export async function releaseOwnership(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
}
