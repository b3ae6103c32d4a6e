import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { Redis } from 'ioredis';
import { HttpClient, type HttpResponse } from './http.js';
import { hasEnded, type RunningProcess, runApp } from './process.js';
import { LONG_REDIS_TIMEOUT } from './shared-service.js';
import { until } from './until.js';

/**
 * Start standalones in the tests of the file. Each has its own data folder and Redis, unless its settings say otherwise.
 * Those that still run after a test are stopped.
 */
export function withStandalones() {
  let folder: string;
  const started: RunningProcess[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'yardmaster-standalone-'));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.stop())); // By SIGTERM, so that each also stops its redis-server.
    await rm(folder, { recursive: true, force: true });
  });

  /** A folder that does not exist yet, different in each test. */
  const dataDir = () => join(folder, 'data');

  /** Start a standalone that may end on its own. */
  function launch(env: Record<string, string> = {}): RunningProcess {
    const running = runApp('standalone', { ...LONG_REDIS_TIMEOUT, PORT: '0', DATA_DIR: dataDir(), ...env });
    started.push(running);
    return running;
  }

  /** Start a standalone, and wait until it serves. */
  async function start(env: Record<string, string> = {}) {
    const running = launch(env);
    const { output } = running;
    await until(() => readyLineIn(output()) !== null || hasEnded(running));
    const line = readyLineIn(output());
    if (line === null) throw new Error(output());
    const { url, adminKeyFile } = line;
    const key = env.ADMIN_API_KEY ?? (await readFile(adminKeyFile as string, 'utf8')).trim();
    const call = async (method: string, path: string, body?: unknown): Promise<HttpResponse> => {
      const client = new HttpClient(url, 1);
      return client.call(method, `/api/v1${path}`, { key, body }).finally(() => client.close());
    };
    return { ...running, url, key, call };
  }

  return { dataDir, launch, start };
}

/** Return the line with which a standalone without a terminal reports that it serves; null before it. */
export function readyLineIn(
  output: string,
): { url: string; adminKeyFile: string | null; dataDir: string | null } | null {
  const line = output.split('\n').find((text) => text.endsWith('"msg":"ready"}'));
  return line === undefined ? null : JSON.parse(line);
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Ask the private redis-server of a data folder for its process id. */
export async function redisPidOf(dataDir: string): Promise<number> {
  const redis = new Redis(join(dataDir, 'redis/redis.sock'), { disconnectTimeout: 50 });
  const info = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)?.[1]);
}
