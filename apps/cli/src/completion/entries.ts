import type { Command } from 'commander';

/** A word to complete, with its description. */
export interface Word {
  word: string;
  description: string;
}

/** A command, with the words that can follow it. */
export interface Entry {
  /** Words of the command, separated by spaces; empty for the program itself. */
  path: string;
  /** Subcommands, and the choices of its argument. */
  words: Word[];
  options: OptionWord[];
}

interface OptionWord extends Word {
  /** Short form, such as `-o`. */
  short: string | undefined;
  /** Allowed values; empty for any value, null for an option without one. */
  choices: string[] | null;
}

/** List a command and all of its subcommands, with the words that can follow each. */
export function entriesOf(command: Command, path = ''): Entry[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const commands = command.commands.map((each) => ({ word: each.name(), description: each.description() }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => ({ word, description })),
  );
  const entry: Entry = {
    path,
    words: [...commands, ...choices],
    options: options.map(({ long, short, description, required, optional, argChoices = [] }) => ({
      word: long ?? '',
      short,
      description,
      choices: required || optional ? argChoices : null,
    })),
  };
  return [entry, ...command.commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`.trim()))];
}

/** Write the `case` pattern that matches every command. */
export const anyCommand = (entries: Entry[]) =>
  entries
    .filter(({ path }) => path !== '')
    .map(({ path }) => `'${path}'`)
    .join('|');

/** Write the `case` branches that complete the values of options. */
export const valueCases = (entries: Entry[], complete: (choices: string[]) => string) =>
  entries
    .flatMap(({ path, options }) =>
      options.flatMap(({ word, short, choices }) => {
        const patterns = [word, short ?? []].flat().map((spelling) => `'${path} ${spelling}'`);
        return choices === null ? [] : `    ${patterns.join('|')}) ${complete(choices)}; return ;;`;
      }),
    )
    .join('\n');
