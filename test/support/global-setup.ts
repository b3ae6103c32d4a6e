import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedisServer, PrivateRedis } from '@yardmaster/runtime';

declare global {
  var sharedRedis: { server: PrivateRedis; dir: string } | undefined;
}

/** Where the standalone keeps a fetched redis-server as well. */
export const CACHE_DIR = fileURLToPath(new URL('../../.cache/redis', import.meta.url));

/** One real redis-server for all test files that do not stop theirs; each file has a key prefix of its own. */
export default async function setUp(): Promise<void> {
  const binary = await findRedisServer(CACHE_DIR, (line) => process.stdout.write(`${line}\n`));
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-test-'));
  const server = new PrivateRedis({ binary, dataDir: dir, settings: { appendonly: 'no' } });
  await server.start();
  globalThis.sharedRedis = { server, dir };
  process.env.TEST_REDIS_URL = server.url;
}
