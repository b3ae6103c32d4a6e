import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Command that runs a redis-server on this machine. */
export interface RedisBinary {
  /** Path, or a name that PATH resolves. */
  command: string;
  /** Arguments that come before redis-server's own. */
  args: string[];
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
  const installed = ['redis-server', 'valkey-server'].map((command) => ({ command, args: [] }));
  for (const binary of [...installed, await fetchedBinary(cacheDir)]) if (await isUsable(binary)) return binary;
  // Without a shell, as in our image, nothing can be installed.
  if (process.platform === 'linux' && !existsSync('/bin/sh')) {
    throw new Error(
      'This image has no Redis: set REDIS_URL to the address of a running one (redis://host:6379), or start docker-compose.yml, which has one.',
    );
  }
  try {
    print(`No redis-server on this machine; fetching the distribution's package into ${cacheDir} …`);
    const began = performance.now();
    await fetchFromDebian(cacheDir);
    print(`redis-server fetched in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    print(`It could not be fetched: ${(error as Error).message.split('\n')[0]}`);
  }
  const fetched = await fetchedBinary(cacheDir);
  if (await isUsable(fetched)) return fetched;
  throw new Error(
    `Yardmaster needs redis-server 6.2 or later. Get one with\n\n    ${INSTALL[process.platform] ?? INSTALL.linux}\n\nor set REDIS_URL to the address of a running Redis.`,
  );
}

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

/** Folder of the unpacked packages, below the cache folder. */
const ROOT = 'root';

/** Return the redis-server that `fetchFromDebian` left in a cache folder, whether or not it is there. */
async function fetchedBinary(cacheDir: string): Promise<RedisBinary> {
  const root = join(cacheDir, ROOT);
  const lib = join(root, 'usr/lib');
  // Its shared libraries are in folders such as usr/lib/x86_64-linux-gnu.
  const folders = (await readdir(lib).catch(() => [])).filter((name) => name.includes('-linux-'));
  const libraryPath = folders.map((name) => join(lib, name)).join(':');
  // Start it by env(1), which becomes redis-server: its own libraries are found, and the rest of the environment is
  // inherited.
  return { command: 'env', args: [`LD_LIBRARY_PATH=${libraryPath}`, join(root, 'usr/bin/redis-server')] };
}

/**
 * Download the distribution's own redis-server with the libraries that this machine lacks, and unpack it below
 * `cacheDir`. It needs no root, installs nothing and starts no service. apt checks signatures as always; only its lists
 * and archives are in our folder instead of the system's.
 *
 * @throws when apt cannot reach its sources, or there is no apt
 */
async function fetchFromDebian(cacheDir: string): Promise<void> {
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
  // Only a complete copy gets the name that `fetchedBinary` looks for.
  await rename(unpacked, join(cacheDir, ROOT));
}
