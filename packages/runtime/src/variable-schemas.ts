import { isIP } from 'node:net';
import { parseRedisUrl, type RedisUrlError } from '@yardmaster/redis';
import { z } from 'zod';

// Schemas of environment variables. Each error message follows the name of the variable.

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

export const origins = z
  .string()
  .transform((list) => list.split(',').map((origin) => origin.trim()))
  .refine(
    (list) => list.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)),
    {
      error: 'must be a comma-separated list of origins such as https://app.example.com, or *',
    },
  );

/** Names whose queues the metrics show at most: each costs a scrape one command. */
const NAME_QUEUES = 100;

/** Read `space/name`, with the name percent-encoded where it must be; null when it is not that. */
function nameQueueOf(text: string): { spaceId: string; name: string } | null {
  const [, spaceId = '', encoded = ''] = /^([A-Za-z0-9._:-]{1,128})\/(.+)$/su.exec(text.trim()) ?? [];
  try {
    const name = decodeURIComponent(encoded);
    const characters = [...name].length;
    return characters >= 1 && characters <= 128 ? { spaceId, name } : null;
  } catch {
    return null; // A `%` that is not followed by two hexadecimal digits.
  }
}

export const nameQueues = z.string().transform((text, ctx) => {
  const queues = text.split(',').map(nameQueueOf);
  if (queues.length <= NAME_QUEUES && queues.every((queue) => queue !== null)) return queues;
  ctx.addIssue({
    code: 'custom',
    message: `must be a comma-separated list of at most ${NAME_QUEUES} entries such as demo/resize, each a space and a name`,
  });
  return z.NEVER;
}) as unknown as z.ZodType<readonly { spaceId: string; name: string }[], string>;

export const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true') as unknown as z.ZodType<boolean, string>;

export const networks = z
  .string()
  .transform((list) => list.split(',').map((network) => network.trim()))
  .refine((list) => list.every(isNetwork), {
    error:
      'must be a comma-separated list of addresses and networks such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
  });

export const retryDelays = z.string().transform((text, ctx) => {
  const list = text === 'none' ? [] : text.split(',').map((part) => part.trim());
  if (list.every((part) => /^\d+(\.\d+)?$/.test(part) && Number(part) > 0 && Number(part) <= 30 * 86_400)) {
    return list.map(Number);
  }
  ctx.addIssue({ code: 'custom', message: 'must be a comma-separated list of seconds, each above 0, or none' });
  return z.NEVER;
}) as unknown as z.ZodType<readonly number[], string>;

/** Decode a secret of Standard Webhooks: 24 to 64 bytes in base 64, after `whsec_`. */
function signingKey(secret: string): Buffer | null {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return null;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return key.length >= 24 && key.length <= 64 ? key : null;
}

export const signingSecrets = z.string().transform((text, ctx) => {
  const keys = text.split(',').map((part) => signingKey(part.trim()));
  if (keys.every((key) => key !== null)) return keys;
  ctx.addIssue({
    code: 'custom',
    message: 'must be whsec_ and 24 to 64 bytes in base 64, or several of them, comma-separated',
  });
  return z.NEVER;
}) as unknown as z.ZodType<readonly Buffer[], string>;

function isDnsServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  return isIP(v6 ?? v4 ?? '') === (v6 === undefined ? 4 : 6) && Number(port) > 0 && Number(port) < 65_536;
}

export const dnsServers = z
  .string()
  .transform((list) => list.split(',').map((server) => server.trim()))
  .refine((list) => list.every(isDnsServer), {
    error:
      'must be a comma-separated list of addresses, each with a port if not 53, such as 10.0.0.2 or [fd00::2]:5353',
  });
