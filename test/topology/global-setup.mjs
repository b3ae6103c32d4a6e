// One topology for all test files; `startService` finds it by these variables. Jest's own loader of this file knows
// neither our packages' sources nor `.js` for a `.ts`, so it is JavaScript and loads them by Node's.
import '../../scripts/typescript.mjs';

/** What most tests would set for a service of their own. The key is test/support/service.ts'. */
const ENV = {
  ADMIN_API_KEY: 'admin-key-of-the-tests',
  KEY_PREFIX: 'topology',
  CALLBACK_ALLOW_PRIVATE: 'true',
  CALLBACK_RETRY_DELAYS: '0.05',
  CALLBACK_SIGNING_SECRET: '', // Not the one that was made: tests compare all headers of a callback.
  STREAMS_PER_ADDRESS: '1000',
  LOG_LEVEL: 'warn',
};

export default async function setUp() {
  // Whoever ends us ends the topology, too: its processes go along when ours exits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const { startTopology } = await import('../support/topology.ts');
  const topology = await startTopology({ redis: process.env.TEST_TOPOLOGY_REDIS ?? 'single', env: ENV });
  globalThis.topology = topology;
  process.env.TEST_SERVICE_URL = topology.url;
  process.env.TEST_SERVICE_ENV = JSON.stringify(ENV);
  // Tests with settings that no other has start a service of their own beside it, on the same Redis.
  process.env.TEST_REDIS_URL = topology.redisUrl;
}
