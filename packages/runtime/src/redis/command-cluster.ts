import { Cluster, type Command } from 'ioredis';

/**
 * A cluster that takes no command while there is none, so that a caller gets its 503 at once and nothing piles up.
 *
 * ioredis' own `enableOfflineQueue: false` says the same, and then also refuses every command for a node that is just
 * being connected to: of the first calls at once, after a start or a failover, all but one. Here those wait for the
 * node, for as long as a command may take.
 */
export class CommandCluster extends Cluster {
  override sendCommand(command: Command, ...rest: unknown[]): unknown {
    // `cluster` itself is asked while it connects.
    if (this.status !== 'ready' && command.name !== 'cluster') {
      command.reject(new Error('Connection is closed.'));
      return command.promise;
    }
    return super.sendCommand(command, ...(rest as []));
  }
}
