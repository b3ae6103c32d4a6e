import type { Cluster, Redis } from 'ioredis';

/**
 * Have a cluster hear what a node still has to say when it lets go of it.
 *
 * ioredis ends its connection to a node as soon as the table of slots does not name it. For a moment it names no primary that
 * is handing over to its replica: what that one was asked just before, and is about to answer with MOVED, would be lost,
 * and nobody would know whether it was done.
 */
export function hearLastReplies(cluster: Cluster): void {
  cluster.on('+node', (node: Redis) => {
    const disconnect = node.disconnect;
    node.disconnect = function letGo(this: Redis, reconnect = false) {
      // A cluster that is ended ends at once, and so does a connection that is to be made anew.
      if (reconnect || cluster.status !== 'ready' || this.status !== 'ready') return disconnect.call(this, reconnect);
      forgetOnlyOnce(cluster, this);
      const end = () => disconnect.call(this);
      // Its reply comes behind all others, or not in time, when those have been given up, too.
      this.ping().then(end, end);
    };
  });
}

/** By its end the cluster may know the node again, by another connection, which it would forget in place of this one. */
function forgetOnlyOnce(cluster: Cluster, node: Redis): void {
  const { host, port } = node.options;
  const listeners = node.listeners('end');
  node.removeAllListeners('end').once('end', () => {
    const isHere = (other: Redis) => other !== node && other.options.host === host && other.options.port === port;
    if (!cluster.nodes().some(isHere)) for (const listener of listeners) listener.call(node);
  });
}
