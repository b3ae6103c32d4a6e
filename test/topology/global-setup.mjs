// Start one topology for all test files; `startService` finds it by these variables. Jest loads this file without support
// for the sources of our packages and for TypeScript, so it is JavaScript and loads them by hooks of Node.
import '../../scripts/typescript.mjs';

/** Settings that most tests use. */
const envOf = (shared) => ({
  ...shared,
  CALLBACK_SIGNING_SECRET_FILE: '', // Without the generated secret, because tests compare all headers of a callback.
  LOG_LEVEL: 'warn',
});

export default async function setUp() {
  // A signal must also end the topology, whose processes end when this process exits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const { killListedOnExit } = await import('../support/kill-on-exit.ts');
  process.env.TEST_PROCESSES = killListedOnExit();
  const { startTopology } = await import('../support/topology.ts');
  const { SHARED_ENV, toVariable } = await import('../support/shared-service.ts');
  const env = envOf(SHARED_ENV);
  const topology = await startTopology({ redis: process.env.TEST_TOPOLOGY_REDIS ?? 'single', env });
  globalThis.topology = topology;
  // A test with other settings starts its own service on the same Redis.
  const { url, redisUrl } = topology;
  Object.assign(process.env, toVariable([{ url, redisUrl, isBehindProxy: true }]));
}
