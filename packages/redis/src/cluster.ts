import { Cluster, type Command, type Redis } from 'ioredis';

/**
 * Make a cluster receive the last replies of a node before it closes the connection to that node.
 *
 * ioredis ends its connection to a node as soon as the table of slots does not name it. For a moment the table names no
 * primary that is handing over to its replica. It is about to reply MOVED to commands that were sent to it just before.
 * Those would be lost, and no caller would know whether they were done.
 */
export function drainLeavingNodes(cluster: Cluster): void {
  cluster.on('+node', (node: Redis) => {
    const disconnect = node.disconnect;
    node.disconnect = function drainThenDisconnect(this: Redis, reconnect = false) {
      // End at once when the cluster or the connection is not ready, and when the connection is to reconnect.
      if (reconnect || cluster.status !== 'ready' || this.status !== 'ready') return disconnect.call(this, reconnect);
      forgetOnlyOnce(cluster, this);
      const end = () => disconnect.call(this);
      // The reply to this ping comes after all others, or times out when those have also been given up.
      this.ping().then(end, end);
    };
  });
}

/** Make the end of a drained connection forget its node only when the cluster has no new connection to that node. */
function forgetOnlyOnce(cluster: Cluster, node: Redis): void {
  const { host, port } = node.options;
  const listeners = node.listeners('end');
  node.removeAllListeners('end').once('end', () => {
    const isHere = (other: Redis) => other !== node && other.options.host === host && other.options.port === port;
    if (!cluster.nodes().some(isHere)) for (const listener of listeners) listener.call(node);
  });
}

/**
 * A cluster that refuses commands while it is not connected, so that a caller gets its 503 at once and no commands pile
 * up.
 *
 * ioredis' own `enableOfflineQueue: false` promises this, but it also refuses every command for a node that is just
 * being connected to. After a start or a failover, it refuses all but one of the first simultaneous calls. Here those
 * wait for the node, for as long as a command may take.
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
