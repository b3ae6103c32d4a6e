import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedisServer } from '@yardmaster/redis';
import { freePort } from '../free-port.js';
import { killOnExit } from '../kill-on-exit.js';
import { until } from '../until.js';

const CACHE_DIR = fileURLToPath(new URL('../../../.cache/redis', import.meta.url));

/** One redis-server on a port of 127.0.0.1. */
export interface RedisNode {
  port: number;
  /** Process id of the current or last run. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** Kill the server, with SIGKILL or another signal. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Restart the server on the same data and port. */
  resume(): Promise<void>;
  /** Stop the server and remove its folder. */
  stop(): Promise<void>;
}

export interface NodeOptions {
  /** Lines of its configuration file, for its port and its folder. */
  lines: (port: number, dir: string) => string[] | Promise<string[]>;
  /** Whether it is a Sentinel, which keeps no data. */
  isSentinel?: boolean;
}

/** Settings of a server with jobs, like the standalone's private one; replicas synchronize without a delay. */
const DATA = [
  'appendonly yes',
  'appendfsync everysec',
  'save ""',
  'maxmemory-policy noeviction',
  'hash-max-ziplist-value 1024',
  'repl-diskless-sync-delay 0',
];

/** Quote a word of redis.conf. */
export const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** Start a redis-server with its own configuration, and wait until it has loaded its data. */
export async function startNode({ lines, isSentinel = false }: NodeOptions): Promise<RedisNode> {
  const binary = await findRedisServer(CACHE_DIR, () => undefined);
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-redis-'));
  const conf = join(dir, 'redis.conf');
  let child: ChildProcess;
  let output = '';
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  let forget = () => {};

  async function run(): Promise<boolean> {
    output = '';
    const mode = isSentinel ? ['--sentinel'] : [];
    // A separate process group, so that Ctrl-C first reaches the process that started it.
    child = spawn(binary.command, [...binary.args, conf, ...mode], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.on('error', (error) => (output += error.message));
    forget();
    forget = killOnExit(child);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    await until(() => hasEnded() || /Ready to accept connections|Sentinel ID is/.test(output));
    return !hasEnded();
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (hasEnded()) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT'); // The test may have paused it.
    await exited;
  }

  async function stop(): Promise<void> {
    await kill();
    forget();
    await rm(dir, { recursive: true, force: true });
  }

  const port = await freePort();
  const common = ['bind 127.0.0.1', `dir ${dir}`, 'daemonize no', 'loglevel notice', ...(isSentinel ? [] : DATA)];
  await writeFile(conf, `${[...common, ...(await lines(port, dir))].join('\n')}\n`, { mode: 0o600 });
  if (!(await run())) {
    await stop();
    throw new Error(`redis-server did not start: ${output.trim()}`);
  }
  return {
    port,
    get pid() {
      return child.pid as number;
    },
    get isRunning() {
      return !hasEnded();
    },
    kill,
    async resume() {
      if (!(await run())) throw new Error(`redis-server did not start again: ${output.trim()}`);
    },
    stop,
  };
}
