import { Command } from 'ioredis';
import type { RedisClient } from '../client.js';

/**
 * Make a client's `evalsha` create its commands in fewer steps: ioredis searches the arguments of any command for
 * arrays, and those of a script are only texts and numbers. This saves 1.5 µs of a call, about 4 % of a job's CPU in
 * the API (docs/upstream.md). The command, its time-out and its errors stay those of ioredis.
 */
export function useScriptCommands(client: RedisClient): void {
  client.evalsha = ((sha1: string, keys: number, ...parameters: (string | number)[]) => {
    const command = new ScriptCommand(sha1, keys, parameters);
    client.sendCommand(command);
    return command.promise;
  }) as typeof client.evalsha;
}

class ScriptCommand extends Command {
  constructor(sha1: string, keys: number, parameters: (string | number)[]) {
    super('evalsha', [], { replyEncoding: 'utf8' });
    const args: string[] = [sha1, String(keys)];
    for (const parameter of parameters) args.push(typeof parameter === 'string' ? parameter : String(parameter));
    this.args = args;
  }
}
