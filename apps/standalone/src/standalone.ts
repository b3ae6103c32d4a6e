import { join, resolve } from 'node:path';
import { API_VARIABLES, createApiServer } from '@yardmaster/api';
import { createStreams, STREAM_VARIABLES } from '@yardmaster/gateway';
import { findRedisServer, PrivateRedis } from '@yardmaster/redis';
import type { Config, Logger, Service } from '@yardmaster/runtime';
import { CALLBACK_VARIABLES, createBackground, METRICS_VARIABLES } from '@yardmaster/scheduler';
import { createHttpService, createServerContext, type HttpService } from '@yardmaster/server';
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
  /** Folder in which a fetched redis-server is kept. */
  cacheDir: string;
  /** Takes lines for the person at the terminal. */
  say: (text: string) => void;
}

/** Whether a host is a loopback address: then all clients are on this machine, and so are the receivers of callbacks. */
const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|::1)$/.test(host);

/** Create HTTP and streams on one port, with a scheduler, over the same connections to Redis. */
export function createAllInOne(given: StandaloneConfig & { REDIS_URL: string }, log: Logger): HttpService {
  const config = { ...given, CALLBACK_ALLOW_PRIVATE: given.CALLBACK_ALLOW_PRIVATE ?? isLoopback(given.HOST) };
  const context = createServerContext(config, log);
  const streams = createStreams({ context, config, log });
  const background = createBackground({ context, config, log });
  const server = createApiServer({ context, config, log, streams, isLive: background.isLive });
  return createHttpService({ name: 'yardmaster', context, server, streams, background, config, log });
}

/**
 * Create the whole service in one process on one port. Without REDIS_URL it runs a redis-server of its own, and keeps
 * that server's data and its admin key in DATA_DIR.
 */
export function createStandalone({ config, log, cacheDir, say }: StandaloneOptions): Service {
  let redis: PrivateRedis | null = null;
  let httpService: HttpService | null = null;

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
      await httpService?.stop();
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
        httpService = createAllInOne({ ...config, REDIS_URL: url, ADMIN_API_KEY: adminKey }, log);
        await httpService.start();
        say(
          banner({
            url: httpService.url(),
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
