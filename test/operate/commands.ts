import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findRedisServer, type RedisBinary } from '@yardmaster/runtime';

const CACHE_DIR = fileURLToPath(new URL('../../.cache/redis', import.meta.url));

/** Steps as an operator types them: $REDIS_DIR is the folder of the data, $BACKUP that of the backup. */
export const STEPS = {
  takeSnapshot: `
redis-cli -e BGSAVE
while redis-cli INFO persistence | grep -q rdb_bgsave_in_progress:1; do sleep 1; done
redis-cli INFO persistence | grep rdb_last_bgsave_status:ok
cp "$REDIS_DIR/dump.rdb" "$BACKUP/"
`,
  copyAppendOnly: `
rewrite=$(redis-cli CONFIG GET auto-aof-rewrite-percentage | tail -n 1)
redis-cli -e CONFIG SET auto-aof-rewrite-percentage 0
while redis-cli INFO persistence | grep -Eq 'aof_rewrite_(in_progress|scheduled):1'; do sleep 1; done
cp -r "$REDIS_DIR/appendonlydir" "$BACKUP/"
redis-cli -e CONFIG SET auto-aof-rewrite-percentage "$rewrite"
`,
  /** Beside a redis-server that was started on the copied dump.rdb with \`--appendonly no\`. */
  beginAppendOnly: `
redis-cli -e CONFIG SET appendonly yes
while redis-cli INFO persistence | grep -Eq 'aof_rewrite_(in_progress|scheduled):1'; do sleep 1; done
redis-cli INFO persistence | grep aof_last_bgrewrite_status:ok
redis-cli SHUTDOWN
`,
};

export interface Shell {
  /** Run steps by bash as they stand; throws with what they said when one fails. */
  run(steps: string, variables: { socket: string; dir: string; backup: string }): Promise<string>;
  binary: RedisBinary;
  remove(): Promise<void>;
}

/** The program that came with a redis-server. */
const sibling = (text: string) => text.replace(/redis-server$/, 'redis-cli').replace(/valkey-server$/, 'valkey-cli');

/** A shell that finds redis-cli where the tests found redis-server. */
export async function makeShell(): Promise<Shell> {
  const binary = await findRedisServer(CACHE_DIR, () => undefined);
  const bin = await mkdtemp(join(tmpdir(), 'yardmaster-bin-'));
  const words = [binary.command, ...binary.args].map(sibling).map((word) => `'${word}'`);
  const file = join(bin, 'redis-cli');
  const own = process.env.PATH as string;
  await writeFile(file, `#!/bin/sh\nPATH='${own}' exec ${words.join(' ')} -s "$REDIS_SOCKET" "$@"\n`);
  await chmod(file, 0o700);
  return {
    binary,
    async run(steps, { socket, dir, backup }) {
      const env = { PATH: `${bin}:${own}`, REDIS_SOCKET: socket, REDIS_DIR: dir, BACKUP: backup };
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', steps], { env, timeout: 60_000 });
      return stdout;
    },
    remove: () => rm(bin, { recursive: true, force: true }),
  };
}
