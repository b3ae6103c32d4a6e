import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, shutDown, waitFor } from './probe.js';

/** Who uses a data folder, as written into it. */
interface Owner {
  /** Process that runs the redis-server, or null once it gave the folder back. */
  pid: number | null;
  /** The redis-server, once it runs. */
  redisPid?: number | undefined;
  socket?: string;
  /** Folder made for the socket alone, when the data folder's path is too long for one. */
  socketDir?: string | null;
}

/** A folder taken. */
export interface Ownership {
  /** Note which redis-server this process runs on the folder, for whoever has to clean up after it. */
  note(redis: Omit<Owner, 'pid'>): Promise<void>;
  /** Give the folder back. */
  release(): Promise<void>;
}

/** Each owner has a file of its own, one number above the owner's before; the folder is the highest one's. */
const fileOf = (dataDir: string, number: number) => join(dataDir, `owner-${number}.json`);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // Another user's, but there.
  }
}

/** Numbers of the owners whose files are there, the highest last. */
async function ownerNumbers(dataDir: string): Promise<number[]> {
  const found = (await readdir(dataDir)).map((name) => Number(/^owner-(\d+)\.json$/.exec(name)?.[1] ?? 0));
  return found.filter((number) => number > 0).sort((a, b) => a - b);
}

async function readOwner(dataDir: string, number: number): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(fileOf(dataDir, number), 'utf8')) as Owner;
  } catch {
    return null; // None, or cut short by a power cut.
  }
}

/** Put an owner's file there in one piece, so that nobody ever reads half of one. */
async function publish(dataDir: string, owner: Owner, put: (written: string) => Promise<void>): Promise<void> {
  const written = join(dataDir, `owner.${randomUUID()}.part`);
  await writeFile(written, JSON.stringify(owner), { mode: 0o600 });
  try {
    await put(written);
  } finally {
    await rm(written, { force: true });
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

/** @returns whether the number was free and is ours now: of two that want the same one, the file system lets one have it */
async function claim(dataDir: string, number: number): Promise<boolean> {
  try {
    await publish(dataDir, { pid: process.pid }, (written) => link(written, fileOf(dataDir, number)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // Between our look and our claim others may have had this very number, gone on to higher ones, and cleared it away.
  if ((await ownerNumbers(dataDir)).at(-1) === number) return true;
  await rm(fileOf(dataDir, number), { force: true });
  return false;
}

/** Only now, as the owner: the socket's name is the same for all, so a rival who looks late would end the new one's. */
async function clearAwayBefore(dataDir: string, number: number): Promise<void> {
  for (const earlier of await ownerNumbers(dataDir)) {
    if (earlier >= number) continue;
    const owner = await readOwner(dataDir, earlier);
    if (owner?.pid) await endLeftover(owner);
    await rm(fileOf(dataDir, earlier), { force: true });
  }
}

function ownership(dataDir: string, number: number): Ownership {
  const write = (owner: Owner) => publish(dataDir, owner, (written) => rename(written, fileOf(dataDir, number)));
  return {
    note: (redis) => write({ pid: process.pid, ...redis }),
    // The file stays: were numbers used again, one who saw the owner before ours could still follow that one.
    release: () => write({ pid: null }),
  };
}

/**
 * Take a data folder for this process. Ends the redis-server that a process which was killed left behind on it.
 *
 * @throws Error when another process that is alive has it, or left a redis-server there that does not end
 */
export async function takeOwnership(dataDir: string): Promise<Ownership> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const latest = (await ownerNumbers(dataDir)).at(-1) ?? 0;
    const pid = (await readOwner(dataDir, latest))?.pid;
    if (pid && pid !== process.pid && isAlive(pid)) {
      const file = fileOf(dataDir, latest);
      throw new Error(`${dataDir} is in use by process ${pid}. Stop it, set another DATA_DIR, or delete ${file}`);
    }
    if (!(await claim(dataDir, latest + 1))) continue;
    await clearAwayBefore(dataDir, latest + 1);
    return ownership(dataDir, latest + 1);
  }
  throw new Error(`${dataDir} is being taken by several processes at once`);
}
