import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Command that runs a redis-server on this machine. */
export interface RedisBinary {
  /** Path, or a name to find on PATH. */
  command: string;
  /** Arguments that precede redis-server's own. */
  args: string[];
}

const INSTALL: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'brew install redis',
  linux:
    'sudo apt-get install redis-server   (or: sudo dnf install redis, or: sudo apk add redis; if that is older than 6.2: docker run -p 6379:6379 redis:7, and set REDIS_URL=redis://127.0.0.1:6379)',
  win32: 'docker run -p 6379:6379 redis:7, and set REDIS_URL=redis://127.0.0.1:6379',
};

/**
 * Find a redis-server of version 6.2 or later: on PATH, in the cache folder, or, on Debian and its derivatives, by
 * downloading it into the cache folder.
 *
 * @param cacheDir folder for a downloaded copy
 * @param print prints a line for the person at the terminal
 * @throws Error whose message tells how to get one on this platform
 */
export async function findRedisServer(cacheDir: string, print: (line: string) => void): Promise<RedisBinary> {
  const installed = ['redis-server', 'valkey-server'].map((command) => ({ command, args: [] }));
  for (const binary of [...installed, await fetchedBinary(cacheDir)]) if (await isUsable(binary)) return binary;
  // Without a shell, as in our image, nothing can be installed.
  if (process.platform === 'linux' && !existsSync('/bin/sh')) {
    throw new Error(
      'This image has no Redis: set REDIS_URL to the address of a running one (redis://host:6379), or use docker-compose.yml, which includes one.',
    );
  }
  try {
    print(`redis-server isn't installed; downloading the distribution's package to ${cacheDir} …`);
    const began = performance.now();
    await fetchFromDebian(cacheDir);
    print(`Downloaded redis-server in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    print(`redis-server could not be downloaded: ${(error as Error).message.split('\n')[0]}`);
  }
  const fetched = await fetchedBinary(cacheDir);
  if (await isUsable(fetched)) return fetched;
  throw new Error(
    `Yardmaster needs redis-server 6.2 or later. Get one with\n\n    ${INSTALL[process.platform] ?? INSTALL.linux}\n\nor set REDIS_URL to the address of a running Redis.`,
  );
}

/** Return whether a binary runs here and is new enough. Redis and Valkey both print a version like `v=7.0.15`. */
async function isUsable({ command, args }: RedisBinary): Promise<boolean> {
  try {
    const { stdout } = await run(command, [...args, '--version'], { timeout: 10_000 });
    const [major = 0, minor = 0] = (/v=(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
    return major > 6 || (major === 6 && minor >= 2);
  } catch {
    return false; // The binary is missing or doesn't run on this machine: try the next one.
  }
}

/** Folder of the unpacked packages, inside the cache folder. */
const ROOT = 'root';

/** Return the redis-server that `fetchFromDebian` puts into a cache folder, whether or not it exists. */
async function fetchedBinary(cacheDir: string): Promise<RedisBinary> {
  const root = join(cacheDir, ROOT);
  const lib = join(root, 'usr/lib');
  // Its shared libraries are in folders such as usr/lib/x86_64-linux-gnu.
  const folders = (await readdir(lib).catch(() => [])).filter((name) => name.includes('-linux-'));
  const libraryPath = folders.map((name) => join(lib, name)).join(':');
  // Start it with env(1), so that it finds its own libraries and inherits the rest of the environment.
  return { command: 'env', args: [`LD_LIBRARY_PATH=${libraryPath}`, join(root, 'usr/bin/redis-server')] };
}

/**
 * Download the distribution's own redis-server with the libraries that this machine lacks, and unpack it inside `cacheDir`.
 * Needs no root, installs nothing and starts no service. apt checks signatures as usual; only its lists and archives are in
 * our folder instead of the system's.
 *
 * @throws if apt can't reach its sources, or there is no apt
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
    // As root, apt would switch to a user that may not write here.
    ...(process.getuid?.() === 0 ? ['APT::Sandbox::User=root'] : []),
  ].flatMap((option) => ['-o', option]);
  const aptGet = (args: string[], cwd = apt) =>
    run('apt-get', [...options, '-q', ...args], { cwd, maxBuffer: 64 * 1_048_576, timeout: 120_000 });

  // Some sources may be unreachable; all that matters is whether the packages can be downloaded.
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
