// Run the services of docker-compose.yml as processes, without Docker: Redis, APIs, gateways, schedulers, nginx.
//
//   node scripts/topology/main.mjs [--redis single|tls|sentinel|cluster] [VARIABLE=value …]
//
// Prints the address and the admin key, and runs until Ctrl-C. No data is kept. Requires nginx.
import { parseArgs } from 'node:util';
import { setUp } from '../set-up.mjs';
import '../typescript.mjs';

setUp();
const { startTopology } = await import('../../test/support/topology.ts');
const { isRedisKind, REDIS_KINDS } = await import('../../test/support/topology/redis.ts');

const { values, positionals } = parseArgs({
  options: { redis: { type: 'string', default: 'single' } },
  allowPositionals: true,
});
const faults = positionals
  .filter((pair) => !/^[A-Z_]+=/.test(pair))
  .map((it) => `argument must be VARIABLE=value: ${it}`);
if (!isRedisKind(values.redis)) faults.push(`--redis must be one of ${Object.keys(REDIS_KINDS).join(', ')}`);
if (faults.length > 0) {
  process.stderr.write(`${faults.join('\n')}\n`);
  process.exit(2);
}
const env = Object.fromEntries(positionals.map((pair) => pair.split(/=(.*)/s, 2)));

const signal = new Promise((resolve) => {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, resolve);
});
const topology = await startTopology({ redis: values.redis, env });
process.stdout.write(`
  Yardmaster is ready at ${topology.url}

  Admin key   ${topology.adminKey}
  Redis       ${topology.redisUrl}
${topology.processes.map(({ name, pid, url }) => `  ${name.padEnd(12)}${url}   process ${pid}`).join('\n')}

  Stop with Ctrl-C.
`);
await signal;
await topology.stop();
process.exit(0);
