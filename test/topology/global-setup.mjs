// One topology for all test files; `startService` finds it by these variables. Jest's own loader of this file knows
// neither our packages' sources nor `.js` for a `.ts`, so it is JavaScript and loads them by Node's.
import '../../scripts/typescript.mjs';

/** What most tests would set for a service of their own. */
const envOf = (shared) => ({
  ...shared,
  CALLBACK_SIGNING_SECRET: '', // Not the one that was made: tests compare all headers of a callback.
  LOG_LEVEL: 'warn',
});

export default async function setUp() {
  // Whoever ends us ends the topology, too: its processes go along when ours exits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const { killListedOnExit } = await import('../support/kill-on-exit.ts');
  process.env.TEST_PROCESSES = killListedOnExit();
  const { startTopology } = await import('../support/topology.ts');
  const { SHARED_ENV, toVariable } = await import('../support/shared-service.ts');
  const env = envOf(SHARED_ENV);
  const topology = await startTopology({ redis: process.env.TEST_TOPOLOGY_REDIS ?? 'single', env });
  globalThis.topology = topology;
  // A test whose settings differ starts a service of its own beside it, on the same Redis.
  const { url, redisUrl } = topology;
  Object.assign(process.env, toVariable([{ url, redisUrl, isBehindProxy: true }]));
}
