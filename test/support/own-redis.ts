import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedisServer, PrivateRedis } from '@yardmaster/redis';
import { during } from './during.js';
import { killOnExit } from './kill-on-exit.js';

const CACHE_DIR = fileURLToPath(new URL('../../.cache/redis', import.meta.url));

export interface OwnRedis {
  url: string;
  /** Process ID of the running redis-server. */
  pid(): number;
  /** Stop redis-server and keep its append-only file. */
  halt(): Promise<void>;
  /** Restart redis-server on the same data and socket. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Start a redis-server for a single test, which may stop, pause or fill it. */
export async function startRedis(settings: Record<string, string> = {}): Promise<OwnRedis> {
  const binary = await findRedisServer(CACHE_DIR, () => undefined);
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-redis-'));
  const server = new PrivateRedis({ binary, dataDir: dir, settings });
  let forget = () => {};
  async function start() {
    await server.start();
    forget = killOnExit({ pid: server.pid });
  }
  async function halt() {
    await server.stop();
    forget();
  }
  await start();
  return {
    url: server.url,
    pid: () => server.pid as number,
    halt,
    resume: start,
    async stop() {
      await halt();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Start a redis-server for all tests of the file, or of the `describe` block. Call it where the tests are declared. */
export function withRedis(settings: Record<string, string> = {}): OwnRedis {
  return during(
    () => startRedis(settings),
    (redis) => redis.stop(),
  );
}
