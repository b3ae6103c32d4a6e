import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findRedisServer, type RedisBinary } from '@yardmaster/redis';

const CACHE_DIR = fileURLToPath(new URL('../../../.cache/redis', import.meta.url));

const BLOCKS = [
  ...readFileSync(new URL('../../../docs/backup.md', import.meta.url), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms),
].map(([, text]) => text as string);

/** Return the block of docs/backup.md that contains this text. */
function block(part: string): string {
  const [found, ...more] = BLOCKS.filter((text) => text.includes(part));
  if (found === undefined || more.length > 0)
    throw new Error(`docs/backup.md must contain exactly one block with ${part}`);
  return found;
}

/** Steps of docs/backup.md: $REDIS_DIR is the folder of the data, $BACKUP that of the backup. */
export const STEPS = {
  takeSnapshot: block('BGSAVE'),
  copyAppendOnly: block('auto-aof-rewrite-percentage'),
  /** Without its first two steps, because the test copies dump.rdb and starts redis-server itself. */
  beginAppendOnly: block('CONFIG SET appendonly yes').replace(/^cp .*\nredis-server .*&\n/, ''),
};

export interface Shell {
  /** Run steps in bash unchanged; throws with their output when one fails. */
  run(steps: string, variables: { socket: string; dir: string; backup: string }): Promise<string>;
  binary: RedisBinary;
  remove(): Promise<void>;
}

/** Return the name of the command-line client of a redis-server. */
const sibling = (text: string) => text.replace(/redis-server$/, 'redis-cli').replace(/valkey-server$/, 'valkey-cli');

/** Make a shell that finds redis-cli where the tests found redis-server. */
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
