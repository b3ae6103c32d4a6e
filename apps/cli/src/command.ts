import type { Command, OptionValues } from 'commander';
import type { Outcome } from './exit-codes.js';
import type { Terminal } from './terminal/region.js';

/** Environment variables. */
export type Env = Record<string, string | undefined>;

/**
 * One command of the CLI, such as `watch`.
 *
 * Its functions are declared as methods, so that one list can hold commands with different request types.
 */
export interface CliCommand<Request = unknown, Flags extends OptionValues = OptionValues> {
  /** One word, or two for a subcommand, such as `keys list`. */
  name: string;
  /** Example for the end of the help, without the name of the program. */
  example: string;
  /** Describe the arguments, options and help to commander. */
  define(command: Command): Command;
  /** Turn a command line into a request. Throws a UsageError. */
  parse(line: CommandLine<Flags>): Request;
  run(request: Request, io: Io): Promise<Outcome>;
}

/** A command line as parsed by commander. */
export interface CommandLine<Flags> {
  /** Positional arguments; commander has checked their number. */
  args: string[];
  flags: Flags;
  env: Env;
}

/** Define a command. TypeScript infers the types of its flags and its request from `parse`. */
export const defineCommand = <Request, Flags extends OptionValues>(command: CliCommand<Request, Flags>) => command;

/** An error in a command line that commander can't detect. */
export class UsageError extends Error {}

/** Input, output and signals of a command. */
export interface Io {
  /** Standard output: results. */
  out: Terminal;
  /** Standard error: everything else, so that a program can parse `out`. */
  err: Terminal;
  /** Wait until the reader of `out` can take more. Null if it can right now. */
  waitForDrain: () => Promise<unknown> | null;
  /**
   * Return a signal that aborts on Ctrl-C, for a command that prints a summary and exits on its own. Until a command
   * calls this, Ctrl-C ends the process immediately.
   */
  interruptSignal: () => AbortSignal;
  /** Return signals for a command that shuts down gracefully. Until a command calls this, SIGTERM ends the process. */
  stopSignals: () => StopSignals;
  /** Read standard input to its end. */
  readInput: () => Promise<string>;
  /** Ask the user a question and return the typed line. Null without a terminal, as in scripts. */
  ask: ((question: string) => Promise<string>) | null;
}

/** Signals for a graceful shutdown. The reason of each is the name of the process signal, such as `SIGTERM`. */
export interface StopSignals {
  /** Aborts on the first SIGTERM or Ctrl-C. */
  first: AbortSignal;
  /** Aborts on the second one. The third ends the process. */
  second: AbortSignal;
}
