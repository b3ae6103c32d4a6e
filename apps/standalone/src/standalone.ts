import { join, resolve } from 'node:path';
import { API_VARIABLES, createApiServer } from '@yardmaster/api';
import { createStreams, STREAM_VARIABLES } from '@yardmaster/gateway';
import { findRedisServer, PrivateRedis } from '@yardmaster/redis';
import { type Config, ConfigError, compose, type Logger, type Service } from '@yardmaster/runtime';
import { CALLBACK_VARIABLES, createBackground, METRICS_VARIABLES } from '@yardmaster/scheduler';
import { createHttpService, createServerContext, type HttpService } from '@yardmaster/server';
import { adminKeyOf } from './admin-key.js';

export const STANDALONE_VARIABLES = [
  ...API_VARIABLES,
  ...STREAM_VARIABLES,
  ...CALLBACK_VARIABLES,
  ...METRICS_VARIABLES,
  'DATA_DIR',
  'CLOCK',
] as const;

export type StandaloneConfig = Config<(typeof STANDALONE_VARIABLES)[number]>;

export interface StandaloneOptions {
  config: StandaloneConfig;
  log: Logger;
  /** Folder that caches a downloaded redis-server. */
  cacheDir: string;
  /** Prints a line for the person at the terminal; null without a terminal, when others may read the output. */
  print: ((text: string) => void) | null;
}

/** Return a function that notifies the operator, at the terminal or in the log. */
const noticeBy = ({ print, log }: StandaloneOptions) => print ?? ((notice: string) => log.info({ notice }, 'notice'));

/**
 * Create the whole service in one process on one port. Without REDIS_URL, it runs a private redis-server, and keeps its data
 * and the admin key in DATA_DIR.
 *
 * @throws ConfigError for a manual clock with a Redis that other processes may use
 */
export function createStandalone(options: StandaloneOptions): Service {
  const { REDIS_URL, CLOCK } = options.config;
  if (REDIS_URL !== undefined && CLOCK === 'manual') {
    throw new ConfigError([
      "CLOCK must be redis if REDIS_URL is set, because other processes that use this Redis follow Redis's clock",
    ]);
  }
  if (REDIS_URL !== undefined) return createApp(options, () => REDIS_URL);
  const redis = createRedisService(options);
  // The key is generated after Redis has started, which refuses a data folder that another process uses.
  return compose('standalone', [[redis], [createApp(options, redis.url)]]);
}

function createRedisService(options: StandaloneOptions): Service & { url: () => string } {
  const { config, log, cacheDir } = options;
  let redis: PrivateRedis | undefined;
  return {
    name: 'redis-server',
    url: () => (redis as PrivateRedis).url,
    async start() {
      redis = new PrivateRedis({
        binary: await findRedisServer(cacheDir, noticeBy(options)),
        dataDir: join(config.DATA_DIR, 'redis'),
        onCrash: (output) => log.error({ output }, 'redis-server exited unexpectedly, restarting it'),
      });
      await redis.start();
    },
    stop: async () => redis?.stop(),
  };
}

/** Create everything except Redis, as a service that tells how to use it once it has started. */
function createApp(options: StandaloneOptions, redisUrl: () => string): Service {
  const { config, log, print } = options;
  let httpService: HttpService | undefined;
  return {
    name: 'yardmaster',
    async start() {
      const own = config.ADMIN_API_KEY === undefined ? await adminKeyOf(config.DATA_DIR, noticeBy(options)) : null;
      const adminKey = config.ADMIN_API_KEY ?? own?.key;
      httpService = createAllInOne({ ...config, REDIS_URL: redisUrl(), ADMIN_API_KEY: adminKey }, log);
      await httpService.start();
      const url = httpService.url();
      const dataDir = config.REDIS_URL === undefined ? resolve(config.DATA_DIR) : null;
      if (print === null) log.info({ url, adminKeyFile: own?.file ?? null, dataDir }, 'ready');
      else print(banner({ url, adminKey: own?.key ?? null, dataDir, hasUi: config.UI }));
    },
    stop: async (withinMs) => httpService?.stop(withinMs),
  };
}

/** Create the API, streams and scheduler on one port, with shared connections to Redis. */
function createAllInOne(given: StandaloneConfig & { REDIS_URL: string }, log: Logger): HttpService {
  const config = { ...given, CALLBACK_ALLOW_PRIVATE: given.CALLBACK_ALLOW_PRIVATE ?? isLoopback(given.HOST) };
  const context = createServerContext(config, log, { isClockManual: config.CLOCK === 'manual' });
  const streams = createStreams({ context, config, log });
  const background = createBackground({ context, config, log });
  const server = createApiServer({ context, config, log, streams, isLive: background.isLive });
  return createHttpService({ name: 'yardmaster', context, server, streams, background, config, log });
}

/** Return whether a host is a loopback address, so that all clients and callback receivers are on this machine. */
const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|::1)$/.test(host);

export interface BannerOptions {
  url: string;
  /** The generated key; null for a key set by the operator, which must not be printed. */
  adminKey: string | null;
  /** Folder of the private Redis; null if the operator provides the Redis. */
  dataDir: string | null;
  /** Whether the dashboard is served. */
  hasUi: boolean;
}

/** Format the text shown at the terminal once the service is ready: its URL, the key, and a command to paste. */
export function banner({ url, adminKey, dataDir, hasUi }: BannerOptions): string {
  const header = adminKey === null ? '"x-api-key: $ADMIN_API_KEY"' : `'x-api-key: ${adminKey}'`;
  return `
  Yardmaster is ready at ${url}

${hasUi ? `  Dashboard   ${url}/ui/\n` : ''}  Admin key   ${adminKey ?? 'the one in ADMIN_API_KEY'}
  Jobs        ${dataDir === null ? 'in the Redis at REDIS_URL' : `kept in ${dataDir}`}

  Create a job in the space "demo":

    curl -s -X POST ${url}/api/v1/spaces/demo/jobs -H ${header} -H 'content-type: application/json' -d '{"name":"hello"}'

  Stop with Ctrl-C.
`;
}
