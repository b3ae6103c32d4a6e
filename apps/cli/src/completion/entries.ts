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
  options: Word[];
  /** Options that take a value, in each of their spellings. */
  valued: { spellings: string[]; choices: string[] }[];
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
