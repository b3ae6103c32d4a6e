import type { Scope } from '@yardmaster/protocol';
import type { Command } from 'commander';
import { type CommandLine, type Env, UsageError } from './command.js';
import { waitSecondsOf } from './flag-values.js';
import { Service } from './service/service.js';

/** Output format. `auto` means colors on a terminal and plain lines everywhere else. */
export type Format = 'auto' | 'plain' | 'json';

/** Flags of commands that call the service. Not every command has `--json`. */
export interface ServiceFlags {
  url?: string;
  token?: string;
  profile?: string;
  json?: boolean;
}

/** Flags of commands that work in one space. */
export interface SpaceFlags extends ServiceFlags {
  space?: string;
}

/** Flags of commands that show data of the service. */
export interface CommonFlags extends ServiceFlags {
  timeout?: number;
  plain?: boolean;
}

/** Settings derived from the common flags and the environment. */
export interface CommonRequest {
  service: Service;
  /** Null for no limit. */
  timeoutSeconds: number | null;
  format: Format;
}

/** Flags that locate the data of the service in Redis. */
export interface RedisFlags {
  redis?: string;
  prefix?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Help text of `--plain`. */
export const PLAIN_HELP = 'print plain lines (default without a terminal, or if NO_COLOR is set)';

/** Add the flags that locate the service. */
export function withServiceOptions(command: Command): Command {
  return command
    .option('--url <url>', `URL of the service, without /api/v1 (default: $YARDMASTER_URL, or ${DEFAULT_URL})`)
    .option('--token <key>', 'API key (default: $YARDMASTER_API_KEY, which stays out of the process list)')
    .option('--profile <name>', 'saved profile to use (default: $YARDMASTER_PROFILE, or the current profile)');
}

/** Add the flags of commands that work in one space. */
export function withSpaceOption(command: Command): Command {
  return withServiceOptions(command.option('--space <spaceId>', 'space to work in (default: $YARDMASTER_SPACE)'));
}

/** Add the flags of commands that show data of the service. */
export function withCommonOptions(command: Command, json: string): Command {
  return withServiceOptions(command)
    .option('--timeout <time>', 'give up after this time, such as 30s or 5m', waitSecondsOf)
    .option('--plain', PLAIN_HELP)
    .option('--json', json);
}

/** Add the flags that locate the data of the service in Redis. */
export function withRedisOptions(command: Command): Command {
  return command
    .option('--redis <url>', 'URL of Redis (default: $REDIS_URL, which stays out of the process list)')
    .option('--prefix <prefix>', 'prefix of every Redis key (default: $KEY_PREFIX, or ym)');
}

/** Read the common flags and the environment. @throws UsageError */
export function commonRequestOf(flags: CommonFlags, env: Env): CommonRequest {
  const format = formatOf(flags, env);
  return { service: serviceOf(flags, env), timeoutSeconds: flags.timeout ?? null, format };
}

/** Read the URL and the API key of the service. @throws UsageError */
export function serviceOf(flags: ServiceFlags, env: Env): Service {
  if (flags.token === '') throw new UsageError('--token is empty');
  const token = flags.token ?? (env.YARDMASTER_API_KEY || null);
  // The error doesn't quote the text, because it may contain a valid key.
  if (token !== null && !/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError('the API key contains an invalid character, such as a space or a line break');
  }
  return new Service(urlOf(flags.url, env.YARDMASTER_URL), token);
}

/** Read the space from `--space` or its variable. @throws UsageError */
export function spaceOf({ space }: SpaceFlags, env: Env): string {
  const spaceId = space ?? (env.YARDMASTER_SPACE || null);
  if (spaceId === null) throw new UsageError('no space given; pass --space or set YARDMASTER_SPACE');
  if (spaceId === '') throw new UsageError('--space is empty');
  return spaceId;
}

/** Read the space from an argument or its variable. @throws UsageError */
export function spaceArgumentOf(argument: string | undefined, env: Env): string {
  const spaceId = argument ?? (env.YARDMASTER_SPACE || null);
  if (spaceId === null) throw new UsageError('no space given; pass it as an argument or set YARDMASTER_SPACE');
  if (spaceId === '') throw new UsageError('the ID is empty');
  return spaceId;
}

/** Read the output format. @throws UsageError */
export function formatOf({ json, plain }: Pick<CommonFlags, 'json' | 'plain'>, env: Env): Format {
  if (json && plain) throw new UsageError('--json and --plain cannot be combined');
  if (json) return 'json';
  return plain || env.NO_COLOR || env.TERM === 'dumb' ? 'plain' : 'auto';
}

/** Return the variables of the service, with the Redis URL and key prefix that flags override. */
export function redisVariablesOf({ redis, prefix }: RedisFlags, env: Env): Env {
  const address = redis === undefined ? {} : { REDIS_URL: redis, REDIS_URL_FILE: undefined };
  return { ...env, ...address, KEY_PREFIX: prefix ?? env.KEY_PREFIX };
}

/** Read the service and output flags of a command that requires an API key. @throws UsageError */
export function serviceIn({ flags, env }: CommandLine<ServiceFlags>, action: string, scope: Scope | null) {
  const service = serviceOf(flags, env);
  expectKey(service, action, scope);
  return { service, isJson: flags.json ?? false };
}

/** Read an ID from the first argument, and the service and output flags. @throws UsageError */
export function idIn({ args: [id = ''], flags, env }: CommandLine<ServiceFlags>, action: string, scope: Scope) {
  const service = serviceOf(flags, env);
  if (id === '') throw new UsageError('the ID is empty');
  expectKey(service, action, scope);
  return { service, id, isJson: flags.json ?? false };
}

/** Read the space from `--space`, and the service and output flags. @throws UsageError */
export function spaceIn({ flags, env }: CommandLine<SpaceFlags>, action: string, scope: Scope) {
  const service = serviceOf(flags, env);
  const spaceId = spaceOf(flags, env);
  expectKey(service, action, scope);
  return { service, spaceId, isJson: flags.json ?? false };
}

/** Read the space from the first argument, and the service and output flags. @throws UsageError */
export function spaceArgumentIn({ args, flags, env }: CommandLine<ServiceFlags>, action: string, scope: Scope) {
  const service = serviceOf(flags, env);
  const spaceId = spaceArgumentOf(args[0], env);
  expectKey(service, action, scope);
  return { service, spaceId, isJson: flags.json ?? false };
}

/**
 * Reject a command line that has no API key.
 *
 * @param action what requires the key, as the subject of a sentence, such as `creating a job`
 * @throws UsageError
 */
export function expectKey({ token }: Service, action: string, scope: Scope | null): void {
  if (token !== null) return;
  throw new UsageError(
    `${action} requires an API key${scope === null ? '' : ` with ${scope}`}; set YARDMASTER_API_KEY\n` +
      '(for a service started with "npm start": export YARDMASTER_API_KEY=$(cat .data/admin-key))',
  );
}

/** Read the URL of the service. Errors don't quote it, because it may contain a password. */
function urlOf(flag: string | undefined, variable: string | undefined): URL {
  const name = flag === undefined ? 'YARDMASTER_URL' : '--url';
  const text = flag ?? (variable || DEFAULT_URL);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`${name} must start with http:// or https://`);
  }
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`${name} must not contain a user name or password`);
  return url;
}
