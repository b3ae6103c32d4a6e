import { Cluster, type Command } from 'ioredis';

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
