import { Command } from 'ioredis';
import { type EqualTimeout, EqualTimeouts } from '../equal-timeouts.js';
import type { RedisClient } from './client.js';

/**
 * Have a client's `evalsha` make its commands in fewer steps. ioredis looks through the arguments of any command for
 * arrays in them, and makes and deletes a timer for each: for a script, whose arguments are texts and numbers, that is
 * a tenth of what the call costs here (docs/performance.md). The command, its time-out and its errors are the same.
 */
export function lightenScripts(client: RedisClient): void {
  client.evalsha = ((sha1: string, keys: number, ...parameters: (string | number)[]) => {
    const command = new ScriptCall(sha1, keys, parameters);
    client.sendCommand(command);
    return command.promise;
  }) as typeof client.evalsha;
}

/** By length: of each kind of client there is one. */
const timeouts = new Map<number, EqualTimeouts>();

function timeoutsOf(ms: number): EqualTimeouts {
  const known = timeouts.get(ms);
  if (known) return known;
  const made = new EqualTimeouts(ms);
  timeouts.set(ms, made);
  return made;
}

class ScriptCall extends Command {
  #timeout: EqualTimeout | undefined;

  constructor(sha1: string, keys: number, parameters: (string | number)[]) {
    super('evalsha', [], { replyEncoding: 'utf8' });
    const args: string[] = [sha1, String(keys)];
    for (const parameter of parameters) args.push(typeof parameter === 'string' ? parameter : String(parameter));
    this.args = args;
  }

  /** Called when it is sent; again when a cluster's node has sent it on to another, within the same time. */
  override setTimeout(ms: number): void {
    this.#timeout ??= timeoutsOf(ms).begin(() => this.reject(new Error('Command timed out')));
  }

  /** Called with the reply. A call that fails is left to its time-out, which nobody then hears of. */
  override transformReply(reply: Buffer | Buffer[]): ReturnType<Command['transformReply']> {
    this.#timeout?.clear();
    return super.transformReply(reply);
  }
}
