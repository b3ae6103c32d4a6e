import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { cachedDebianRedis, fetchDebianRedis } from './debian.js';
import type { RedisBinary } from './private.js';

const run = promisify(execFile);

/**
 * Whether a binary runs here and is new enough. `redis-server --version` prints `v=7.0.15`; valkey prints the same
 * format.
 */
async function isUsable({ command, args }: RedisBinary): Promise<boolean> {
  try {
    const { stdout } = await run(command, [...args, '--version'], { timeout: 10_000 });
    const [major = 0, minor = 0] = (/v=(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
    return major > 6 || (major === 6 && minor >= 2);
  } catch {
    return false; // The binary is missing, or does not run on this machine: try the next one.
  }
}

const INSTALL: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'brew install redis',
  linux:
    'sudo apt-get install redis-server   (or: sudo dnf install redis, or: sudo apk add redis; where that is older than 6.2: docker run -p 6379:6379 redis:7, and set REDIS_URL=redis://127.0.0.1:6379)',
  win32: 'docker run -p 6379:6379 redis:7, then set REDIS_URL=redis://127.0.0.1:6379',
};

/**
 * Find a redis-server of version 6.2 or later: on PATH, in the cache folder, or, on Debian and its derivatives, fetched
 * into the cache folder.
 *
 * @param cacheDir where a fetched copy is kept for the next time
 * @param print prints a line for the person at the terminal
 * @throws Error whose message is the command that gets one on this platform
 */
export async function findRedisServer(cacheDir: string, print: (line: string) => void): Promise<RedisBinary> {
  for (const command of ['redis-server', 'valkey-server']) {
    const installed = { command, args: [] };
    if (await isUsable(installed)) return installed;
  }
  const cached = await cachedDebianRedis(cacheDir);
  if (await isUsable(cached)) return cached;

  try {
    print(`No redis-server on this machine; fetching the distribution's package into ${cacheDir} …`);
    const began = performance.now();
    await fetchDebianRedis(cacheDir);
    print(`redis-server fetched in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    print(`It could not be fetched: ${(error as Error).message.split('\n')[0]}`);
  }
  const fetched = await cachedDebianRedis(cacheDir);
  if (await isUsable(fetched)) return fetched;
  throw new Error(
    `Yardmaster needs redis-server 6.2 or later. Get one with\n\n    ${INSTALL[process.platform] ?? INSTALL.linux}\n\nor set REDIS_URL to the address of a running Redis.`,
  );
}

function connection(socket: string): Redis {
  const redis = new Redis(socket, {
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 2_000,
    disconnectTimeout: 50,
  });
  redis.on('error', () => undefined); // The call that fails reports this.
  return redis;
}

async function call(socket: string, ...command: [string, ...string[]]): Promise<unknown> {
  const redis = connection(socket);
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

/**
 * Make the redis-server on a unix socket end; it flushes its append-only file first. It does nothing when there is
 * none.
 */
export async function shutDown(socket: string): Promise<void> {
  await call(socket, 'SHUTDOWN', 'NOSAVE').catch(() => undefined); // It closes the connection instead of replying.
}

/** Wait until a check returns true, every 20 ms, or until `withinMs` have passed. @returns whether it did */
export async function waitFor(check: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; ) {
    if (await check()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
