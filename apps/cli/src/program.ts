import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Service, Subject } from './addresses.js';
import { EXIT, EXIT_MEANINGS } from './exit-codes.js';

/** A watch as the command line asks for it. */
export interface WatchRequest {
  service: Service;
  subject: Subject;
  timeoutSeconds: number | null;
  /** `auto`: drawn on a terminal, else plain. */
  format: 'auto' | 'plain' | 'json';
}

export interface ProgramOptions {
  env: Record<string, string | undefined>;
  out: (text: string) => void;
  err: (text: string) => void;
  watch: (request: WatchRequest) => Promise<number>;
}

interface Flags {
  space?: string;
  url?: string;
  token?: string;
  timeout?: number;
  plain?: boolean;
  json?: boolean;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/**
 * Run a command line.
 *
 * @param args without the program's name
 * @returns the exit code
 */
export async function runProgram(args: string[], options: ProgramOptions): Promise<number> {
  let code: number = EXIT.completed;
  const program = new Command('yardmaster').description('Watch the jobs of a Yardmaster service.');
  program.exitOverride().configureOutput({
    writeOut: options.out,
    writeErr: options.err,
    // A mistyped --token=… is not to be quoted.
    outputError: (text, write) => write(text.replace(/(--?[\w-]+)=[^\n]*/g, "$1=…'")),
  });
  addWatch(program, options.env, async (request) => {
    code = await options.watch(request);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.completed : EXIT.usage; // 0: help was asked for.
  }
}

function addWatch(program: Command, env: ProgramOptions['env'], run: (request: WatchRequest) => Promise<void>): void {
  const command = program.command('watch');
  command
    .description('Watch a job until it ends, or the events of a space until Ctrl-C.')
    .argument('[jobId]', 'the job')
    .option('--space <spaceId>', 'watch all jobs of a space instead; needs a key with jobs:read')
    .option('--url <url>', `where the service is (default: $YARDMASTER_URL, else ${DEFAULT_URL})`)
    .option(
      '--token <key>',
      'API key (default: $YARDMASTER_API_KEY, the better place: a flag shows in the process list)',
    )
    .option('--timeout <seconds>', 'give up after so long', secondsOf)
    .option('--plain', 'one plain line per message, as when the output is no terminal or NO_COLOR is set')
    .option('--json', 'one JSON line per message')
    .addHelpText('after', HELP)
    .action((jobId: string | undefined, flags: Flags) => {
      try {
        return run(requestOf(jobId, flags, env));
      } catch (error) {
        if (error instanceof UsageError) command.error(`error: ${error.message}`);
        throw error;
      }
    });
}

const HELP = `
Without a key a job shows its progress and its completion, and nothing else.

Exit codes:
${Object.entries(EXIT)
  .map(([name, code]) => `  ${String(code).padStart(3)}  ${EXIT_MEANINGS[name as keyof typeof EXIT]}`)
  .join('\n')}
`;

/** What is wrong with a command line that commander finds no fault with. */
class UsageError extends Error {}

function requestOf(jobId: string | undefined, flags: Flags, env: ProgramOptions['env']): WatchRequest {
  if (flags.json && flags.plain) throw new UsageError('--json and --plain exclude each other');
  if (flags.token === '') throw new UsageError('--token is empty');
  const token = flags.token ?? (env.YARDMASTER_API_KEY || null);
  const subject = subjectOf(jobId, flags.space);
  if (subject.kind === 'space' && token === null) throw new UsageError(SPACE_NEEDS_KEY);
  return {
    subject,
    service: { url: urlOf(flags.url, env.YARDMASTER_URL), token },
    timeoutSeconds: flags.timeout ?? null,
    format: flags.json ? 'json' : flags.plain || env.NO_COLOR || env.TERM === 'dumb' ? 'plain' : 'auto',
  };
}

const SPACE_NEEDS_KEY =
  'a space is watched with an API key that holds jobs:read; put it into YARDMASTER_API_KEY\n' +
  '(the admin key of "npm start": export YARDMASTER_API_KEY=$(cat .data/admin-key))';

function subjectOf(jobId: string | undefined, spaceId: string | undefined): Subject {
  if ((jobId === undefined) === (spaceId === undefined)) throw new UsageError('give either a job id or --space');
  if (jobId === '' || spaceId === '') throw new UsageError('the id is empty');
  return jobId === undefined ? { kind: 'space', spaceId: spaceId as string } : { kind: 'job', jobId };
}

/** Where the service is. A faulty address is not quoted: it may hold a password. */
function urlOf(flag: string | undefined, variable: string | undefined): URL {
  const name = flag === undefined ? 'YARDMASTER_URL' : '--url';
  const text = flag ?? (variable || DEFAULT_URL);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`${name} must begin with http:// or https://`);
  }
  if (url.username !== '' || url.password !== '') throw new UsageError(`${name} must not hold a user name or password`);
  return url;
}

/** setTimeout takes 31 bits of milliseconds. */
const MAX_SECONDS = 2_000_000;

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw new InvalidArgumentError(`It must be a number above 0, at most ${MAX_SECONDS}.`);
}
