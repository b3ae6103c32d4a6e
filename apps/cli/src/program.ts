import { Command, CommanderError } from 'commander';
import { addCallbackSecret, type CallbackSecretRequest } from './callback-secret-command.js';
import { EXIT } from './exit-codes.js';
import { addFormat, type FormatRequest } from './format-command.js';
import { addFsck, type FsckRequest } from './fsck-command.js';
import { addLogs, type LogsRequest } from './logs-command.js';
import type { Env } from './options.js';
import { addWatch, type WatchRequest } from './watch-command.js';

export interface ProgramOptions {
  env: Env;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Each does what its command asks for, and returns the exit code. */
  watch: (request: WatchRequest) => Promise<number>;
  logs: (request: LogsRequest) => Promise<number>;
  fsck: (request: FsckRequest) => Promise<number>;
  callbackSecret: (request: CallbackSecretRequest) => Promise<number>;
  format: (request: FormatRequest) => Promise<number>;
}

/**
 * Run a command line.
 *
 * @param args without the program's name
 * @returns the exit code
 */
export async function runProgram(args: string[], options: ProgramOptions): Promise<number> {
  let code: number = EXIT.completed;
  const program = new Command('yardmaster').description(
    'Watch the jobs of a Yardmaster service, read their logs and its callback secrets, and check what it stores.',
  );
  program.exitOverride().configureOutput({
    writeOut: options.out,
    writeErr: options.err,
    // A mistyped --token=… must not be quoted.
    outputError: (text, write) => write(text.replace(/(--?[\w-]+)=[^\n]*/g, "$1=…'")),
  });
  addWatch(program, options.env, async (request) => {
    code = await options.watch(request);
  });
  addLogs(program, options.env, async (request) => {
    code = await options.logs(request);
  });
  addFsck(program, options.env, async (request) => {
    code = await options.fsck(request);
  });
  addCallbackSecret(program, options.env, async (request) => {
    code = await options.callbackSecret(request);
  });
  addFormat(program, options.env, async (request) => {
    code = await options.format(request);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.completed : EXIT.usage; // 0: the user asked for help.
  }
}
