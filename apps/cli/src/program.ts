import { Command, CommanderError } from 'commander';
import { type CliCommand, type Env, type Io, UsageError } from './command.js';
import { completionCommand } from './completion.js';
import { devCommand } from './dev.js';
import { EXIT, failureOf, type Outcome } from './exit-codes.js';
import { fsckCommands } from './fsck/command.js';
import { infoCommand } from './info.js';
import { changeCommands } from './jobs/change.js';
import { createCommand } from './jobs/create.js';
import { getCommand } from './jobs/get.js';
import { listCommand } from './jobs/list.js';
import { operationCommands } from './jobs/operations.js';
import { auditCommand } from './keys/audit.js';
import { keyCommands } from './keys/commands.js';
import { streamTokenCommand } from './keys/stream-token.js';
import { logsCommand } from './logs/command.js';
import { callbackSecretCommand } from './spaces/callback-secret.js';
import { spacesCommand } from './spaces/list.js';
import { pauseCommands } from './spaces/pause.js';
import { settingsCommand } from './spaces/settings.js';
import { statsCommand } from './spaces/stats.js';
import { VERSION } from './version.js';
import { watchCommand } from './watch/command.js';
import { workCommand } from './work/command.js';

interface ProgramOptions {
  env: Env;
  io: Io;
  /** Runs a command. Default: its own `run`. */
  run?: (command: CliCommand, request: unknown) => Promise<Outcome>;
}

/** The commands, in the order of the help. */
const COMMANDS: CliCommand[] = [
  createCommand,
  watchCommand,
  logsCommand,
  listCommand,
  getCommand,
  ...changeCommands,
  ...operationCommands,
  workCommand,
  statsCommand,
  settingsCommand,
  ...pauseCommands,
  spacesCommand,
  infoCommand,
  ...keyCommands,
  streamTokenCommand,
  auditCommand,
  callbackSecretCommand,
  devCommand,
  ...fsckCommands,
];

/** What a group of commands is for. */
const GROUPS: Record<string, string> = {
  keys: 'Create, list, rotate and revoke API keys.',
  operations: 'Requeue, kill, delete or reschedule many jobs.',
};

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
      'Create, watch and work on the jobs of a Yardmaster service, manage its keys, and check its stored data.',
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      // A mistyped --token=… must not be quoted.
      outputError: (text, write) =>
        write(text.replace(/^error: /, 'yardmaster: ').replace(/(--?[\w-]+)=[^\n]*/g, "$1=…'")),
    });

  /** Return the command that has the subcommands of a group. */
  function groupOf(name: string): Command {
    const description = GROUPS[name] ?? '';
    return (
      program.commands.find((command) => command.name() === name) ?? program.command(name).description(description)
    );
  }

  function add(command: CliCommand): void {
    const [name = '', group] = command.name.split(' ').reverse();
    const subcommand = command.define((group === undefined ? program : groupOf(group)).command(name));
    subcommand.action(async () => {
      try {
        outcome = await run(
          command,
          command.parse({ args: subcommand.args, flags: subcommand.optsWithGlobals(), env }),
        );
      } catch (error) {
        if (error instanceof UsageError) subcommand.error(`error: ${error.message}`);
        outcome = failureOf(error);
      }
    });
  }
  for (const command of [...COMMANDS, completionCommand(program)]) add(command);

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.completed.code : EXIT.usage.code; // 0: the user asked for help or the version.
  }
  if (outcome.sentence !== null) io.err.write(`yardmaster: ${outcome.sentence}\n`);
  return outcome.exit.code;
}
