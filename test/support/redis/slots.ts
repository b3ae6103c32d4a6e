import { until } from '../until.js';
import { ask } from './ask.js';
import type { ClusterNode, RedisCluster } from './cluster.js';

/** A slot on its way from one primary to another. */
export interface SlotMove {
  slot: number;
  from: ClusterNode;
  to: ClusterNode;
}

type Words = [string, ...(string | number)[]];
const tell = ({ address }: RedisCluster, node: ClusterNode, ...words: Words) => ask(address(node), ...words);

/** How many keys go at once, as `redis-cli --cluster reshard` has it. */
const KEYS_AT_ONCE = 10;

const MIGRATE_MS = 5_000;

const anyOf = ({ nodes }: RedisCluster) => nodes.find(({ isRunning }) => isRunning) as ClusterNode;

/** The slot of a key. */
export const slotOf = async (cluster: RedisCluster, key: string) =>
  Number(await tell(cluster, anyOf(cluster), 'CLUSTER', 'KEYSLOT', key));

/** The primary that has a slot, as one of the running nodes sees it. */
export async function ownerOf(cluster: RedisCluster, slot: number): Promise<ClusterNode> {
  type Range = [from: number, to: number, primary: [host: string, port: number]];
  const ranges = (await tell(cluster, anyOf(cluster), 'CLUSTER', 'SLOTS')) as Range[];
  const range = ranges.find(([first, last]) => first <= slot && slot <= last);
  const owner = cluster.nodes.find(({ port }) => port === range?.[2][1]);
  if (owner === undefined) throw new Error(`nobody has slot ${slot}`);
  return owner;
}

/** Redis gives up a failover that was asked for after this, as when a node that must agree has not heard of it in time. */
const GIVEN_UP_MS = 5_000;

/** Have the primary of a slot hand over to its replica, as an operator does. @returns the old primary */
export async function handOver(cluster: RedisCluster, slot: number): Promise<ClusterNode> {
  const old = await ownerOf(cluster, slot);
  const replica = await cluster.replicaOf(old);
  const isDone = () => hasLeft(cluster, slot, old);
  while (!(await isDone())) {
    await tell(cluster, replica, 'CLUSTER', 'FAILOVER');
    await until(isDone, GIVEN_UP_MS).catch(() => undefined); // Asked for again.
  }
  return old;
}

/** Whether another primary than this one has a slot now, and every slot is served. */
export const hasLeft = async (cluster: RedisCluster, slot: number, old: ClusterNode) =>
  (await ownerOf(cluster, slot)) !== old && (await cluster.isWhole());

/**
 * Move a slot with all its keys, as `redis-cli --cluster reshard` does. Keys that both have should not be there: those of
 * the old owner are kept, as with `--cluster-replace`.
 *
 * @returns how often there were any
 */
export async function moveSlot(cluster: RedisCluster, move: SlotMove): Promise<number> {
  let doubled = 0;
  await beginMove(cluster, move);
  for (let isMore = true; isMore; ) {
    try {
      isMore = (await moveKeys(cluster, move, KEYS_AT_ONCE)) > 0;
    } catch (error) {
      if (!(error as Error).message.includes('BUSYKEY')) throw error;
      doubled++;
      await moveKeys(cluster, move, KEYS_AT_ONCE, 'REPLACE');
    }
  }
  await finishMove(cluster, move);
  return doubled;
}

/** Tell both that the slot is about to go from one to the other. */
export async function beginMove(cluster: RedisCluster, { slot, from, to }: SlotMove): Promise<void> {
  const idOf = async (node: ClusterNode) => String(await tell(cluster, node, 'CLUSTER', 'MYID'));
  await tell(cluster, to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
  await tell(cluster, from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to));
}

/** Move some of its keys. @returns how many there were to move */
export async function moveKeys(
  cluster: RedisCluster,
  { slot, from, to }: SlotMove,
  atMost: number,
  ...flags: 'REPLACE'[]
): Promise<number> {
  const keys = (await tell(cluster, from, 'CLUSTER', 'GETKEYSINSLOT', slot, atMost)) as string[];
  const password = cluster.address(to).password as string;
  const target = ['127.0.0.1', to.port, '', 0, MIGRATE_MS, ...flags, 'AUTH', password] as const;
  if (keys.length > 0) await tell(cluster, from, 'MIGRATE', ...target, 'KEYS', ...keys);
  return keys.length;
}

/** Tell every primary whose it is now, the new owner first. */
export async function finishMove(cluster: RedisCluster, { slot, to }: SlotMove): Promise<void> {
  const id = String(await tell(cluster, to, 'CLUSTER', 'MYID'));
  const others = (await cluster.primaries()).filter((node) => node !== to);
  for (const node of [to, ...others]) await tell(cluster, node, 'CLUSTER', 'SETSLOT', slot, 'NODE', id);
}
