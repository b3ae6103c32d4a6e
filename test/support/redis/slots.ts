import { until } from '../until.js';
import { ask } from './ask.js';
import type { ClusterNode, RedisCluster } from './cluster.js';

/** A slot that moves from one primary to another. */
export interface SlotMove {
  slot: number;
  from: ClusterNode;
  to: ClusterNode;
}

type Words = [string, ...(string | number)[]];
const askNode = ({ address }: RedisCluster, node: ClusterNode, ...words: Words) => ask(address(node), ...words);

/** Keys per MIGRATE, as in `redis-cli --cluster reshard`. */
const KEYS_AT_ONCE = 10;

const MIGRATE_MS = 5_000;

const anyOf = ({ nodes }: RedisCluster) => nodes.find(({ isRunning }) => isRunning) as ClusterNode;

/** Return the slot of a key. */
export const slotOf = async (cluster: RedisCluster, key: string) =>
  Number(await askNode(cluster, anyOf(cluster), 'CLUSTER', 'KEYSLOT', key));

/** Return the primary of a slot, as one of the running nodes sees it. */
export async function ownerOf(cluster: RedisCluster, slot: number): Promise<ClusterNode> {
  type Range = [from: number, to: number, primary: [host: string, port: number]];
  const ranges = (await askNode(cluster, anyOf(cluster), 'CLUSTER', 'SLOTS')) as Range[];
  const range = ranges.find(([first, last]) => first <= slot && slot <= last);
  const owner = cluster.nodes.find(({ port }) => port === range?.[2][1]);
  if (owner === undefined) throw new Error(`no node has slot ${slot}`);
  return owner;
}

/** After this, Redis gives up a requested failover, for example because a node did not vote in time. */
const FAILOVER_TIMEOUT_MS = 5_000;

/** Promote the replica of the primary of a slot, as an operator does. @returns the old primary */
export async function handOver(cluster: RedisCluster, slot: number): Promise<ClusterNode> {
  const old = await ownerOf(cluster, slot);
  const replica = await cluster.replicaOf(old);
  const isDone = () => hasLeft(cluster, slot, old);
  while (!(await isDone())) {
    await askNode(cluster, replica, 'CLUSTER', 'FAILOVER');
    await until(isDone, FAILOVER_TIMEOUT_MS).catch(() => undefined); // Requested again by the loop.
  }
  return old;
}

/** Return whether another primary than this one has a slot now, and every slot is served. */
export const hasLeft = async (cluster: RedisCluster, slot: number, old: ClusterNode) =>
  (await ownerOf(cluster, slot)) !== old && (await cluster.isWhole());

/**
 * Move a slot with all its keys, as `redis-cli --cluster reshard` does. No key should be on both nodes; if one is, that of
 * the old owner is kept, as with `--cluster-replace`.
 *
 * @returns how often keys were on both nodes
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

/** Begin a move: mark the slot as importing on one node and as migrating on the other. */
export async function beginMove(cluster: RedisCluster, { slot, from, to }: SlotMove): Promise<void> {
  const idOf = async (node: ClusterNode) => String(await askNode(cluster, node, 'CLUSTER', 'MYID'));
  await askNode(cluster, to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
  await askNode(cluster, from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to));
}

/** Move some keys of the slot. @returns how many were moved */
export async function moveKeys(
  cluster: RedisCluster,
  { slot, from, to }: SlotMove,
  atMost: number,
  ...flags: 'REPLACE'[]
): Promise<number> {
  const keys = (await askNode(cluster, from, 'CLUSTER', 'GETKEYSINSLOT', slot, atMost)) as string[];
  const password = cluster.address(to).password as string;
  const target = ['127.0.0.1', to.port, '', 0, MIGRATE_MS, ...flags, 'AUTH', password] as const;
  if (keys.length > 0) await askNode(cluster, from, 'MIGRATE', ...target, 'KEYS', ...keys);
  return keys.length;
}

/** Finish a move: announce the new owner to every primary, to the new owner first. */
export async function finishMove(cluster: RedisCluster, { slot, to }: SlotMove): Promise<void> {
  const id = String(await askNode(cluster, to, 'CLUSTER', 'MYID'));
  const others = (await cluster.primaries()).filter((node) => node !== to);
  for (const node of [to, ...others]) await askNode(cluster, node, 'CLUSTER', 'SETSLOT', slot, 'NODE', id);
}
