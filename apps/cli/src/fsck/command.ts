import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { exitCodesHelp, FSCK_EXIT } from '../exit-codes.js';
import { formatOf, PLAIN_HELP, type RedisFlags, redisVariablesOf, withRedisOptions } from '../flags.js';

/** Flags of `fsck`, which its subcommand also accepts. */
interface Flags extends RedisFlags {
  repair?: boolean;
  verbose?: boolean;
  plain?: boolean;
  json?: boolean;
}

/** `yardmaster fsck`: checks the stored data, and repairs it. */
const fsckCommand = defineCommand({
  name: 'fsck',
  example: 'fsck --redis redis://127.0.0.1:6379',
  define: (command) =>
    withRedisOptions(
      command
        .description('Check that the data in Redis is consistent. Safe to run while the service is running.')
        .option(
          '--repair',
          'repair the faults that can be corrected from the records of jobs; without it, nothing is written',
        )
        .option('--verbose', 'print every fault as it is found, not only the first 20 of each kind at the end'),
    )
      .option('--plain', PLAIN_HELP)
      .option('--json', 'print each fault as one line of JSON, and a summary as the last line')
      .addHelpText('after', HELP),
  parse: ({ flags, env }: CommandLine<Flags>) => ({
    isRepairing: flags.repair ?? false,
    isVerbose: flags.verbose ?? false,
    format: formatOf(flags, env),
    variables: redisVariablesOf(flags, env),
  }),
  // Loaded on demand, because it loads the whole store: other commands start twice as fast without it.
  run: async (request, io) => (await import('./run.js')).checkAndReport(request, io),
});

const HELP = `
Deadlines depend on RETENTION_SECONDS, DELIVERY_TIMEOUT_SECONDS and COMPAT: set these to the same values as the service.
${exitCodesHelp(FSCK_EXIT)}`;

/** `yardmaster fsck show`: prints the record of a job. */
const showRecordCommand = defineCommand({
  name: 'fsck show',
  example: 'fsck show $JOB',
  define: (command) =>
    withRedisOptions(
      command.description('Print the raw record of a job in Redis.').argument('<jobId>', 'ID of the job'),
    )
      .option('--json', 'print the record as one line of JSON, without cutting long values')
      .addHelpText('after', exitCodesHelp(FSCK_EXIT)),
  parse({ args: [jobId = ''], flags, env }: CommandLine<Flags>) {
    if (jobId === '') throw new UsageError('the ID is empty');
    if (flags.repair) throw new UsageError('--repair and show cannot be combined');
    return { jobId, isJson: flags.json ?? false, variables: redisVariablesOf(flags, env) };
  },
  run: async (request, io) => (await import('./run.js')).printRecord(request, io), // Loaded on demand, like `fsck`.
});

/** `fsck` and its subcommand. */
export const fsckCommands = [fsckCommand, showRecordCommand];
