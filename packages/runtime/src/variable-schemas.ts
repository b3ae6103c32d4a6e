import { isIP } from 'node:net';
import { parseRedisUrl, type RedisUrlError } from '@yardmaster/redis';
import { z } from 'zod';

// Schemas of environment variables. Each error message is appended to the name of the variable.

export function integer(min: number, max: number) {
  const error = `must be an integer between ${min} and ${max}`;
  return z
    .string()
    .regex(/^\d+$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
}

export function seconds(max: number, { zero }: { zero: boolean }) {
  const error = `must be a number of seconds ${zero ? 'from 0' : 'above 0'} to ${max}`;
  return z
    .string()
    .regex(/^\d+(\.\d+)?$/, { error })
    .transform(Number)
    .refine((value) => (zero || value > 0) && value <= max, { error });
}

export const bytes = integer(1_024, 512 * 1_048_576);

export const redisUrl = z.string().superRefine((url, ctx) => {
  try {
    parseRedisUrl(url);
  } catch (error) {
    ctx.addIssue({ code: 'custom', message: (error as RedisUrlError).message });
  }
});

interface ListRules {
  /** The rule as a sentence, for the error. */
  error: string;
  /** Maximum number of entries. Default: no limit. */
  max?: number;
  /** Text that means an empty list. Default: none. */
  empty?: string;
}

/** Make the schema of a comma-separated list. @param parse returns the value of an entry; null if it is invalid */
function listOf<T>(parse: (entry: string) => T | null, { error, max = Number.POSITIVE_INFINITY, empty }: ListRules) {
  return z.string().transform((text, ctx) => {
    const list = text === empty ? [] : text.split(',').map((entry) => parse(entry.trim()));
    if (list.length <= max && list.every((entry) => entry !== null)) return list;
    ctx.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  }) as unknown as z.ZodType<T[], string>;
}

const textsThat = (isValid: (text: string) => boolean, error: string) =>
  listOf((text) => (isValid(text) ? text : null), { error });

const NETWORK_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (bits === undefined) return NETWORK_NAMES.includes(text) || isIP(address) !== 0;
  return (
    rest.length === 0 &&
    isIP(address) !== 0 &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) > 0 &&
    Number(bits) <= (isIP(address) === 4 ? 32 : 128)
  );
}

export const networks = textsThat(
  isNetwork,
  'must be a comma-separated list of addresses and networks such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
);

export const origins = textsThat(
  (origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin),
  'must be a comma-separated list of origins such as https://app.example.com, or *',
);

function isDnsServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  return isIP(v6 ?? v4 ?? '') === (v6 === undefined ? 4 : 6) && Number(port) > 0 && Number(port) < 65_536;
}

export const dnsServers = textsThat(
  isDnsServer,
  'must be a comma-separated list of addresses, each with a port if not 53, such as 10.0.0.2 or [fd00::2]:5353',
);

/** Maximum number of names whose queues the metrics show: each costs one command per scrape. */
const NAME_QUEUES = 100;

/** Parse `space/name`, where the name may be percent-encoded; null if it is invalid. */
function nameQueueOf(text: string): { spaceId: string; name: string } | null {
  const [, spaceId = '', encoded = ''] = /^([A-Za-z0-9._:-]{1,128})\/(.+)$/su.exec(text) ?? [];
  try {
    const name = decodeURIComponent(encoded);
    const characters = [...name].length;
    return characters >= 1 && characters <= 128 ? { spaceId, name } : null;
  } catch {
    return null; // A `%` without two hexadecimal digits.
  }
}

export const nameQueues = listOf(nameQueueOf, {
  max: NAME_QUEUES,
  error: `must be a comma-separated list of at most ${NAME_QUEUES} entries such as demo/resize, each a space and a name`,
});

export const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true') as unknown as z.ZodType<boolean, string>;

const delayOf = (text: string) =>
  /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number(text) <= 30 * 86_400 ? Number(text) : null;

export const retryDelays = listOf(delayOf, {
  empty: 'none',
  error: 'must be a comma-separated list of seconds, each above 0, or none',
});

/** Decode a Standard Webhooks secret: 24 to 64 bytes in base64, after `whsec_`. */
function signingKey(secret: string): Buffer | null {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return null;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return key.length >= 24 && key.length <= 64 ? key : null;
}

export const signingSecrets = listOf(signingKey, {
  error: 'must be whsec_ followed by 24 to 64 bytes in base64, or a comma-separated list of such secrets',
});
