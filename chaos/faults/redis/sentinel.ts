import { setTimeout as delay } from 'node:timers/promises';
import { ask, info } from '../../../test/support/redis/ask.js';
import { PASSWORD } from '../../../test/support/redis/credentials.js';
import type { RedisNode } from '../../../test/support/redis/node.js';
import type { Sentinels } from '../../../test/support/redis/sentinels.js';
import { until } from '../../../test/support/until.js';
import type { Fault, FaultContext, Heal } from '../../runs/fault.js';

const UNSENT_MS = 100; // Maximum lag of a replica on an idle machine.
const ALONE_MS = 4_000; // How long the primary is alone before it is killed.
const SETTLED_MS = 2_500; // Sentinels publish their decisions every 2 s.
export const FAILOVER_MS = 180_000;

/** Return the span in which effects may be undone: the last effects of the old primary. */
export const undoneAround = (at: number) => [{ from: at - UNSENT_MS, until: at + UNSENT_MS }];

let killedAt = 0; // When the primary was killed, epoch milliseconds. A process makes one run.

const promises = ['P1', 'P2', 'P12'] as const;
const common = { promises, stops: ['redis'], lastsMs: 0, installation: { hasSentinels: true } } as const;

export const faults: Fault[] = [
  {
    ...common,
    name: 'F7-killed',
    title: 'the primary of Sentinel is killed',
    inject: async (context) => failOver(context, await sentinelsOf(context).primary()),
    undone: () => undoneAround(killedAt),
  },
  {
    ...common,
    name: 'F7-alone',
    title: 'the primary of Sentinel is cut off from its replicas, and then killed',
    async inject(context) {
      const sentinels = sentinelsOf(context);
      const primary = await sentinels.primary();
      await requireReplica(sentinels);
      // The replicas are cut off from their primary, which continues. Sentinels see all servers.
      await setPassword(sentinels, 'wrong', primary);
      await ask(sentinels.address(primary), 'CLIENT', 'KILL', 'TYPE', 'replica');
      await delay(ALONE_MS);
      // A failover undoes the writes that only the primary has. There are none, because it refuses all work without a replica.
      return failOver(context, primary);
    },
    undone: ({ outage }) => undoneAround(outage.from),
  },
];

function sentinelsOf({ installation: { sentinels } }: FaultContext): Sentinels {
  if (sentinels === null) throw new Error('there are no Sentinels');
  return sentinels;
}

/** Kill the primary, and wait until another server replaces it and has a replica. */
async function failOver(context: FaultContext, old: RedisNode): Promise<Heal> {
  const sentinels = sentinelsOf(context);
  await old.kill();
  killedAt = Date.now();
  await setPassword(sentinels, PASSWORD);
  return async () => {
    await until(async () => (await sentinels.primary()) !== old, FAILOVER_MS);
    // Two Sentinels may each start a failover, and the second undoes the first.
    let since = Date.now();
    await until(async () => {
      if (!(await hasReplica(sentinels, await sentinels.primary()))) since = Date.now();
      return Date.now() - since > SETTLED_MS;
    }, FAILOVER_MS);
    await old.resume();
  };
}

/** Configure all servers as docs/redis.md recommends: a primary without a replica refuses work. */
async function requireReplica({ nodes, address }: Sentinels): Promise<void> {
  for (const node of nodes)
    await ask(address(node), 'CONFIG', 'SET', 'min-replicas-to-write', 1, 'min-replicas-max-lag', 2);
}

/** Set the password with which running servers authenticate to their primary. */
async function setPassword({ nodes, address }: Sentinels, password: string, except?: RedisNode): Promise<void> {
  for (const node of nodes)
    if (node.isRunning && node !== except) await ask(address(node), 'CONFIG', 'SET', 'masterauth', password);
}

/** Check whether a server is a primary with an up-to-date replica. */
async function hasReplica({ address }: Sentinels, node: RedisNode): Promise<boolean> {
  const { role, connected_slaves, slave0 = '', slave1 = '' } = await info(address(node), 'replication');
  return role === 'master' && Number(connected_slaves) > 0 && `${slave0} ${slave1}`.includes('state=online');
}
