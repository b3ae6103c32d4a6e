import { join, resolve } from 'node:path';
import { API_VARIABLES, createApiServer } from '@yardmaster/api';
import { createBackend, createFront, type Front } from '@yardmaster/backend';
import { createStreams, STREAM_VARIABLES } from '@yardmaster/gateway';
import { type Config, findRedisServer, type Logger, PrivateRedis, type Service } from '@yardmaster/runtime';
import { CALLBACK_VARIABLES, createDuties, METRICS_VARIABLES } from '@yardmaster/scheduler';
import { adminKeyOf } from './admin-key.js';
import { banner } from './banner.js';

/** Variables that the standalone reads. */
export const STANDALONE_VARIABLES = [
  ...API_VARIABLES,
  ...STREAM_VARIABLES,
  ...CALLBACK_VARIABLES,
  ...METRICS_VARIABLES,
  'DATA_DIR',
] as const;

export type StandaloneConfig = Config<(typeof STANDALONE_VARIABLES)[number]>;

export interface StandaloneOptions {
  config: StandaloneConfig;
  log: Logger;
  /** Where a fetched redis-server is kept. */
  cacheDir: string;
  /** Takes lines for the person at the terminal. */
  say: (text: string) => void;
}

/** Whoever listens on a loopback address is alone on this machine, and so are the receivers of callbacks. */
const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|::1)$/.test(host);

/** Make HTTP and streams on one port and a scheduler beside them, over the same connections to Redis. */
export function createWhole(given: StandaloneConfig & { REDIS_URL: string }, log: Logger): Front {
  const config = { ...given, CALLBACK_ALLOW_PRIVATE: given.CALLBACK_ALLOW_PRIVATE ?? isLoopback(given.HOST) };
  const backend = createBackend(config, log);
  const streams = createStreams({ backend, config, log });
  const duties = createDuties({ backend, config, log });
  const server = createApiServer({ backend, config, log, streams, isLive: duties.isLive });
  return createFront({ name: 'yardmaster', backend, server, streams, duties, config, log });
}

/**
 * The whole service in one process on one port. With no REDIS_URL it runs a redis-server of its own, whose data
 * and whose admin key are kept in DATA_DIR.
 */
export function createStandalone({ config, log, cacheDir, say }: StandaloneOptions): Service {
  let redis: PrivateRedis | null = null;
  let front: Front | null = null;

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
      await front?.stop();
    } finally {
      await redis?.stop();
    }
  };

  return {
    name: 'standalone',
    stop,
    async start() {
      try {
        // Before the key is made, because a data folder that another process uses is refused here.
        const url = config.REDIS_URL ?? (await startRedis());
        const adminKey = config.ADMIN_API_KEY ?? (await adminKeyOf(config.DATA_DIR, say));
        front = createWhole({ ...config, REDIS_URL: url, ADMIN_API_KEY: adminKey }, log);
        await front.start();
        say(
          banner({
            url: front.url(),
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
