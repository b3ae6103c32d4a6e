import type { FoundFormat } from '@yardmaster/fsck';
import { Argument } from 'commander';
import type { CliCommand, Env } from '../command.js';
import { exitCodesHelp, FORMAT_EXIT } from '../exit-codes.js';
import { type RedisFlags, redisVariablesOf, withRedisOptions } from '../flags.js';
import { printableLines } from '../terminal/printable.js';

/** Parsed command line of `format`. */
export interface FormatRequest {
  isRaising: boolean;
  /** The service's own variables: address of Redis, and the prefix of its keys. */
  variables: Env;
}

/** `yardmaster format`: shows the storage format, and raises it. */
export const formatCommand: CliCommand<FormatRequest, RedisFlags> = {
  name: 'format',
  define: (command) =>
    withRedisOptions(
      command
        .description('Show the format in which jobs are stored in Redis, or raise it.')
        .addArgument(new Argument('[raise]', 'raise it to the highest that this release knows').choices(['raise'])),
    ).addHelpText('after', HELP),
  parse: ([raise], flags, env) => ({ isRaising: raise !== undefined, variables: redisVariablesOf(flags, env) }),
  async run({ isRaising, variables }, { out }) {
    // Import it only now, because it loads the whole store. The other commands start in half the time without it.
    const { FormatError, reasonOf, runFormat } = await import('@yardmaster/fsck');
    try {
      out.write(`${resultOf(await runFormat(variables, isRaising), isRaising)}\n`);
      return { exit: FORMAT_EXIT.done, sentence: null };
    } catch (error) {
      const exit = error instanceof FormatError ? FORMAT_EXIT.newer : FORMAT_EXIT.failed;
      return { exit, sentence: printableLines(reasonOf(error)) };
    }
  },
};

const HELP = `
Raise it only when every process is of this release or a later one, because earlier releases then refuse to start.
${exitCodesHelp(FORMAT_EXIT)}`;

function resultOf({ found, highest }: FoundFormat, isRaising: boolean): string {
  if (!isRaising) return `The stored format is ${found}. This release knows formats up to ${highest}.`;
  if (found === highest) {
    return `The stored format is already ${highest}, the highest that this release knows. Nothing was changed.`;
  }
  return `Raised the stored format from ${found} to ${highest}. Releases that do not know it refuse to start.`;
}
