import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedisServer, PrivateRedis } from '@yardmaster/runtime';
import { during } from './during.js';

const CACHE_DIR = fileURLToPath(new URL('../../.cache/redis', import.meta.url));

export interface OwnRedis {
  url: string;
  /** Process id of the redis-server now running. */
  pid(): number;
  /** End it; its append-only file stays. */
  halt(): Promise<void>;
  /** Start it again on the same data and the same socket. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** A redis-server for one test alone: to be stopped, paused, filled or counted. */
export async function startRedis(settings: Record<string, string> = {}): Promise<OwnRedis> {
  const binary = await findRedisServer(CACHE_DIR, () => undefined);
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-redis-'));
  const server = new PrivateRedis({ binary, dataDir: dir, settings });
  await server.start();
  return {
    url: server.url,
    pid: () => server.pid as number,
    halt: () => server.stop(),
    resume: () => server.start(),
    async stop() {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Have a redis-server for all tests of the file, or of the `describe` block: call it where the tests are declared. */
export function withRedis(settings: Record<string, string> = {}): OwnRedis {
  return during(
    () => startRedis(settings),
    (redis) => redis.stop(),
  );
}
