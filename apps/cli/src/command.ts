import type { Command, OptionValues } from 'commander';
import type { Outcome } from './exit-codes.js';
import type { Terminal } from './terminal/region.js';

/** Variables of the environment. */
export type Env = Record<string, string | undefined>;

/**
 * One command of the program, such as `watch`.
 *
 * Its functions are methods, because only then a list can have commands of any request.
 */
export interface CliCommand<Request = unknown, Flags extends OptionValues = OptionValues> {
  /** One word, or two for a command of a group, such as `keys list`. */
  name: string;
  /** Command line for the end of the help, without the name of the program. */
  example: string;
  /** Describe the arguments, options and help to commander. */
  define(command: Command): Command;
  /** Parse a command line into a request. It throws a UsageError. */
  parse(line: CommandLine<Flags>): Request;
  run(request: Request, io: Io): Promise<Outcome>;
}

/** A command line, as commander has read it. */
export interface CommandLine<Flags> {
  /** Arguments without options, as many as `define` allows. */
  args: string[];
  flags: Flags;
  env: Env;
}

/** Return a command. The compiler reads from its parser which flags and which request it has. */
export const defineCommand = <Request, Flags extends OptionValues>(command: CliCommand<Request, Flags>) => command;

/** An error in a command line that commander does not find. */
export class UsageError extends Error {}

/** Outputs of a command, and its interrupt signal. */
export interface Io {
  /** Gets messages, entries and reports. */
  out: Terminal;
  /** Gets everything else, so that a program can read `out`. */
  err: Terminal;
  /** Called after a portion of output. The reader of `out` can take more once the promise resolves; null: at once. */
  waitForDrain: () => Promise<unknown> | null;
  /**
   * Return a signal that is aborted at Ctrl-C, for a command that then prints something and ends on its own. Until a
   * command calls this, Ctrl-C ends the process at once.
   */
  interruptSignal: () => AbortSignal;
  /** Return signals for a command that ends in an orderly way. Until a command calls this, SIGTERM ends the process. */
  stopSignals: () => StopSignals;
  /** Read the standard input to its end. */
  readInput: () => Promise<string>;
  /** Ask a person a question, and return the line that is typed. Null without a terminal, as in scripts. */
  ask: ((question: string) => Promise<string>) | null;
}

/** Signals of a command that ends in an orderly way. The reason of each is the name of the signal of the process. */
export interface StopSignals {
  /** Aborted at the first SIGTERM or Ctrl-C. */
  first: AbortSignal;
  /** Aborted at the second. The third ends the process. */
  second: AbortSignal;
}
