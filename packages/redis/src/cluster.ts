import { Cluster, type Command, type Redis } from 'ioredis';

/**
 * Make a cluster client receive the last replies of a node before it closes the connection to the node.
 *
 * ioredis closes its connection to a node as soon as the slot table doesn't list it. A primary that is handing over to its
 * replica is briefly missing from the table, while it is about to reply MOVED to commands that were just sent to it. These
 * would be lost, and their callers would not know whether they were carried out.
 */
export function drainLeavingNodes(cluster: Cluster): void {
  cluster.on('+node', (node: Redis) => {
    const disconnect = node.disconnect;
    node.disconnect = function drainThenDisconnect(this: Redis, reconnect = false) {
      // Disconnect immediately if the cluster or the connection is not ready, or if the connection is to reconnect.
      if (reconnect || cluster.status !== 'ready' || this.status !== 'ready') return disconnect.call(this, reconnect);
      forgetOnlyOnce(cluster, this);
      const end = () => disconnect.call(this);
      // The reply to this ping arrives after all others, or times out once those have also been abandoned.
      this.ping().then(end, end);
    };
  });
}

/** Make the cluster forget the node of a drained connection only if it has no new connection to that node. */
function forgetOnlyOnce(cluster: Cluster, node: Redis): void {
  const { host, port } = node.options;
  const listeners = node.listeners('end');
  node.removeAllListeners('end').once('end', () => {
    const isHere = (other: Redis) => other !== node && other.options.host === host && other.options.port === port;
    if (!cluster.nodes().some(isHere)) for (const listener of listeners) listener.call(node);
  });
}

/**
 * A cluster client that refuses commands while it is not connected, so that callers get a 503 immediately and commands don't
 * pile up.
 *
 * ioredis's own `enableOfflineQueue: false` promises this, but also refuses every command for a node whose connection is
 * still being opened. After a start or a failover, it refuses all but one of the first simultaneous calls. Here, those wait
 * for the node, for up to the timeout of a command.
 */
export class FailFastCluster extends Cluster {
  override sendCommand(command: Command, ...rest: unknown[]): unknown {
    // The command `cluster` itself is sent while it connects.
    if (this.status !== 'ready' && command.name !== 'cluster') {
      command.reject(new Error('Connection is closed.'));
      return command.promise;
    }
    return super.sendCommand(command, ...(rest as []));
  }
}
