import { type Command, InvalidArgumentError } from 'commander';
import type { Service } from './addresses.js';

/** Variables of the environment. */
export type Env = Record<string, string | undefined>;

/** Format of the output: `auto` is coloured on a terminal, and plain elsewhere. */
export type Format = 'auto' | 'plain' | 'json';

/** Flags by which a command finds the service. */
export interface ServiceFlags {
  url?: string;
  token?: string;
}

/** Flags of commands that print what comes from the service. */
export interface CommonFlags extends ServiceFlags {
  timeout?: number;
  plain?: boolean;
  json?: boolean;
}

/** Settings that follow from the common flags and the environment. */
export interface CommonRequest {
  service: Service;
  /** Null for no limit. */
  timeoutSeconds: number | null;
  format: Format;
}

/** A fault of a command line in which commander finds no fault. */
export class UsageError extends Error {}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Add the flags by which a command finds the service. */
export function withServiceOptions(command: Command): Command {
  return command
    .option('--url <url>', `where the service is (default: $YARDMASTER_URL, else ${DEFAULT_URL})`)
    .option(
      '--token <key>',
      'API key (default: $YARDMASTER_API_KEY, the better place: a flag shows in the process list)',
    );
}

/** Add the flags of commands that print what comes from the service. */
export function withCommonOptions(command: Command, { json }: { json: string }): Command {
  return withServiceOptions(command)
    .option('--timeout <seconds>', 'give up after so long', secondsOf)
    .option('--plain', 'plain lines, as when the output is no terminal or NO_COLOR is set')
    .option('--json', json);
}

/**
 * Make a command's action of a function. Usage errors are shown as commander shows its own.
 *
 * @param run gets the argument, if the command has one, and the flags
 */
export function actionOf<A extends unknown[]>(command: Command, run: (...inputs: A) => Promise<void>) {
  return async (...inputs: A): Promise<void> => {
    try {
      await run(...inputs);
    } catch (error) {
      if (error instanceof UsageError) command.error(`error: ${error.message}`);
      throw error;
    }
  };
}

/**
 * Read the common flags and the environment.
 *
 * @throws UsageError
 */
export function commonRequestOf(flags: CommonFlags, env: Env): CommonRequest {
  const format = formatOf(flags, env);
  return { service: serviceOf(flags, env), timeoutSeconds: flags.timeout ?? null, format };
}

/**
 * Read where the service is, and the API key.
 *
 * @throws UsageError
 */
export function serviceOf(flags: ServiceFlags, env: Env): Service {
  if (flags.token === '') throw new UsageError('--token is empty');
  const token = flags.token ?? (env.YARDMASTER_API_KEY || null);
  // The error does not quote it, because the rest of it may be a key.
  if (token !== null && !/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError('the API key holds a character that no key has, such as a blank or a line end');
  }
  return { url: urlOf(flags.url, env.YARDMASTER_URL), token };
}

/**
 * Read the format of the output.
 *
 * @throws UsageError
 */
export function formatOf({ json, plain }: Pick<CommonFlags, 'json' | 'plain'>, env: Env): Format {
  if (json && plain) throw new UsageError('--json and --plain exclude each other');
  if (json) return 'json';
  return plain || env.NO_COLOR || env.TERM === 'dumb' ? 'plain' : 'auto';
}

/** How to give a key, for a user without one. */
export const HOW_TO_GIVE_A_KEY =
  'put it into YARDMASTER_API_KEY\n' +
  '(the admin key of "npm start": export YARDMASTER_API_KEY=$(cat .data/admin-key))';

/** Read where the service is. An invalid address is not quoted, because it may contain a password. */
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

/** Largest `--timeout`, because setTimeout takes 31 bits of milliseconds. */
const MAX_SECONDS = 2_000_000;

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw new InvalidArgumentError(`It must be a number above 0, at most ${MAX_SECONDS}.`);
}
