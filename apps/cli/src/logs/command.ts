import { LEVEL_RULE, LOG_LEVELS, type LogLevel, levelNamed } from '@yardmaster/protocol';
import { InvalidArgumentError } from 'commander';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { countOf } from '../flag-values.js';
import { type CommonFlags, commonRequestOf, expectKey, withCommonOptions } from '../flags.js';
import { showLogs } from './show-logs.js';

interface Flags extends CommonFlags {
  follow?: boolean;
  level?: LogLevel[];
  grep?: string;
  tail?: number;
}

/** `yardmaster logs`: prints the log of a job, and can follow it. */
export const logsCommand = defineCommand({
  name: 'logs',
  example: 'logs $JOB --follow --level warn,error',
  define: (command) =>
    withCommonOptions(
      command
        .description('Print the log of a job, oldest entry first.')
        .argument('<jobId>', 'ID of the job')
        .option('-f, --follow', 'print new entries as they arrive, until the job ends')
        .option('--level <levels>', `print only these levels, comma-separated: ${LOG_LEVELS.join(', ')}`, levelsOf)
        .option('--grep <text>', 'print only messages that contain this text, ignoring case')
        .option('--tail <count>', 'start with this many of the newest entries (default: all entries)', countOf),
      'print each entry as one line of JSON',
    ).addHelpText('after', HELP),
  parse({ args: [jobId = ''], flags, env }: CommandLine<Flags>) {
    const common = commonRequestOf(flags, env);
    if (jobId === '') throw new UsageError('the ID is empty');
    if (flags.grep === '') throw new UsageError('--grep is empty');
    expectKey(common.service, 'reading logs', 'jobs:read');
    const { follow = false, level: levels = [], grep = null, tail = null } = flags;
    return { jobId, follow, levels, grep, tail, ...common };
  },
  run: showLogs,
});

const HELP = `
Requires an API key with jobs:read. With --follow, the exit code shows how the job ended: 0 completed, 3 dead, 4 killed.
See "yardmaster watch --help" for all exit codes.
`;

/** Read a `--level`, and append its levels to those of earlier ones. */
function levelsOf(list: string, before: LogLevel[] = []): LogLevel[] {
  const levels = list.split(',').map((name) => levelNamed(name.trim()));
  if (levels.every((level) => level !== undefined)) return [...before, ...levels];
  throw new InvalidArgumentError(`Each ${LEVEL_RULE}.`);
}
