import { Command } from 'ioredis';
import type { RedisClient } from '../client.js';
import { type QueuedTimeout, TimeoutQueue } from './timeout-queue.js';

/**
 * Make a client's `evalsha` create its commands in fewer steps. ioredis searches the arguments of any command for
 * arrays, and makes and deletes a timer for each command. For a script, whose arguments are texts and numbers, that is
 * a tenth of what the call costs here (docs/performance/lab-book.md). The command, its timeout and its errors are the same.
 */
export function useScriptCommands(client: RedisClient): void {
  client.evalsha = ((sha1: string, keys: number, ...parameters: (string | number)[]) => {
    const command = new ScriptCommand(sha1, keys, parameters);
    client.sendCommand(command);
    return command.promise;
  }) as typeof client.evalsha;
}

/** Timeout queues by their length in milliseconds: there is one for each kind of client. */
const timeouts = new Map<number, TimeoutQueue>();

function timeoutsOf(ms: number): TimeoutQueue {
  const known = timeouts.get(ms);
  if (known) return known;
  const made = new TimeoutQueue(ms);
  timeouts.set(ms, made);
  return made;
}

class ScriptCommand extends Command {
  #timeout: QueuedTimeout | undefined;

  constructor(sha1: string, keys: number, parameters: (string | number)[]) {
    super('evalsha', [], { replyEncoding: 'utf8' });
    const args: string[] = [sha1, String(keys)];
    for (const parameter of parameters) args.push(typeof parameter === 'string' ? parameter : String(parameter));
    this.args = args;
  }

  /** Called when the command is sent, and again when a cluster's node redirects it, within the same time. */
  override setTimeout(ms: number): void {
    this.#timeout ??= timeoutsOf(ms).begin(() => this.reject(new Error('Command timed out')));
  }

  /** Called with the reply. A call that fails keeps its timeout, which then has no effect. */
  override transformReply(reply: Buffer | Buffer[]): ReturnType<Command['transformReply']> {
    this.#timeout?.clear();
    return super.transformReply(reply);
  }
}
