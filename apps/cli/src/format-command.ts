import { Argument, type Command } from 'commander';
import { FORMAT_EXIT, FORMAT_EXIT_MEANINGS } from './exit-codes.js';
import { actionOf, type Env } from './options.js';

/** What a command line of `format` asks for. */
export interface FormatRequest {
  isRaising: boolean;
  /** The service's own variables: where Redis is, and the prefix of its keys. */
  variables: Env;
}

interface Flags {
  redis?: string;
  prefix?: string;
}

/** Add `format` to a program. */
export function addFormat(program: Command, env: Env, run: (request: FormatRequest) => Promise<void>): void {
  const command = program.command('format');
  command
    .description('Show in which format jobs are stored in Redis, or raise it once every process is of this release.')
    .addArgument(new Argument('[raise]', 'raise it to the highest that this release knows').choices(['raise']))
    .option('--redis <url>', 'where Redis is (default: $REDIS_URL, the better place for a password)')
    .option('--prefix <prefix>', 'first part of every key (default: $KEY_PREFIX, else ym)')
    .addHelpText('after', HELP)
    .action(
      actionOf(command, (raise: string | undefined, flags: Flags) => {
        const { redis = env.REDIS_URL, prefix = env.KEY_PREFIX } = flags;
        return run({ isRaising: raise !== undefined, variables: { ...env, REDIS_URL: redis, KEY_PREFIX: prefix } });
      }),
    );
}

const HELP = `
Raise it only when every process is of this release or a later one: earlier releases refuse to start from then on.

Exit codes:
${Object.entries(FORMAT_EXIT)
  .map(([name, code]) => `  ${String(code).padStart(3)}  ${FORMAT_EXIT_MEANINGS[name as keyof typeof FORMAT_EXIT]}`)
  .join('\n')}
`;
