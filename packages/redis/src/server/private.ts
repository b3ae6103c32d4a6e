import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisBinary } from './find.js';
import { isServing, type Ownership, takeOwnership } from './ownership.js';

/** Maximum length of a socket's path. Beyond 107 bytes, it is cut off, so redis-server would bind a different path. */
const MAX_SOCKET_PATH = 100;

/** Delay before a restart after a crash, milliseconds, doubled after each consecutive crash up to the maximum. */
const RESTART_MS = 500;
const LONGEST_RESTART_MS = 30_000;
/** Duration of a run that resets the delay, milliseconds. */
const GOOD_RUN_MS = 60_000;

export interface PrivateRedisOptions {
  binary: RedisBinary;
  /** Folder of its append-only file; created if missing. */
  dataDir: string;
  /** Additional settings, by name without dashes. */
  settings?: Record<string, string>;
  /** Called with the last output of redis-server if it exits unexpectedly, before it is restarted. */
  onCrash?: (output: string) => void;
}

const hasEnded = (child: ChildProcess) =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/** A private redis-server: append-only, never evicting, on a Unix socket that only this user can open, restarted on crashes. */
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
  /** Stops the redis-server whenever this process exits, except by kill -9. */
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

  /** Process ID of the most recently started redis-server. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Start the server and wait until it has loaded its data. Stops one that a crashed process left behind on the same data.
   *
   * @throws Error if another process uses the data, or with the output of redis-server if it doesn't start
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
    // A large append-only file can take a long time to load, so wait for as long as the process is alive.
    while (!(await isServing(this.#socket))) {
      if (hasEnded(child)) throw new Error(`redis-server did not start: ${this.#output.trim()}`);
      await delay(20);
    }
    this.#isWanted = true;
  }

  /** Stop the server. Everything that it acknowledged is on disk before it exits. */
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
      // Use a separate process group, so that Ctrl-C in the terminal reaches only this process, which stops redis-server last.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.on('error', (error) => {
      this.#keepOutput(error.message);
      if (child.pid === undefined) this.#restart(); // It didn't start, so there is no exit event.
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
      // The append-only file suffices; additional snapshots would only cost forks.
      save: '',
      'maxmemory-policy': 'noeviction',
      // The name that Redis 6.2 also accepts. Keeps records with a short payload in compact form, 40% smaller.
      'hash-max-ziplist-value': '1024',
      daemonize: 'no',
      loglevel: 'warning',
    };
  }

  /** Keep the end of the output, for the error that is thrown if redis-server doesn't start. */
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
      // If this fails and this process is later killed with -9, no file points to the leftover redis-server.
      this.#note().catch(() => undefined);
    }, this.#restartMs).unref();
    this.#restartMs = Math.min(2 * this.#restartMs, LONGEST_RESTART_MS);
  }
}
