import type { Command } from 'commander';
import { FSCK_EXIT, FSCK_EXIT_MEANINGS } from './exit-codes.js';
import { actionOf, type Env, type Format, formatOf } from './options.js';

/** What a command line of `fsck` asks for. */
export interface FsckRequest {
  /** Whether to repair what can be repaired. */
  isRepairing: boolean;
  /** Whether to show every fault, not only the first faults of each kind. */
  isVerbose: boolean;
  format: Format;
  /** The service's own variables: where Redis is, and how it is used. */
  variables: Env;
}

interface Flags {
  repair?: boolean;
  verbose?: boolean;
  redis?: string;
  prefix?: string;
  plain?: boolean;
  json?: boolean;
}

/** Add `fsck` to a program. */
export function addFsck(program: Command, env: Env, run: (request: FsckRequest) => Promise<void>): void {
  const command = program.command('fsck');
  command
    .description('Check that what is stored in Redis agrees with itself, while the service runs or while it does not.')
    .option('--repair', 'put right what follows from the records of the jobs; nothing is written without this')
    .option('--verbose', 'show every fault, as it is found')
    .option('--redis <url>', 'where Redis is (default: $REDIS_URL, the better place for a password)')
    .option('--prefix <prefix>', 'first part of every key (default: $KEY_PREFIX, else ym)')
    .option('--plain', 'plain lines, as when the output is no terminal or NO_COLOR is set')
    .option('--json', 'each fault as one JSON line, and a summary as the last')
    .addHelpText('after', HELP)
    .action(actionOf(command, (flags: Flags) => run(requestOf(flags, env))));
}

const HELP = `
Give it the variables of the service: RETENTION_SECONDS and DELIVERY_TIMEOUT_SECONDS say when things are due.

Exit codes:
${Object.entries(FSCK_EXIT)
  .map(([name, code]) => `  ${String(code).padStart(3)}  ${FSCK_EXIT_MEANINGS[name as keyof typeof FSCK_EXIT]}`)
  .join('\n')}
`;

function requestOf(flags: Flags, env: Env): FsckRequest {
  const { redis = env.REDIS_URL, prefix = env.KEY_PREFIX } = flags;
  return {
    isRepairing: flags.repair ?? false,
    isVerbose: flags.verbose ?? false,
    format: formatOf(flags, env),
    variables: { ...env, REDIS_URL: redis, KEY_PREFIX: prefix },
  };
}
