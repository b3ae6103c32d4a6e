// Stop the processes, check what the tests have left in Redis, and stop Redis. The logs of all processes stay in
// .cache/topology.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import '../../scripts/typescript.mjs';

const LOGS = fileURLToPath(new URL('../../.cache/topology/', import.meta.url));

async function keepLogs({ processes, nginx }) {
  mkdirSync(LOGS, { recursive: true });
  for (const { name, output } of processes) writeFileSync(`${LOGS}${name}.log`, output());
  for (const name of ['access', 'error']) writeFileSync(`${LOGS}nginx-${name}.log`, await nginx.log(name));
}

export default async function tearDown() {
  const { topology } = globalThis;
  if (topology === undefined) return; // It did not start.
  const { connectTo } = await import('../support/connect.ts');
  const { createStore } = await import('@yardmaster/store');
  const { fsck } = await import('../support/fsck.ts');
  const faults = [];
  for (const each of topology.processes) {
    const code = await each.stop();
    if (code !== 0) faults.push(`${each.name} ended with ${code}: ${each.output().slice(-4_000)}`);
  }
  await keepLogs(topology);
  const redis = connectTo(topology.redisUrl);
  faults.push(...(await fsck(createStore(redis, { keyPrefix: topology.prefix }))));
  redis.disconnect();
  await topology.stop();
  if (faults.length > 0) throw new Error(`The topology left faults behind:\n${faults.join('\n')}`);
}
