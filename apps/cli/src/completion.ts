import { Argument, type Command } from 'commander';
import { type CommandLine, defineCommand } from './command.js';
import { DONE } from './exit-codes.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript };

/**
 * Make `yardmaster completion`, which prints a script for the completion of a shell.
 *
 * @param program the script is generated from its commands, so that it is never out of date
 */
export const completionCommand = (program: Command) =>
  defineCommand({
    name: 'completion',
    define: (command) =>
      command
        .description('Print a script that completes commands and options in a shell.')
        .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
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
`;

/** A word that can be completed, and what it does. */
interface Word {
  word: string;
  description: string;
}

/** What can follow a command. */
interface Entry {
  /** Words of the command, separated by blanks; empty for the program itself. */
  path: string;
  /** Its subcommands, and the values of its argument. */
  words: Word[];
  options: Word[];
  /** Options that take a value, in each of their spellings. */
  valued: { spellings: string[]; choices: string[] }[];
}

/** List the program, and each of its commands, with what can follow it. */
function entriesOf(command: Command, path = ''): Entry[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const commands = command.commands.map((each) => ({ word: each.name(), description: each.description() }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => ({ word, description })),
  );
  const entry: Entry = {
    path,
    words: [...commands, ...choices],
    options: options.map(({ long, short, description }) => ({ word: long ?? short ?? '', description })),
    valued: options
      .filter(({ required, optional }) => required || optional)
      .map(({ long, short, argChoices = [] }) => ({
        spellings: [long, short].filter((spelling) => spelling != null),
        choices: [...argChoices],
      })),
  };
  return [entry, ...command.commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`.trim()))];
}

/** Write the pattern of a `case` that matches every command. */
const anyCommand = (entries: Entry[]) =>
  entries
    .filter(({ path }) => path !== '')
    .map(({ path }) => `'${path}'`)
    .join('|');

/** Write the cases that complete the value of an option. */
const valueCases = (entries: Entry[], complete: (choices: string[]) => string) =>
  entries
    .flatMap(({ path, valued }) =>
      valued.map(({ spellings, choices }) => {
        const patterns = spellings.map((spelling) => `'${path} ${spelling}'`).join('|');
        return `    ${patterns}) ${complete(choices)}; return ;;`;
      }),
    )
    .join('\n');

/** Write the completion for bash. It works in bash 3.2, which macOS has. */
function bashScript(entries: Entry[]): string {
  // Without choices, bash completes the name of a file.
  const values = valueCases(entries, (choices) => `COMPREPLY=(${choices.length > 0 ? compgen(choices) : ''})`);
  const words = entries.map(
    ({ path, words, options }) =>
      `    '${path}') COMPREPLY=(${compgen([...words, ...options].map(({ word }) => word))}) ;;`,
  );
  return `# Completion of yardmaster for bash: source <(yardmaster completion bash)
_yardmaster() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" command='' next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${command:+$command }\${COMP_WORDS[i]}"
    case "$next" in
      ${anyCommand(entries)}) command="$next" ;;
    esac
  done
  COMPREPLY=()
  case "$command $prev" in
${values}
  esac
  case "$command" in
${words.join('\n')}
  esac
}
complete -o default -F _yardmaster yardmaster
`;
}

const compgen = (words: string[]) => `$(compgen -W '${words.join(' ')}' -- "$cur")`;

/** Write the completion for zsh, which also shows descriptions. */
function zshScript(entries: Entry[]): string {
  const values = valueCases(entries, (choices) =>
    choices.length > 0 ? `compadd -- ${choices.map(quoted).join(' ')}` : '_files',
  );
  const words = entries.map(
    ({ path, words, options }) => `    '${path}')
      words_of=(${words.map(described).join(' ')})
      options_of=(${options.map(described).join(' ')}) ;;`,
  );
  return `#compdef yardmaster
# Completion of yardmaster for zsh: source <(yardmaster completion zsh)
_yardmaster() {
  local command='' next word
  local -a words_of options_of
  for word in \${words[2,CURRENT-1]}; do
    next="\${command:+$command }$word"
    case "$next" in
      ${anyCommand(entries)}) command="$next" ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${values}
  esac
  case "$command" in
${words.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o 'option' options_of
  elif (( \${#words_of} )); then
    _describe 'command' words_of
  else
    _files
  fi
}
compdef _yardmaster yardmaster
`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Write a word with its description, as _describe reads it. */
const described = ({ word, description }: Word) => quoted(`${word.replaceAll(':', '\\:')}:${description}`);
