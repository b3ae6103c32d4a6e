import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { exitCodesHelp, FSCK_EXIT } from '../exit-codes.js';
import { formatOf, PLAIN_HELP, type RedisFlags, redisVariablesOf, withRedisOptions } from '../flags.js';

/** Flags of `fsck`. Its subcommand gets them as well. */
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
        .description('Check that the data in Redis is consistent. The service may run meanwhile.')
        .option('--repair', 'repair the faults that job records can correct; without this option nothing is written')
        .option('--verbose', 'show every fault when it is found'),
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
  // Import it only now, because it loads the whole store. The other commands start in half the time without it.
  run: async (request, io) => (await import('./run.js')).checkAndReport(request, io),
});

const HELP = `
Set RETENTION_SECONDS, DELIVERY_TIMEOUT_SECONDS and COMPAT as for the service, because deadlines follow from them.
${exitCodesHelp(FSCK_EXIT)}`;

/** `yardmaster fsck show`: prints the record of a job. */
const showRecordCommand = defineCommand({
  name: 'fsck show',
  example: 'fsck show $JOB',
  define: (command) =>
    withRedisOptions(command.description('Print the record of a job as Redis has it.').argument('<jobId>', 'the job'))
      .option('--json', 'print the record as one line of JSON, with whole values')
      .addHelpText('after', exitCodesHelp(FSCK_EXIT)),
  parse({ args: [jobId = ''], flags, env }: CommandLine<Flags>) {
    if (jobId === '') throw new UsageError('the id is empty');
    if (flags.repair) throw new UsageError('--repair and show exclude each other');
    return { jobId, isJson: flags.json ?? false, variables: redisVariablesOf(flags, env) };
  },
  run: async (request, io) => (await import('./run.js')).printRecord(request, io), // As `fsck` does.
});

/** `fsck` and its subcommand. */
export const fsckCommands = [fsckCommand, showRecordCommand];
