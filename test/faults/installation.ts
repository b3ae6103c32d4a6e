import { createStore, type Store } from '@yardmaster/store';
import { freePort } from '../support/free-port.js';
import { ADMIN_KEY } from '../support/service.js';
import { type AppProcess, startApp } from './app-process.js';
import type { Release } from './release.js';
import { type ServerOptions, type Servers, startServers } from './servers.js';

/**
 * A whole installation of a run's own: a redis-server over TCP with an append-only file, and our processes, each behind a
 * proxy of its own.
 *
 *   await installation.apis[0].kill();         await installation.apis[0].start();
 *   await installation.redis.kill();           await installation.redis.resume();   // on the same data
 *   installation.pauseRedis();                 installation.continueRedis();
 *   installation.apps.forEach(({ proxy }) => proxy.set({ delayMs: 200 }));
 */
export interface Installation extends Omit<Servers, 'url'> {
  apis: AppProcess[];
  gateways: AppProcess[];
  schedulers: AppProcess[];
  /** All of them. */
  apps: AppProcess[];
  /** SIGSTOP and SIGCONT. */
  pauseRedis(): void;
  continueRedis(): void;
  /** Straight to Redis, past all proxies; its commands wait through an outage. */
  store: Store;
  settings: Settings;
  key: string;
}

/** What the rules need to know of how the processes are set up. */
export interface Settings {
  deliveryTimeoutMs: number;
  retentionMs: number;
  /** Seconds until each retry of a callback. */
  callbackDelays: readonly number[];
  eventsPerJob: number;
}

export interface InstallationOptions extends ServerOptions {
  /** Default 2. */
  apis?: number;
  /** Default 1. */
  gateways?: number;
  /** Default 2. */
  schedulers?: number;
  /** Of every process, over ours. */
  env?: Record<string, string>;
  /** Folder of the release that all are of; default this one. */
  root?: string;
  /** Makes the release that every second process of each kind is of. Default: all are of this one. */
  makeOtherRelease?: () => Promise<Release>;
}

/** Windows are short, so that much happens in them. */
const ENV = {
  ADMIN_API_KEY: ADMIN_KEY,
  DELIVERY_TIMEOUT_SECONDS: '2',
  CALLBACK_RETRY_DELAYS: '1,2,4',
  CALLBACK_ALLOW_PRIVATE: 'true',
  CALLBACK_SIGNING_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  EVENTS_PER_JOB: '1000',
  RETENTION_SECONDS: '3600', // Longer than any run: what has ended is looked at in the end.
  SHUTDOWN_SECONDS: '10',
};

const settingsOf = (env: typeof ENV): Settings => ({
  deliveryTimeoutMs: Number(env.DELIVERY_TIMEOUT_SECONDS) * 1_000,
  retentionMs: Number(env.RETENTION_SECONDS) * 1_000,
  callbackDelays: env.CALLBACK_RETRY_DELAYS.split(',').map(Number),
  eventsPerJob: Number(env.EVENTS_PER_JOB),
});

/** Start one, and wait until all of it serves. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const { apis = 2, gateways = 1, schedulers = 2 } = options;
  const env = { ...ENV, ...options.env };
  const settings = settingsOf(env);
  const release = await options.makeOtherRelease?.();
  const { url, ...servers } = await startServers(options);
  const { redis, connection } = servers;
  const apps: AppProcess[] = [];

  async function stop(): Promise<void> {
    await Promise.all(apps.map((app) => app.stop()));
    await servers.stop();
    await release?.remove();
  }

  async function start(app: 'api' | 'gateway' | 'scheduler', count: number): Promise<AppProcess[]> {
    const names = Array.from({ length: count }, (_, i) => `${app}-${i + 1}`);
    const starting = names.map(async (name, i) => {
      const root = i % 2 === 1 && release ? release.root : options.root;
      const port = await freePort();
      const made = await startApp({ app, name, port, redisPort: redis.port, redisUrl: url, env, root });
      apps.push(made);
      return made;
    });
    await Promise.allSettled(starting); // None is left behind when another one does not start.
    return Promise.all(starting);
  }

  try {
    return {
      ...servers,
      apis: await start('api', apis),
      gateways: await start('gateway', gateways),
      schedulers: await start('scheduler', schedulers),
      apps,
      pauseRedis: () => void process.kill(redis.pid, 'SIGSTOP'),
      continueRedis: () => void process.kill(redis.pid, 'SIGCONT'),
      store: createStore(connection, settings),
      settings,
      key: ADMIN_KEY,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
