import { ask, info } from '../support/redis/ask.js';
import { PASSWORD } from '../support/redis/credentials.js';
import type { RedisNode } from '../support/redis/node.js';
import type { Sentinels } from '../support/redis/sentinels.js';

/** Let all servers do as docs/operate.md says: a primary without a replica takes no more work. */
export async function requireReplica({ nodes, address }: Sentinels): Promise<void> {
  for (const node of nodes)
    await ask(address(node), 'CONFIG', 'SET', 'min-replicas-to-write', 1, 'min-replicas-max-lag', 10);
}

/** Cut all replicas off from their primary, which serves on; Sentinels see them all. */
export async function cutReplicas({ nodes, address }: Sentinels, primary: RedisNode): Promise<void> {
  for (const node of nodes) if (node !== primary) await ask(address(node), 'CONFIG', 'SET', 'masterauth', 'cut off');
  await ask(address(primary), 'CLIENT', 'KILL', 'TYPE', 'replica');
}

/** Let them replicate again. */
export async function mendReplicas({ nodes, address }: Sentinels): Promise<void> {
  for (const node of nodes) if (node.isRunning) await ask(address(node), 'CONFIG', 'SET', 'masterauth', PASSWORD);
}

/** Whether a server is a primary with a replica that is up to date. */
export async function hasReplica({ address }: Sentinels, node: RedisNode): Promise<boolean> {
  const { role, connected_slaves, slave0 = '', slave1 = '' } = await info(address(node), 'replication');
  return role === 'master' && Number(connected_slaves) > 0 && `${slave0} ${slave1}`.includes('state=online');
}
