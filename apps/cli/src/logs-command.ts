import { LEVEL_RULE, LOG_LEVELS, type LogLevel } from '@yardmaster/protocol';
import { type Command, InvalidArgumentError } from 'commander';
import {
  actionOf,
  type CommonFlags,
  type CommonRequest,
  commonRequestOf,
  type Env,
  HOW_TO_GIVE_A_KEY,
  UsageError,
  withCommonOptions,
} from './options.js';

/** What a command line of `logs` asks for. The format `auto` is coloured on a terminal. */
export interface LogsRequest extends CommonRequest {
  jobId: string;
  follow: boolean;
  /** Levels to print; empty for all. */
  levels: LogLevel[];
  /** Text that messages must contain, whatever its case; null for no such filter. */
  grep: string | null;
  /** Number of the newest entries to begin with; null for all that are kept. */
  tail: number | null;
}

interface Flags extends CommonFlags {
  follow?: boolean;
  level?: LogLevel[];
  grep?: string;
  tail?: number;
}

/** Add `logs` to a program. */
export function addLogs(program: Command, env: Env, run: (request: LogsRequest) => Promise<void>): void {
  const command = program.command('logs');
  command
    .description('Print the logs of a job, oldest first.')
    .argument('<jobId>', 'the job')
    .option('-f, --follow', 'go on as entries come, until the job ends')
    .option('--level <levels>', `only these, comma-separated: ${LOG_LEVELS.join(', ')}`, levelsOf)
    .option('--grep <text>', 'only messages that hold this text, in upper or lower case')
    .option('--tail <count>', 'only the newest to begin with', countOf);
  withCommonOptions(command, { json: 'each entry as one JSON line' })
    .addHelpText('after', HELP)
    .action(actionOf(command, (jobId: string, flags: Flags) => run(requestOf(jobId, flags, env))));
}

const HELP = `
Needs a key that holds jobs:read. With --follow it exits as "yardmaster watch" does: 0 when the job completed, 3 when it
is dead, 4 when it was killed.
`;

function requestOf(jobId: string, flags: Flags, env: Env): LogsRequest {
  const common = commonRequestOf(flags, env);
  if (jobId === '') throw new UsageError('the id is empty');
  if (flags.grep === '') throw new UsageError('--grep is empty');
  if (common.service.token === null) {
    throw new UsageError(`logs are read with an API key that holds jobs:read; ${HOW_TO_GIVE_A_KEY}`);
  }
  const { follow = false, level: levels = [], grep = null, tail = null } = flags;
  return { jobId, follow, levels, grep, tail, ...common };
}

/** Read one more `--level`, and add its levels to those before. */
function levelsOf(list: string, before: LogLevel[] = []): LogLevel[] {
  const levels = list.split(',').map((name) => LOG_LEVELS.find((level) => level === name.trim()));
  if (levels.every((level) => level !== undefined)) return [...before, ...levels];
  throw new InvalidArgumentError(`Each ${LEVEL_RULE}.`);
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('It must be a whole number, 0 or above.');
}
