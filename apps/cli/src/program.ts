import { Command, CommanderError, type OptionValues } from 'commander';
import { callbackSecretCommand } from './callback-secret/command.js';
import { type CliCommand, type Env, type Io, UsageError } from './command.js';
import { EXIT, type Outcome } from './exit-codes.js';
import { formatCommand } from './format/command.js';
import { fsckCommand } from './fsck/command.js';
import { logsCommand } from './logs/command.js';
import { watchCommand } from './watch/command.js';

interface ProgramOptions {
  env: Env;
  io: Io;
  /** Runs a command. Default: its own `run`. */
  run?: <R, F extends OptionValues>(command: CliCommand<R, F>, request: R) => Promise<Outcome>;
}

/**
 * Run a command line.
 *
 * @param args without the program's name
 * @returns the exit code
 */
export async function runProgram(args: string[], options: ProgramOptions): Promise<number> {
  const { env, io, run = (command, request) => command.run(request, io) } = options;
  let outcome: Outcome = { exit: EXIT.completed, sentence: null };
  const program = new Command('yardmaster')
    .description(
      'Watch the jobs of a Yardmaster service, read their logs and its callback secrets, and check its stored data.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      // A mistyped --token=… must not be quoted.
      outputError: (text, write) => write(text.replace(/(--?[\w-]+)=[^\n]*/g, "$1=…'")),
    });

  function add<R, F extends OptionValues>(command: CliCommand<R, F>): void {
    const subcommand = command.define(program.command(command.name));
    const parse = () => {
      try {
        return command.parse(subcommand.args, subcommand.opts<F>(), env);
      } catch (error) {
        if (error instanceof UsageError) subcommand.error(`error: ${error.message}`);
        throw error;
      }
    };
    subcommand.action(async () => {
      outcome = await run(command, parse());
    });
  }
  add(watchCommand);
  add(logsCommand);
  add(fsckCommand);
  add(callbackSecretCommand);
  add(formatCommand);

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.completed.code : EXIT.usage.code; // 0: the user asked for help.
  }
  if (outcome.sentence !== null) io.err.write(`yardmaster: ${outcome.sentence}\n`);
  return outcome.exit.code;
}
