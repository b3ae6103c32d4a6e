import { Command, CommanderError } from 'commander';
import { type CliCommand, type Env, type Io, UsageError } from './command.js';
import { completionCommand } from './completion/command.js';
import { configCommands } from './config/commands.js';
import { withProfile } from './config/config-file.js';
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
import { openCommand } from './open.js';
import { scheduleCommands } from './schedules/commands.js';
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
  /** How to run a command. Default: its own `run`. */
  run?: (command: CliCommand, request: unknown) => Promise<Outcome>;
}

/** All commands except `completion`, under the headings of `yardmaster --help`. */
export const COMMANDS: Record<string, CliCommand[]> = {
  Jobs: [
    createCommand,
    watchCommand,
    logsCommand,
    listCommand,
    getCommand,
    ...changeCommands,
    ...operationCommands,
    ...scheduleCommands,
  ] as CliCommand[],
  Workers: [workCommand],
  Spaces: [spacesCommand, statsCommand, settingsCommand, ...pauseCommands, callbackSecretCommand],
  'API keys': [...keyCommands, streamTokenCommand, auditCommand],
  Service: [infoCommand, openCommand, devCommand, ...fsckCommands],
  CLI: [...configCommands] as CliCommand[],
};

/** Descriptions of the commands that have subcommands and do nothing themselves. */
const PARENTS: Record<string, string> = {
  config: 'Save the URL, key and space of a service as a profile.',
  keys: 'Create, list, rotate and revoke API keys.',
  operations: 'Requeue, kill, delete or reschedule many jobs at once.',
  schedules: 'Create jobs at recurring times.',
};

const HELP_COMMAND = ['help [command]', 'Show help for a command.'] as const;

const HELP = `
Examples:
  yardmaster create resize '{"image": "a.png"}' --space demo
  yardmaster work --space demo --name resize --exec ./resize.sh
  yardmaster watch --space demo

Documentation: https://github.com/yardmaster/yardmaster/blob/main/docs/cli.md`;

/**
 * Run a command line.
 *
 * @param args arguments, without the name of the program
 * @returns the exit code
 */
export async function runProgram(args: string[], options: ProgramOptions): Promise<number> {
  const { env, io, run = (command, request) => command.run(request, io) } = options;
  let outcome: Outcome = { exit: EXIT.completed, sentence: null };
  const program = new Command('yardmaster')
    .description(
      'Create, watch and run jobs on a Yardmaster service, manage its spaces and API keys, and check its data.',
    )
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      // Never quote the value of a mistyped --token=…
      outputError: (text, write) =>
        write(text.replace(/^error: /, 'yardmaster: ').replace(/(--?[\w-]+)=[^\n]*/g, "$1=…'")),
    });

  /** Return a command that has subcommands, and create it on first use. */
  function parentOf(name: string): Command {
    const description = PARENTS[name] ?? '';
    return (
      program.commands.find((command) => command.name() === name) ??
      program
        .command(name)
        .description(description)
        .helpCommand(...HELP_COMMAND)
    );
  }

  function add(command: CliCommand): void {
    const [name = '', parent] = command.name.split(' ').reverse();
    const subcommand = command.define((parent === undefined ? program : parentOf(parent)).command(name));
    const hasProfile = subcommand.options.some(({ long }) => long === '--profile');
    subcommand.addHelpText('after', `Example:\n  yardmaster ${command.example}`).action(async () => {
      try {
        const flags = subcommand.optsWithGlobals();
        const variables = hasProfile ? withProfile(env, flags) : env;
        outcome = await run(command, command.parse({ args: subcommand.args, flags, env: variables }));
      } catch (error) {
        if (error instanceof UsageError) subcommand.error(`error: ${error.message}`);
        outcome = failureOf(error);
      }
    });
  }
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(`${heading}:`);
    for (const command of commands) add(command);
  }
  // These two belong to the last group as well.
  add(completionCommand(program));
  program.helpCommand(...HELP_COMMAND);

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.completed.code : EXIT.usage.code; // 0 after --help and --version.
  }
  if (outcome.sentence !== null) io.err.write(`yardmaster: ${outcome.sentence}\n`);
  return outcome.exit.code;
}
