import { type CliCommand, type Env, UsageError } from '../command.js';
import { exitCodesHelp, FSCK_EXIT } from '../exit-codes.js';
import { type RedisFlags, redisVariablesOf, withRedisOptions } from '../flags.js';

interface Flags extends RedisFlags {
  /** Of `fsck`, whose options its subcommand gets as well. */
  repair?: boolean;
  json?: boolean;
}

/** Parsed command line of `fsck show`. */
export interface ShowRequest {
  jobId: string;
  isJson: boolean;
  /** The service's own variables: address of Redis, and how it is used. */
  variables: Env;
}

/** `yardmaster fsck show`: prints the record of a job. */
export const showRecordCommand: CliCommand<ShowRequest, Flags> = {
  name: 'fsck show',
  define: (command) =>
    withRedisOptions(command.description('Print the record of a job as Redis has it.').argument('<jobId>', 'the job'))
      .option('--json', 'print the record as one line of JSON, with whole values')
      .addHelpText('after', exitCodesHelp(FSCK_EXIT)),
  parse([jobId = ''], flags, env) {
    if (jobId === '') throw new UsageError('the id is empty');
    if (flags.repair) throw new UsageError('--repair and show exclude each other');
    return { jobId, isJson: flags.json ?? false, variables: redisVariablesOf(flags, env) };
  },
  run: async (request, io) => (await import('./print-record.js')).printRecord(request, io), // As `fsck` does.
};
