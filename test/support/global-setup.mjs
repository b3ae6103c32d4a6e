// Start a Redis and a service for each Jest worker, which its test files share. Jest loads this file without our
// transforms, so it is JavaScript and loads TypeScript by hooks of Node.
import { bundleApps } from '../../scripts/bundle.mjs';
import '../../scripts/typescript.mjs';

export default async function setUp({ maxWorkers }) {
  // A signal must also end what this process started: the `exit` event does.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const { startRedis } = await import('./own-redis.ts');
  const { killListedOnExit } = await import('./kill-on-exit.ts');
  const { startApp } = await import('./process.ts');
  const { SHARED_ENV, toVariable } = await import('./shared-service.ts');

  process.env.TEST_PROCESSES ??= killListedOnExit();
  process.env.TEST_BUNDLES = await bundleApps();

  async function startWorker() {
    const redis = await startRedis({ appendonly: 'no' });
    try {
      const service = await startApp('standalone', { ...SHARED_ENV, REDIS_URL: redis.url });
      return { redis, service };
    } catch (error) {
      await redis.stop();
      throw error;
    }
  }

  // The first one starts alone, because it downloads a redis-server if the machine has none.
  const first = await startWorker();
  const others = await Promise.all(Array.from({ length: maxWorkers - 1 }, startWorker));
  globalThis.testWorkers = [first, ...others];
  const services = globalThis.testWorkers.map(({ redis, service }) => ({
    url: service.url,
    redisUrl: redis.url,
    isBehindProxy: false,
  }));
  Object.assign(process.env, toVariable(services));
}
