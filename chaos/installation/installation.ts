import { createStore } from '@yardmaster/store';
import { connectTo } from '../../test/support/connect.js';
import { freePort } from '../../test/support/free-port.js';
import { startCluster } from '../../test/support/redis/cluster.js';
import { startNode } from '../../test/support/redis/node.js';
import { startSentinels } from '../../test/support/redis/sentinels.js';
import { ADMIN_KEY } from '../../test/support/shared-service.js';
import { until } from '../../test/support/until.js';
import { type AppProcess, startApp } from './app-process.js';
import type { Release } from './release.js';
import { learnScripts } from './scripts.js';

export interface InstallationOptions {
  redisLines?: readonly string[]; // Lines of redis.conf of a single server.
  hasSentinels?: boolean; // One primary, two replicas and three Sentinels instead of one server; without proxies.
  isCluster?: boolean; // Three primaries with one replica each instead of one server; without proxies.
  gateways?: number; // Default 1.
  schedulers?: number; // Default 2.
  env?: Record<string, string>; // Variables of every process, which override those below.
  root?: string; // Folder of another release for all processes. Default: this release.
  makeOtherRelease?: () => Promise<Release>; // Create another release for every second process of each kind.
}

/** Short windows, so that many of them close during a run. */
const ENV = {
  ADMIN_API_KEY: ADMIN_KEY,
  DELIVERY_TIMEOUT_SECONDS: '2',
  MAX_DELIVERIES: '100',
  CALLBACK_RETRY_DELAYS: '1,2,4',
  CALLBACK_ALLOW_PRIVATE: 'true',
  CALLBACK_SIGNING_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  EVENTS_PER_JOB: '1000',
  UI: 'false', // Copies of releases have no dashboard.
  RETENTION_SECONDS: '3600', // Longer than a run, because ended jobs are checked at the end.
  SHUTDOWN_SECONDS: '10',
};

const settingsOf = (env: typeof ENV) => ({
  deliveryTimeoutMs: Number(env.DELIVERY_TIMEOUT_SECONDS) * 1_000,
  maxDeliveries: Number(env.MAX_DELIVERIES),
  retentionMs: Number(env.RETENTION_SECONDS) * 1_000,
  callbackDelays: env.CALLBACK_RETRY_DELAYS.split(',').map(Number), // Seconds until each retry.
  eventsPerJob: Number(env.EVENTS_PER_JOB),
});

/** Settings of the processes, as the rules need them. */
export type Settings = ReturnType<typeof settingsOf>;

/**
 * All processes of one service, with their own Redis on TCP and with an append-only file.
 *
 *   await installation.apis[0].kill();     await installation.apis[0].start();
 *   await installation.redis.kill();       await installation.redis.resume();   // on the same data
 */
export type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** Start an installation, and wait until all processes accept requests. */
export async function startInstallation(options: InstallationOptions = {}) {
  const { gateways = 1, schedulers = 2, root } = options;
  const env = { ...ENV, ...options.env };
  const settings = settingsOf(env);
  await learnScripts(settings, root);
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
    const starting = Array.from({ length: count }, async (_, i) => {
      const addresses = { port: await freePort(), redisPort: redis.port, redisUrl: url };
      const from = i % 2 === 1 && release ? release.root : root;
      const made = await startApp({ app, name: `${app}-${i + 1}`, ...addresses, env, root: from });
      apps.push(made);
      return made;
    });
    await Promise.allSettled(starting); // If one does not start, `stop` must still stop the others.
    return Promise.all(starting);
  }

  /** Start schedulers, and wait until they process deadlines. At first, they only watch the clock of Redis. */
  async function startSchedulers(count: number): Promise<AppProcess[]> {
    const started = await start('scheduler', count);
    const isReady = async ({ url: at }: AppProcess) => (await fetch(`${at}/readyz`)).ok;
    for (const scheduler of started) await until(() => isReady(scheduler), 60_000);
    return started;
  }

  try {
    return {
      ...servers,
      apis: await start('api', 2),
      gateways: await start('gateway', gateways),
      schedulers: await startSchedulers(schedulers),
      apps,
      store: createStore(connection, { ...settings, redisTimeoutMs: 60_000 }), // Without a proxy.
      settings,
      key: ADMIN_KEY,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const RANGES = 4; // Ranges of slots per primary, so that each primary has one of the load's spaces.

/** Start one Redis, or one with Sentinels, or a cluster, and connect to it. */
async function startServers({ redisLines = [], hasSentinels, isCluster }: InstallationOptions) {
  const sentinels = hasSentinels ? await startSentinels() : null;
  const cluster = isCluster ? await startCluster({ ranges: RANGES }) : null;
  const many = sentinels ?? cluster;
  const redis = many?.nodes[0] ?? (await startNode({ lines: (port) => [`port ${port}`, ...redisLines] }));
  const connection = connectTo(many?.url ?? `redis://127.0.0.1:${redis.port}`);
  connection.on('error', () => undefined); // Commands report the error.
  return {
    redis, // Only server, or first primary.
    sentinels,
    cluster,
    url: many?.url, // Address for processes without a proxy; undefined: through their proxies.
    connection, // Without a proxy; its commands wait until an outage ends.
    async stop(): Promise<void> {
      connection.disconnect();
      await (many ?? redis).stop();
    },
  };
}
