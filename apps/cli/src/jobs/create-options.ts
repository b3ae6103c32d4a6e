import { type JsonValue, TERMINAL_STATUSES } from '@yardmaster/protocol';
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../command.js';
import { countOf, integerOf, momentOf, repeated, secondsOf } from '../flag-values.js';

/** Flags that are fields of the body of Create Job. */
export interface BodyFlags {
  delay?: number;
  at?: string;
  maxRetries?: number;
  timeout?: number;
  retry?: JsonValue;
  priority?: number;
  maxRun?: number;
  startWithin?: number;
  unique?: JsonValue;
  tag?: string[];
  callbackUrl?: string;
  callbackHeader?: string[];
  callbackOn?: string;
}

/** Add the options that are fields of the body. The service checks their limits, which may differ there. */
export function withBodyOptions(command: Command): Command {
  return command
    .option('--delay <time>', 'make it claimable after this time', secondsOf)
    .option('--at <time>', 'make it claimable at this time, ISO 8601 with a time zone', momentOf)
    .option('--max-retries <count>', 'attempts after the first (default: 3)', countOf)
    .option('--timeout <time>', 'longest time between two heartbeats of its worker (default: 300)', secondsOf)
    .option('--retry <delay>', 'seconds before each further attempt, or the field retry as JSON', retryOf)
    .option('--priority <seconds>', 'head start in the queue', integerOf)
    .option('--max-run <time>', 'end an attempt that takes longer', secondsOf)
    .option('--start-within <time>', 'end the job if no worker has started it by then', secondsOf)
    .option('--unique <key>', 'key[,until[,onConflict[,ttlSeconds]]], or the field unique as JSON', uniqueOf)
    .option('--tag <tag>', 'word by which the job is found; may be repeated', repeated)
    .option('--callback-url <url>', 'address that gets the end of the job')
    .option('--callback-header <header>', 'header of the callback, as "name: value"; may be repeated', repeated)
    .option('--callback-on <ends>', `ends that are sent, comma-separated: ${TERMINAL_STATUSES.join(', ')}`);
}

/**
 * Return the fields of the body that were given, under the names of the API.
 *
 * @throws UsageError
 */
export function bodyOf(flags: BodyFlags): Record<string, JsonValue> {
  if (flags.delay !== undefined && flags.at !== undefined) throw new UsageError('--delay and --at exclude each other');
  const fields: Record<string, JsonValue | undefined> = {
    delaySeconds: flags.delay,
    scheduledFor: flags.at,
    maxRetries: flags.maxRetries,
    timeoutSeconds: flags.timeout,
    retry: flags.retry,
    priority: flags.priority,
    maxRunSeconds: flags.maxRun,
    startWithinSeconds: flags.startWithin,
    unique: flags.unique,
    tags: flags.tag,
    callbackUrl: flags.callbackUrl,
    callbackHeaders: flags.callbackHeader && headersOf(flags.callbackHeader),
    callbackOn: flags.callbackOn?.split(',').map((end) => end.trim()),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Record<
    string,
    JsonValue
  >;
}

/** Read `--retry`: a number of seconds, a list of them, or the whole field. */
function retryOf(text: string): JsonValue {
  const value = jsonOf(text, 'a number of seconds, or JSON as in docs/retries.md');
  return typeof value === 'number' || Array.isArray(value) ? { delaySeconds: value } : value;
}

/** Read `--unique`: the key and what follows it, or the whole field as JSON, for a key with a comma. */
function uniqueOf(text: string): JsonValue {
  if (text.startsWith('{')) return jsonOf(text, 'key[,until[,onConflict[,ttlSeconds]]], or JSON');
  const [key = '', until, onConflict, ttl, ...rest] = text.split(',');
  if (key === '' || rest.length > 0) {
    throw new InvalidArgumentError('It must be key[,until[,onConflict[,ttlSeconds]]], or JSON.');
  }
  return {
    key,
    ...(until && { until }),
    ...(onConflict && { onConflict }),
    ...(ttl && { ttlSeconds: countOf(ttl) }),
  };
}

function jsonOf(text: string, form: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new InvalidArgumentError(`It must be ${form}.`);
  }
}

/** Read headers. An error does not quote them, because they may contain a secret. */
function headersOf(lines: string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new UsageError('--callback-header must be "name: value"');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
