import type { Scope } from '@yardmaster/protocol';
import type { Command } from 'commander';
import { type CommandLine, type Env, UsageError } from './command.js';
import { waitSecondsOf } from './flag-values.js';
import { Service } from './service/service.js';

/** Format of the output: `auto` is colored on a terminal, and plain elsewhere. */
export type Format = 'auto' | 'plain' | 'json';

/** Flags of commands that call the service. */
export interface ServiceFlags {
  url?: string;
  token?: string;
  profile?: string;
  /** Only of commands that have the option. */
  json?: boolean;
}

/** Flags of commands that work in one space. */
export interface SpaceFlags extends ServiceFlags {
  space?: string;
}

/** Flags of commands that print data of the service. */
export interface CommonFlags extends ServiceFlags {
  timeout?: number;
  plain?: boolean;
}

/** Settings that follow from the common flags and the environment. */
export interface CommonRequest {
  service: Service;
  /** Null for no limit. */
  timeoutSeconds: number | null;
  format: Format;
}

/** Flags by which a command finds the Redis of the service. */
export interface RedisFlags {
  redis?: string;
  prefix?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Help text of `--plain`. */
export const PLAIN_HELP = 'print plain lines, as when the output is not a terminal or NO_COLOR is set';

/** Add the flags by which a command finds the service. */
export function withServiceOptions(command: Command): Command {
  return command
    .option('--url <url>', `address of the service (default: $YARDMASTER_URL, else ${DEFAULT_URL})`)
    .option('--token <key>', 'API key (default: $YARDMASTER_API_KEY, which the process list does not show)')
    .option('--profile <name>', 'profile of "yardmaster config" (default: $YARDMASTER_PROFILE, else the one in use)');
}

/** Add the flags of commands that work in one space. */
export function withSpaceOption(command: Command): Command {
  return withServiceOptions(command.option('--space <spaceId>', 'the space (default: $YARDMASTER_SPACE)'));
}

/** Add the flags of commands that print data of the service. */
export function withCommonOptions(command: Command, json: string): Command {
  return withServiceOptions(command)
    .option('--timeout <time>', 'give up after this time', waitSecondsOf)
    .option('--plain', PLAIN_HELP)
    .option('--json', json);
}

/** Add the flags by which a command finds the Redis of the service. */
export function withRedisOptions(command: Command): Command {
  return command
    .option('--redis <url>', 'address of Redis (default: $REDIS_URL, which the process list does not show)')
    .option('--prefix <prefix>', 'first part of every key (default: $KEY_PREFIX, else ym)');
}

/** Read the common flags and the environment. @throws UsageError */
export function commonRequestOf(flags: CommonFlags, env: Env): CommonRequest {
  const format = formatOf(flags, env);
  return { service: serviceOf(flags, env), timeoutSeconds: flags.timeout ?? null, format };
}

/** Read the address of the service, and the API key. @throws UsageError */
export function serviceOf(flags: ServiceFlags, env: Env): Service {
  if (flags.token === '') throw new UsageError('--token is empty');
  const token = flags.token ?? (env.YARDMASTER_API_KEY || null);
  // The error does not quote it, because the rest of it may be a key.
  if (token !== null && !/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError('the API key contains a character that no key has, such as a space or a line end');
  }
  return new Service(urlOf(flags.url, env.YARDMASTER_URL), token);
}

/** Read the space of a command that takes it as an option. @throws UsageError */
export function spaceOf({ space }: SpaceFlags, env: Env): string {
  const spaceId = space ?? (env.YARDMASTER_SPACE || null);
  if (spaceId === null) throw new UsageError('give --space, or set YARDMASTER_SPACE');
  if (spaceId === '') throw new UsageError('--space is empty');
  return spaceId;
}

/** Read the space of a command that takes it as an argument. @throws UsageError */
export function spaceArgumentOf(argument: string | undefined, env: Env): string {
  const spaceId = argument ?? (env.YARDMASTER_SPACE || null);
  if (spaceId === null) throw new UsageError('give the space as an argument, or set YARDMASTER_SPACE');
  if (spaceId === '') throw new UsageError('the id is empty');
  return spaceId;
}

/** Read the format of the output. @throws UsageError */
export function formatOf({ json, plain }: Pick<CommonFlags, 'json' | 'plain'>, env: Env): Format {
  if (json && plain) throw new UsageError('--json and --plain exclude each other');
  if (json) return 'json';
  return plain || env.NO_COLOR || env.TERM === 'dumb' ? 'plain' : 'auto';
}

/** Return the variables of the service, in which flags replace the address of Redis and the prefix. */
export function redisVariablesOf({ redis, prefix }: RedisFlags, env: Env): Env {
  const address = redis === undefined ? {} : { REDIS_URL: redis, REDIS_URL_FILE: undefined };
  return { ...env, ...address, KEY_PREFIX: prefix ?? env.KEY_PREFIX };
}

/** Read what all commands that need an API key have in common. @throws UsageError */
export function serviceIn({ flags, env }: CommandLine<ServiceFlags>, action: string, scope: Scope | null) {
  const service = serviceOf(flags, env);
  expectKey(service, action, scope);
  return { service, isJson: flags.json ?? false };
}

/** Read the same, and the first argument, which is an id. @throws UsageError */
export function idIn({ args: [id = ''], flags, env }: CommandLine<ServiceFlags>, action: string, scope: Scope) {
  const service = serviceOf(flags, env);
  if (id === '') throw new UsageError('the id is empty');
  expectKey(service, action, scope);
  return { service, id, isJson: flags.json ?? false };
}

/** Read the same, and the space of `--space`. @throws UsageError */
export function spaceIn({ flags, env }: CommandLine<SpaceFlags>, action: string, scope: Scope) {
  const service = serviceOf(flags, env);
  const spaceId = spaceOf(flags, env);
  expectKey(service, action, scope);
  return { service, spaceId, isJson: flags.json ?? false };
}

/** Read the same, and the space that is the first argument. @throws UsageError */
export function spaceArgumentIn({ args, flags, env }: CommandLine<ServiceFlags>, action: string, scope: Scope) {
  const service = serviceOf(flags, env);
  const spaceId = spaceArgumentOf(args[0], env);
  expectKey(service, action, scope);
  return { service, spaceId, isJson: flags.json ?? false };
}

/**
 * Refuse a command line without an API key.
 *
 * @param action the action that needs the key, as the subject of a sentence
 * @throws UsageError
 */
export function expectKey({ token }: Service, action: string, scope: Scope | null): void {
  if (token !== null) return;
  throw new UsageError(
    `${action} needs an API key${scope === null ? '' : ` with ${scope}`}; set YARDMASTER_API_KEY\n` +
      '(to the admin key of "npm start": export YARDMASTER_API_KEY=$(cat .data/admin-key))',
  );
}

/** Read the address of the service. The error does not quote it, because it may contain a password. */
function urlOf(flag: string | undefined, variable: string | undefined): URL {
  const name = flag === undefined ? 'YARDMASTER_URL' : '--url';
  const text = flag ?? (variable || DEFAULT_URL);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`${name} must begin with http:// or https://`);
  }
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`${name} must not contain a user name or password`);
  return url;
}
