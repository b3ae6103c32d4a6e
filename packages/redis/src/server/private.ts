import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisBinary } from './find.js';
import { isServing, type Ownership, takeOwnership } from './ownership.js';

/** The kernel cuts a socket's path at 107 bytes, and redis-server would then bind another path. */
const MAX_SOCKET_PATH = 100;

/** Time from a crash to the restart, milliseconds: twice as long each time in a row, up to the longest. */
const RESTART_MS = 500;
const LONGEST_RESTART_MS = 30_000;
/** A run at least this long ends the row, milliseconds. */
const GOOD_RUN_MS = 60_000;

export interface PrivateRedisOptions {
  binary: RedisBinary;
  /** Folder of its append-only file; made if missing. */
  dataDir: string;
  /** Further settings, by name without dashes. */
  settings?: Record<string, string>;
  /** Called with its last output when it ended on its own; it is started again. */
  onCrash?: (output: string) => void;
}

const hasEnded = (child: ChildProcess) =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/**
 * A private redis-server: on a unix socket that only this user can open, append-only, never evicting, started
 * again when it crashes.
 */
export class PrivateRedis {
  readonly #options: PrivateRedisOptions;
  readonly #dataDir: string;
  #child: ChildProcess | null = null;
  #socket = '';
  #socketDir: string | null = null;
  #output = '';
  /** True from a successful start until stop. */
  #isWanted = false;
  #folder: Ownership | null = null;
  #restartMs = RESTART_MS;
  #startedAt = 0;
  /** When this process ends in any way except kill -9, it also ends its redis-server. */
  readonly #onExit = () => {
    this.#child?.kill('SIGTERM');
  };

  constructor(options: PrivateRedisOptions) {
    this.#options = options;
    this.#dataDir = resolve(options.dataDir);
  }

  /** URL of the server, `unix:///…`, once started. */
  get url(): string {
    return `unix://${this.#socket}`;
  }

  /** Process id of the redis-server that was started last. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Start it and wait until it has loaded its data. Ends one that a crashed process left behind on the same data.
   *
   * @throws Error when another process uses the data, or with the output of redis-server when it does not start
   */
  async start(): Promise<void> {
    await mkdir(this.#dataDir, { recursive: true, mode: 0o700 });
    this.#folder = await takeOwnership(this.#dataDir);
    this.#socket = join(this.#dataDir, 'redis.sock');
    if (Buffer.byteLength(this.#socket) > MAX_SOCKET_PATH) {
      this.#socketDir = await mkdtemp(join(tmpdir(), 'yardmaster-'));
      this.#socket = join(this.#socketDir, 'redis.sock');
    }
    process.on('exit', this.#onExit);
    const child = this.#spawn();
    await this.#note();
    // A big append-only file may take long to load, so wait as long as the process lives.
    while (!(await isServing(this.#socket))) {
      if (hasEnded(child)) throw new Error(`redis-server did not start: ${this.#output.trim()}`);
      await delay(20);
    }
    this.#isWanted = true;
  }

  /** Stop it. Everything that it acknowledged is on disk before it ends. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child !== null && !hasEnded(child)) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    process.off('exit', this.#onExit);
    await this.#folder?.release();
    this.#folder = null;
    if (this.#socketDir !== null) await rm(this.#socketDir, { recursive: true, force: true });
    this.#socketDir = null;
  }

  #spawn(): ChildProcess {
    const { binary } = this.#options;
    this.#output = '';
    this.#startedAt = performance.now();
    const settings = Object.entries({ ...this.#settings(), ...this.#options.settings });
    const options = settings.flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(binary.command, [...binary.args, ...options], {
      // It gets its own process group, because Ctrl-C in the terminal must reach this process first, and redis-server
      // last.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.on('error', (error) => {
      this.#keepOutput(error.message);
      if (child.pid === undefined) this.#restart(); // It did not start, so there is no exit event.
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => this.#keepOutput(String(chunk)));
    child.on('exit', () => this.#restart());
    this.#child = child;
    return child;
  }

  #settings(): Record<string, string> {
    return {
      port: '0',
      unixsocket: this.#socket,
      unixsocketperm: '700',
      dir: this.#dataDir,
      appendonly: 'yes',
      appendfsync: 'everysec',
      // The append-only file is the one copy; snapshots in addition would only cost forks.
      save: '',
      'maxmemory-policy': 'noeviction',
      // Use the name that Redis 6.2 accepts as well. Records with a short payload stay in one piece, two fifths
      // smaller.
      'hash-max-ziplist-value': '1024',
      daemonize: 'no',
      loglevel: 'warning',
    };
  }

  /** Keep the last part of its output, for the error when it does not start. */
  #keepOutput(text: string): void {
    this.#output = (this.#output + text).slice(-4_096);
  }

  async #note(): Promise<void> {
    await this.#folder?.note({ redisPid: this.pid, socket: this.#socket, socketDir: this.#socketDir });
  }

  #restart(): void {
    if (!this.#isWanted) return;
    this.#options.onCrash?.(this.#output.trim());
    if (performance.now() - this.#startedAt > GOOD_RUN_MS) this.#restartMs = RESTART_MS;
    setTimeout(() => {
      if (!this.#isWanted) return;
      this.#spawn();
      // If this fails, and this process is killed with -9 later, no file names the redis-server that stays behind.
      this.#note().catch(() => undefined);
    }, this.#restartMs).unref();
    this.#restartMs = Math.min(2 * this.#restartMs, LONGEST_RESTART_MS);
  }
}
