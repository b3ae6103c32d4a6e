import { until } from '../until.js';
import { type Address, ask, info } from './ask.js';
import { login, makeTlsFiles, PASSWORD, queryOf, SENTINEL_PASSWORD } from './credentials.js';
import { quoted, type RedisNode, startNode } from './node.js';

/** The name of the primary that they monitor. */
const NAME = 'yard';

export interface Sentinels {
  /** `redis+sentinel://:…@h1,h2,h3/yard?sentinelPassword=…`, or `rediss+sentinel://…` */
  url: string;
  /** Data servers in any role. */
  nodes: RedisNode[];
  sentinels: RedisNode[];
  /** How to reach a server directly. */
  address(node: RedisNode): Address;
  /** The server that most Sentinels name as the primary now. */
  primary(): Promise<RedisNode>;
  /** Kill the primary with SIGKILL, without waiting for the failover. @returns the node, which can be resumed */
  killPrimary(): Promise<RedisNode>;
  stop(): Promise<void>;
}

/**
 * Start one primary, two replicas and three Sentinels, all with passwords.
 *
 * @param nodeTimeoutMs how long a server may be silent before it counts as failed
 */
export async function startSentinels({ tls = false, nodeTimeoutMs = 1_000 } = {}): Promise<Sentinels> {
  const files = tls ? await makeTlsFiles() : null;
  const started: RedisNode[] = [];
  const listen = (port: number) => files?.lines(port) ?? [`port ${port}`];
  const address = ({ port }: RedisNode, password = PASSWORD): Address => ({ port, password, tls: files });

  async function start(extra: string[], isSentinel = false): Promise<RedisNode> {
    const node = await startNode({ lines: (port) => [...listen(port), ...extra], isSentinel });
    started.push(node);
    return node;
  }

  async function stop(): Promise<void> {
    await Promise.all(started.map((node) => node.stop()));
    await files?.remove();
  }

  async function startAll() {
    const secrets = [`requirepass ${quoted(PASSWORD)}`, `masterauth ${quoted(PASSWORD)}`];
    const first = await start(secrets);
    const replica = [...secrets, `replicaof 127.0.0.1 ${first.port}`];
    const nodes = [first, ...(await Promise.all([start(replica), start(replica)]))];
    // Replicas must come first, because a Sentinel looks for them when it starts, and then only every 10 s.
    await until(async () => (await info(address(first), 'replication')).connected_slaves === '2');
    const watch = [
      `requirepass ${quoted(SENTINEL_PASSWORD)}`,
      `sentinel sentinel-pass ${quoted(SENTINEL_PASSWORD)}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${first.port} 2`,
      `sentinel auth-pass ${NAME} ${quoted(PASSWORD)}`,
      `sentinel down-after-milliseconds ${NAME} ${nodeTimeoutMs}`,
      `sentinel failover-timeout ${NAME} 5000`,
    ];
    const sentinels = await Promise.all([1, 2, 3].map(() => start(watch, true)));
    for (const sentinel of sentinels) await until(() => knowsAll(address(sentinel, SENTINEL_PASSWORD)));
    return { nodes, sentinels };
  }

  const { nodes, sentinels } = await startAll().catch(async (error) => {
    await stop();
    throw error;
  });

  async function primary(): Promise<RedisNode> {
    const alive = sentinels.filter(({ isRunning }) => isRunning);
    const ports = await Promise.all(
      alive.map(async (it) => (await watched(address(it, SENTINEL_PASSWORD)))[1] as string),
    );
    const count = (port: string) => ports.filter((other) => other === port).length;
    const [port] = ports.sort((a, b) => count(b) - count(a));
    return nodes.find((node) => String(node.port) === port) as RedisNode;
  }

  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const query = queryOf({ sentinelPassword: SENTINEL_PASSWORD, ...files?.query });
  return {
    url: `${tls ? 'rediss' : 'redis'}+sentinel://${login(PASSWORD)}${hosts}/${NAME}${query}`,
    nodes,
    sentinels,
    address,
    primary,
    async killPrimary() {
      const node = await primary();
      await node.kill();
      return node;
    },
    stop,
  };
}

/** Return host and port of the server that a Sentinel names as the primary. */
const watched = async (sentinel: Address) =>
  (await ask(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as string[];

/** Return whether a Sentinel knows both replicas and both other Sentinels; there is no failover before that. */
async function knowsAll(sentinel: Address): Promise<boolean> {
  const line = (await info(sentinel, 'sentinel')).master0 ?? '';
  return line.includes('status=ok') && line.includes('slaves=2') && line.includes('sentinels=3');
}
