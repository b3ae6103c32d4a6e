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

/** `yardmaster logs`: prints the logs of a job, and follows them. */
export const logsCommand = defineCommand({
  name: 'logs',
  example: 'logs $JOB --follow --level warn,error',
  define: (command) =>
    withCommonOptions(
      command
        .description('Print the logs of a job, oldest first.')
        .argument('<jobId>', 'the job')
        .option('-f, --follow', 'print new entries as they come, until the job ends')
        .option('--level <levels>', `print only these levels, comma-separated: ${LOG_LEVELS.join(', ')}`, levelsOf)
        .option('--grep <text>', 'print only messages that contain this text, in upper or lower case')
        .option('--tail <count>', 'start with the last <count> entries', countOf),
      'print each entry as one line of JSON',
    ).addHelpText('after', HELP),
  parse({ args: [jobId = ''], flags, env }: CommandLine<Flags>) {
    const common = commonRequestOf(flags, env);
    if (jobId === '') throw new UsageError('the id is empty');
    if (flags.grep === '') throw new UsageError('--grep is empty');
    expectKey(common.service, 'reading logs', 'jobs:read');
    const { follow = false, level: levels = [], grep = null, tail = null } = flags;
    return { jobId, follow, levels, grep, tail, ...common };
  },
  run: showLogs,
});

const HELP = `
Needs a key with jobs:read. With --follow, the exit code is that of "yardmaster watch": 0 when the job completed, 3 when
it is dead, 4 when it was killed.
`;

/** Read one more `--level`, and add its levels to those before. */
function levelsOf(list: string, before: LogLevel[] = []): LogLevel[] {
  const levels = list.split(',').map((name) => levelNamed(name.trim()));
  if (levels.every((level) => level !== undefined)) return [...before, ...levels];
  throw new InvalidArgumentError(`Each ${LEVEL_RULE}.`);
}
