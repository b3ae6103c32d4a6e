import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisBinary } from './private.js';

const run = promisify(execFile);

/** Folder of the unpacked packages, below the cache folder. */
const ROOT = 'root';

/** Return the folders of shared libraries below an unpacked root, e.g. usr/lib/x86_64-linux-gnu. */
async function libraryPath(root: string): Promise<string> {
  const lib = join(root, 'usr/lib');
  const folders = await readdir(lib).catch(() => []);
  return folders
    .filter((name) => name.includes('-linux-'))
    .map((name) => join(lib, name))
    .join(':');
}

/** Return the redis-server that `fetchDebianRedis` left in a cache folder, whether or not it is there. */
export async function cachedDebianRedis(cacheDir: string): Promise<RedisBinary> {
  const root = join(cacheDir, ROOT);
  // Start it by env(1), which becomes redis-server: its own libraries are found, and the rest of the environment is
  // inherited.
  return { command: 'env', args: [`LD_LIBRARY_PATH=${await libraryPath(root)}`, join(root, 'usr/bin/redis-server')] };
}

/**
 * Download the distribution's own redis-server with the libraries that this machine lacks, and unpack it below
 * `cacheDir`. It needs no root, installs nothing and starts no service. apt checks signatures as always; only its lists
 * and archives are in our folder instead of the system's.
 *
 * @throws when apt cannot reach its sources, or there is no apt
 */
export async function fetchDebianRedis(cacheDir: string): Promise<void> {
  const apt = join(cacheDir, 'apt');
  const packages = join(apt, 'packages');
  const unpacked = join(cacheDir, `${ROOT}.part`);
  await rm(unpacked, { recursive: true, force: true });
  for (const dir of [join(apt, 'lists/partial'), join(apt, 'archives/partial'), packages, unpacked]) {
    await mkdir(dir, { recursive: true });
  }
  const options = [
    `Dir::State::Lists=${join(apt, 'lists')}`,
    `Dir::Cache=${apt}`,
    'Debug::NoLocking=1',
    'Acquire::Languages=none',
    // As root, apt would switch to a user that must not write here.
    ...(process.getuid?.() === 0 ? ['APT::Sandbox::User=root'] : []),
  ].flatMap((option) => ['-o', option]);
  const aptGet = (args: string[], cwd = apt) =>
    run('apt-get', [...options, '-q', ...args], { cwd, maxBuffer: 64 * 1_048_576, timeout: 120_000 });

  // One source of several may be unreachable; it only matters whether the packages can be downloaded.
  await aptGet(['update']).catch(() => undefined);
  const plan = await aptGet(['--simulate', '--no-install-recommends', 'install', 'redis-server']);
  const missing = [...plan.stdout.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] as string);
  await aptGet(['download', ...new Set(['redis-server', 'redis-tools', ...missing])], packages);

  for (const file of await readdir(packages)) await run('dpkg-deb', ['--extract', join(packages, file), unpacked]);
  await rm(apt, { recursive: true, force: true });
  await rm(join(cacheDir, ROOT), { recursive: true, force: true });
  // Only a complete copy gets the name that `cachedDebianRedis` looks for.
  await rename(unpacked, join(cacheDir, ROOT));
}
