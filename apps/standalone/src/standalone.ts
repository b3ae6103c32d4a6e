import { join, resolve } from 'node:path';
import { API_VARIABLES, type Api, type ApiConfig, createApi } from '@yardmaster/api';
import { type Config, findRedisServer, type Logger, PrivateRedis, type Service } from '@yardmaster/runtime';
import { adminKeyOf } from './admin-key.js';
import { banner } from './banner.js';

/** Variables that the standalone reads. */
export const STANDALONE_VARIABLES = [...API_VARIABLES, 'DATA_DIR'] as const;

export type StandaloneConfig = ApiConfig & Config<'DATA_DIR'>;

export interface StandaloneOptions {
  config: StandaloneConfig;
  log: Logger;
  /** Where a fetched redis-server is kept. */
  cacheDir: string;
  /** Takes lines for the person at the terminal. */
  say: (text: string) => void;
}

/**
 * The whole service in one process on one port. With no REDIS_URL it runs a redis-server of its own, whose data
 * and whose admin key are kept in DATA_DIR.
 */
export function createStandalone({ config, log, cacheDir, say }: StandaloneOptions): Service {
  let redis: PrivateRedis | null = null;
  let api: Api | null = null;

  async function startRedis(): Promise<string> {
    const binary = await findRedisServer(cacheDir, say);
    redis = new PrivateRedis({
      binary,
      dataDir: join(config.DATA_DIR, 'redis'),
      onCrash: (output) => log.error({ output }, 'redis-server ended by itself, starting it again'),
    });
    await redis.start();
    return redis.url;
  }

  const stop = async () => {
    try {
      await api?.stop();
    } finally {
      await redis?.stop();
    }
  };

  return {
    name: 'standalone',
    stop,
    async start() {
      try {
        const adminKey = config.ADMIN_API_KEY ?? (await adminKeyOf(config.DATA_DIR));
        const url = config.REDIS_URL ?? (await startRedis());
        api = createApi({ ...config, REDIS_URL: url, ADMIN_API_KEY: adminKey }, log);
        await api.start();
        say(
          banner({
            url: api.url(),
            adminKey: config.ADMIN_API_KEY === undefined ? adminKey : null,
            dataDir: redis === null ? null : resolve(config.DATA_DIR),
          }),
        );
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}
