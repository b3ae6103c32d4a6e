import { freePort } from '../free-port.js';
import { until } from '../until.js';
import { type Address, ask, info } from './ask.js';
import { login, makeTlsFiles, PASSWORD, queryOf } from './credentials.js';
import { quoted, type RedisNode, startNode } from './node.js';

const PRIMARIES = 3;
const SLOTS = 16_384;

export interface ClusterNode extends RedisNode {
  /** Role at the start; `roleNow` returns the current one. */
  role: 'primary' | 'replica';
  roleNow(): Promise<'primary' | 'replica'>;
}

export interface RedisCluster {
  /** `redis+cluster://:…@h1,h2,…`, or `rediss+cluster://…` */
  url: string;
  nodes: ClusterNode[];
  /** How to reach one node directly. */
  address(node: RedisNode): Address;
  /** The running nodes that are currently primaries. */
  primaries(): Promise<ClusterNode[]>;
  /** The node that currently replicates another one. */
  replicaOf(primary: RedisNode): Promise<ClusterNode>;
  /** Whether all slots are served, as each running node sees it. */
  isWhole(): Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Start three primaries with a replica each, all with a password.
 *
 * @param nodeTimeoutMs how long a node may be silent before it counts as failed
 * @param ranges number of slot ranges of each primary, interleaved; more than one spreads data that uses few slots
 */
export async function startCluster({ tls = false, nodeTimeoutMs = 2_000, ranges = 1 } = {}): Promise<RedisCluster> {
  const files = tls ? await makeTlsFiles() : null;
  const started: ClusterNode[] = [];
  const address = ({ port }: RedisNode): Address => ({ port, password: PASSWORD, tls: files });

  async function start(role: ClusterNode['role']): Promise<ClusterNode> {
    const node = await startNode({
      lines: async (port) => [
        ...(files ? [...files.lines(port), 'tls-cluster yes'] : [`port ${port}`]),
        `requirepass ${quoted(PASSWORD)}`,
        `masterauth ${quoted(PASSWORD)}`,
        'cluster-enabled yes',
        `cluster-port ${await freePort()}`, // Port + 10000 may be in use, or not exist.
        'cluster-config-file nodes.conf',
        `cluster-node-timeout ${nodeTimeoutMs}`,
        'cluster-require-full-coverage no', // As docs/redis.md recommends.
        // A replica takes over even if its primary was silent for long.
        'cluster-replica-validity-factor 0',
      ],
    });
    const roleNow = async () =>
      (await info(address(node), 'replication')).role === 'master' ? ('primary' as const) : ('replica' as const);
    const made = Object.assign(node, { role, roleNow });
    started.push(made);
    return made;
  }

  async function stop(): Promise<void> {
    await Promise.all(started.map((node) => node.stop()));
    await files?.remove();
  }

  async function isWhole(): Promise<boolean> {
    const running = started.filter((node) => node.isRunning);
    const texts = await Promise.all(running.map(async (node) => String(await ask(address(node), 'CLUSTER', 'INFO'))));
    return texts.every((text) => text.includes('cluster_state:ok') && text.includes(`cluster_slots_ok:${SLOTS}`));
  }

  async function primariesNow(): Promise<ClusterNode[]> {
    const running = started.filter((node) => node.isRunning);
    const roles = await Promise.all(running.map((node) => node.roleNow()));
    return running.filter((_, i) => roles[i] === 'primary');
  }

  async function replicaOf({ port }: RedisNode): Promise<ClusterNode> {
    const running = started.filter((node) => node.isRunning);
    const infos = await Promise.all(running.map((node) => info(address(node), 'replication')));
    return running[infos.findIndex(({ master_port }) => master_port === String(port))] as ClusterNode;
  }

  async function startAll(): Promise<void> {
    const each = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: PRIMARIES }, make));
    const [primaries, replicas] = await Promise.all([each(() => start('primary')), each(() => start('replica'))]);
    await Promise.all(
      primaries.map((node, i) => ask(address(node), 'CLUSTER', 'ADDSLOTSRANGE', ...rangesOf(i, ranges))),
    );
    await joinNodes(started, address);
    for (const [i, node] of replicas.entries()) {
      const id = String(await ask(address(primaries[i] as RedisNode), 'CLUSTER', 'MYID'));
      await ask(address(node), 'CLUSTER', 'REPLICATE', id);
    }
    for (const node of primaries)
      await until(async () => (await info(address(node), 'replication')).connected_slaves === '1');
    await until(isWhole);
  }

  await startAll().catch(async (error) => {
    await stop();
    throw error;
  });
  const hosts = started.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const url = `${tls ? 'rediss' : 'redis'}+cluster://${login(PASSWORD)}${hosts}${queryOf(files?.query ?? {})}`;
  return { url, nodes: started, address, primaries: primariesNow, replicaOf, isWhole, stop };
}

/** Return the first and last slot of each range of one primary. */
function rangesOf(primary: number, ranges: number): number[] {
  const first = (range: number) => Math.floor((SLOTS * range) / (PRIMARIES * ranges));
  return Array.from({ length: ranges }, (_, i) => i * PRIMARIES + primary).flatMap((range) => [
    first(range),
    first(range + 1) - 1,
  ]);
}

/** Join all nodes to the first one, and wait until each node knows all. */
async function joinNodes(nodes: RedisNode[], address: (node: RedisNode) => Address): Promise<void> {
  const [first, ...others] = nodes as [RedisNode, ...RedisNode[]];
  // Each node gets its own epoch; otherwise two owners of slots start with the same epoch, which is a conflict.
  for (const [i, node] of nodes.entries()) await ask(address(node), 'CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
  for (const node of others) {
    const busPort = await busPortOf(address(node));
    await ask(address(first), 'CLUSTER', 'MEET', '127.0.0.1', node.port, busPort);
  }
  for (const node of nodes)
    await until(async () => {
      const text = String(await ask(address(node), 'CLUSTER', 'INFO'));
      return text.includes(`cluster_known_nodes:${nodes.length}`);
    });
}

async function busPortOf(node: Address): Promise<string> {
  const [, port] = (await ask(node, 'CONFIG', 'GET', 'cluster-port')) as string[];
  return port as string;
}
