import { Argument, type Command } from 'commander';
import { type CommandLine, defineCommand } from '../command.js';
import { DONE } from '../exit-codes.js';
import { bashScript } from './bash.js';
import { entriesOf } from './entries.js';
import { fishScript } from './fish.js';
import { zshScript } from './zsh.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/**
 * Define `yardmaster completion`, which prints a completion script for a shell.
 *
 * @param program the CLI whose commands the script completes
 */
export const completionCommand = (program: Command) =>
  defineCommand({
    name: 'completion',
    example: 'completion zsh',
    define: (command) =>
      command
        .description('Print a script that completes commands and options in your shell.')
        .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
        .addHelpText('after', HELP),
    parse: ({ args: [shell] }: CommandLine<Record<never, never>>) => ({ shell: shell as keyof typeof SCRIPTS }),
    async run({ shell }, { out }) {
      out.write(SCRIPTS[shell](entriesOf(program)));
      return DONE;
    },
  });

const HELP = `
Add this line to ~/.bashrc:  source <(yardmaster completion bash)
Add this line to ~/.zshrc, after compinit:  source <(yardmaster completion zsh)
Add this line to ~/.config/fish/config.fish:  yardmaster completion fish | source
`;
