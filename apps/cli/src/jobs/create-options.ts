import { type JsonValue, TERMINAL_STATUSES } from '@yardmaster/protocol';
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../command.js';
import { countOf, integerOf, momentOf, repeated, secondsOf } from '../flag-values.js';

/** Flags that set fields of a job. */
export interface JobFlags {
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

/** Flags that set fields of a job, and its time. */
export interface BodyFlags extends JobFlags {
  delay?: number;
  at?: string;
}

/** Add the options that set fields of a job and its time. */
export const withBodyOptions = (command: Command): Command =>
  withJobOptions(
    command
      .option('--delay <time>', 'make the job claimable after this long', secondsOf)
      .option('--at <time>', 'make the job claimable at this time, ISO 8601 with a time zone', momentOf),
  );

/** Add the options that set fields of a job. The service checks their limits, which operators can configure. */
export function withJobOptions(command: Command): Command {
  return command
    .option('--max-retries <count>', 'maximum number of retries after the first attempt (default: 3)', countOf)
    .option('--timeout <time>', 'fail an attempt after this long without a heartbeat (default: 5m)', secondsOf)
    .option(
      '--retry <delay>',
      'delay before each retry: seconds, a JSON array of seconds, or the retry field as JSON',
      retryOf,
    )
    .option('--priority <seconds>', 'head start in the queue, in seconds', integerOf)
    .option('--max-run <time>', 'fail an attempt that runs longer than this', secondsOf)
    .option('--start-within <time>', 'mark the job dead unless a worker acks it within this time', secondsOf)
    .option('--unique <key>', 'key[,until[,onConflict[,ttlSeconds]]], or the unique field as JSON', uniqueOf)
    .option('--tag <tag>', 'tag to find the job by; repeatable', repeated)
    .option('--callback-url <url>', 'URL to notify when the job ends')
    .option('--callback-header <header>', 'header of the callback, as "name: value"; repeatable', repeated)
    .option('--callback-on <outcomes>', `outcomes to notify of, comma-separated: ${TERMINAL_STATUSES.join(', ')}`);
}

/**
 * Return the fields of the body that flags set, under their API names.
 *
 * @throws UsageError
 */
export function bodyOf(flags: BodyFlags): Record<string, JsonValue> {
  if (flags.delay !== undefined && flags.at !== undefined) throw new UsageError('--delay and --at cannot be combined');
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

/** Read `--retry`: a number of seconds, an array of them, or the whole field. */
function retryOf(text: string): JsonValue {
  const value = jsonOf(text, 'a number of seconds, or JSON as in docs/retries.md');
  return typeof value === 'number' || Array.isArray(value) ? { delaySeconds: value } : value;
}

/** Read `--unique`: comma-separated parts, or the whole field as JSON, for a key that contains a comma. */
function uniqueOf(text: string): JsonValue {
  if (text.startsWith('{')) return jsonOf(text, 'key[,until[,onConflict[,ttlSeconds]]], or JSON');
  const [key = '', until, onConflict, ttl, ...rest] = text.split(',');
  if (key === '' || rest.length > 0) {
    throw new InvalidArgumentError('Expected key[,until[,onConflict[,ttlSeconds]]], or JSON.');
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
    throw new InvalidArgumentError(`Expected ${form}.`);
  }
}

/** Read headers. Errors don't quote them, because they may contain a secret. */
function headersOf(lines: string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new UsageError('--callback-header must be "name: value"');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
