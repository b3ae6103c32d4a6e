import { Argument, type Command } from 'commander';
import type { CliCommand } from '../command.js';
import { CALL_EXIT } from '../exit-codes.js';
import { bashScript } from './bash.js';
import { entriesOf } from './entries.js';
import { zshScript } from './zsh.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript };

/** Parsed command line of `completion`. */
export interface CompletionRequest {
  shell: keyof typeof SCRIPTS;
}

/**
 * Make `yardmaster completion`, which prints a script for the completion of a shell.
 *
 * @param program the script is generated from its commands, so that it is never out of date
 */
export const completionCommand = (program: Command): CliCommand<CompletionRequest, Record<never, never>> => ({
  name: 'completion',
  define: (command) =>
    command
      .description('Print a script that completes commands and options in a shell.')
      .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
      .addHelpText('after', HELP),
  parse: ([shell]) => ({ shell: shell as CompletionRequest['shell'] }),
  async run({ shell }, { out }) {
    out.write(SCRIPTS[shell](entriesOf(program)));
    return { exit: CALL_EXIT.done, sentence: null };
  },
});

const HELP = `
Add this line to ~/.bashrc:  source <(yardmaster completion bash)
Add this line to ~/.zshrc, after compinit:  source <(yardmaster completion zsh)
`;
