import type { Command } from 'commander';

/** A word that can be completed, and what it does. */
export interface Word {
  word: string;
  description: string;
}

/** What can follow a command. */
export interface Entry {
  /** Words of the command, separated by blanks; empty for the program itself. */
  path: string;
  /** Its subcommands, and the values of its argument. */
  words: Word[];
  options: OptionWord[];
}

interface OptionWord extends Word {
  /** Other spelling, such as `-o`. */
  short: string | undefined;
  /** Values; empty for any, null for an option without a value. */
  choices: string[] | null;
}

/** List the program, and each of its commands, with what can follow it. */
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

/** Write the pattern of a `case` that matches every command. */
export const anyCommand = (entries: Entry[]) =>
  entries
    .filter(({ path }) => path !== '')
    .map(({ path }) => `'${path}'`)
    .join('|');

/** Write the cases that complete the value of an option. */
export const valueCases = (entries: Entry[], complete: (choices: string[]) => string) =>
  entries
    .flatMap(({ path, options }) =>
      options.flatMap(({ word, short, choices }) => {
        const patterns = [word, short ?? []].flat().map((spelling) => `'${path} ${spelling}'`);
        return choices === null ? [] : `    ${patterns.join('|')}) ${complete(choices)}; return ;;`;
      }),
    )
    .join('\n');
