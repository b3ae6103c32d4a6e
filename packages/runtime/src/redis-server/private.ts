import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisBinary } from './find.js';

/** The kernel cuts a socket's path at 107 bytes; redis-server would bind something else. */
const MAX_SOCKET_PATH = 100;

export interface PrivateRedisOptions {
  binary: RedisBinary;
  /** Where its append-only file is kept; made if missing. */
  dataDir: string;
  /** Further settings, `--name value` without the dashes. */
  settings?: Record<string, string>;
}

/** A redis-server of our own: on a unix socket that only this user can open, append-only, never evicting. */
export class PrivateRedis {
  readonly #options: PrivateRedisOptions;
  #child: ChildProcess | null = null;
  #socketDir: string | null = null;
  #socket = '';
  #output = '';
  #ownerFile = '';

  constructor(options: PrivateRedisOptions) {
    this.#options = options;
  }

  /** `unix:///…`, once started. */
  get url(): string {
    return `unix://${this.#socket}`;
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Start it and wait until it has loaded its data. Ends one that a crashed process left behind on the same data.
   *
   * @throws Error when another process uses the data, or with what redis-server said when it does not come up
   */
  async start(): Promise<void> {
    const dataDir = resolve(this.#options.dataDir);
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const ownerFile = join(dataDir, 'owner.pid');
    await refuseIfOwned(ownerFile, dataDir);
    await writeFile(ownerFile, String(process.pid));
    this.#ownerFile = ownerFile; // From here on it is ours to delete.
    this.#socket = join(dataDir, 'redis.sock');
    if (Buffer.byteLength(this.#socket) > MAX_SOCKET_PATH) {
      this.#socketDir = await mkdtemp(join(tmpdir(), 'yardmaster-'));
      this.#socket = join(this.#socketDir, 'redis.sock');
    } else {
      await endLeftover(this.#socket);
    }
    this.#spawn(dataDir);
    await this.#untilReady();
  }

  /** Stop it; everything it acknowledged is on disk before it ends. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    this.#child = null;
    if (this.#ownerFile !== '') await rm(this.#ownerFile, { force: true });
    if (this.#socketDir !== null) await rm(this.#socketDir, { recursive: true, force: true });
  }

  #spawn(dataDir: string): void {
    const { binary, settings = {} } = this.#options;
    const all: Record<string, string> = {
      port: '0',
      unixsocket: this.#socket,
      unixsocketperm: '700',
      dir: dataDir,
      appendonly: 'yes',
      appendfsync: 'everysec',
      // The append-only file is the one copy; snapshots beside it would only cost forks.
      save: '',
      'maxmemory-policy': 'noeviction',
      daemonize: 'no',
      loglevel: 'warning',
      ...settings,
    };
    this.#output = '';
    const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(binary.command, [...binary.args, ...args], {
      // Its own process group: Ctrl-C in the terminal must reach us first, and it last.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.on('error', (error) => {
      this.#output += error.message;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-4_096);
      });
    }
  }

  async #untilReady(): Promise<void> {
    const child = this.#child as ChildProcess;
    // A big append-only file takes as long as it takes: wait while the process lives.
    while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      if (await answers(this.#socket)) return;
      await new Promise((wait) => setTimeout(wait, 20));
    }
    throw new Error(`redis-server did not start: ${this.#output.trim()}`);
  }
}

/** Two processes on one folder would write the same file. A number left by a crash names a process that is gone. */
async function refuseIfOwned(ownerFile: string, dataDir: string): Promise<void> {
  const owner = Number(await readFile(ownerFile, 'utf8').catch(() => ''));
  if (!owner || owner === process.pid) return;
  try {
    process.kill(owner, 0);
  } catch {
    return;
  }
  throw new Error(`${dataDir} is in use by process ${owner}. Stop it, set another DATA_DIR, or delete ${ownerFile}`);
}

function probe(socket: string): Redis {
  const redis = new Redis(socket, {
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    disconnectTimeout: 50,
  });
  redis.on('error', () => undefined); // Said by the call that fails.
  return redis;
}

async function answers(socket: string): Promise<boolean> {
  const redis = probe(socket);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG'; // LOADING is an error
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/** A process that was killed could not stop its redis-server: stop it now, so that two never write one file. */
async function endLeftover(socket: string): Promise<void> {
  const redis = probe(socket);
  try {
    await redis.connect();
    await redis.call('SHUTDOWN', 'NOSAVE'); // The append-only file is flushed all the same.
  } catch {
    // Nobody there; or it hung up as told.
  } finally {
    redis.disconnect();
  }
  for (let waited = 0; waited < 10_000 && (await answers(socket)); waited += 50) {
    await new Promise((wait) => setTimeout(wait, 50));
  }
}
