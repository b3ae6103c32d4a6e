import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { LIMITS } from './limits.js';
import { describeAs } from './schema/describe.js';
import { isJsonObject } from './schema/fields.js';

const URL_RULE = 'must be an http or https URL without a username or password';

/**
 * Require the scheme and host in full and no whitespace: the URL parser would repair `http:a` and ` http://a`, and drop
 * the @ of `http://@a`.
 */
const FORM = /^https?:\/\/[^\s/?#\\@]+([/?#]\S*)?$/i;

/** `FORM` without its flag, because JSON Schema has no flags. */
const SHOWN_FORM = FORM.source.replace('https?', '[Hh][Tt][Tt][Pp][Ss]?');

/**
 * URL of the callback. Only its syntax is checked here. A hostname may resolve to another address by the time the job
 * ends, so the sender checks addresses when it connects.
 */
export const callbackUrl = z
  .string({ error: 'must be a string' })
  .max(LIMITS.callbackUrlCharacters, { error: `must be at most ${LIMITS.callbackUrlCharacters} characters` })
  // A lone surrogate cannot be stored as UTF-8: the job would show a different URL.
  .refine((text) => FORM.test(text) && text.isWellFormed() && URL.canParse(text), { error: URL_RULE })
  .meta({ format: 'uri', pattern: SHOWN_FORM, description: 'An http or https URL without a username or password' });

/** Headers that belong to the connection, not the message. A caller who could set them could smuggle requests. */
const FORBIDDEN = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'expect',
  '__proto__', // Not a connection header, but libraries along the way drop a property with this name.
]);

/** Signature headers. Only the service sets them; a caller could otherwise replace a signature, or forge one. */
const OF_SIGNATURE = /^webhook-/i;

/** `OF_SIGNATURE` without its flag, because JSON Schema has no flags. */
const SHOWN_OF_SIGNATURE = OF_SIGNATURE.source.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A tab is the only control character that a header value may contain. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function headerFault(header: string, value: unknown): string | null {
  if (!TOKEN.test(header)) return 'is not a valid header name';
  if (FORBIDDEN.has(header.toLowerCase()) || OF_SIGNATURE.test(header)) return 'is a header that you cannot set';
  if (typeof value !== 'string') return 'must be a string';
  if (!FIELD_VALUE.test(value)) return 'contains a character that is not allowed in a header';
  return null;
}

const checkedHeaders = z
  .custom<Record<string, string>>(isJsonObject, { error: 'must be an object', abort: true })
  .superRefine((headers, ctx) => {
    const entries = Object.entries(headers);
    if (entries.length > LIMITS.callbackHeaders) {
      ctx.addIssue({ code: 'custom', message: `must have at most ${LIMITS.callbackHeaders} headers` });
      return;
    }
    let bytes = 0;
    const seen = new Set<string>();
    for (const [header, value] of entries) {
      const lower = header.toLowerCase();
      const fault = seen.has(lower) ? 'is repeated' : headerFault(header, value);
      if (fault !== null) ctx.addIssue({ code: 'custom', message: fault, path: [header] });
      seen.add(lower);
      bytes += header.length + (typeof value === 'string' ? value.length : 0);
    }
    if (bytes > LIMITS.callbackHeadersBytes) {
      ctx.addIssue({ code: 'custom', message: `must be at most ${LIMITS.callbackHeadersBytes} bytes in total` });
    }
  });

/**
 * Headers to merge into the callback request: strings by name, at most 20 headers and 4 KB. Connection and signature
 * headers are refused.
 */
export const callbackHeaders = describeAs(
  checkedHeaders,
  z
    .record(
      z
        .string()
        .regex(TOKEN)
        .meta({ not: { anyOf: [{ enum: [...FORBIDDEN] }, { pattern: SHOWN_OF_SIGNATURE }] } }),
      z.string().regex(FIELD_VALUE),
    )
    .meta({
      maxProperties: LIMITS.callbackHeaders,
      description: `Headers to add to the callback, at most ${LIMITS.callbackHeadersBytes} bytes in total. Names are case-insensitive and must be unique. They must not be connection headers or start with \`webhook-\``,
    }),
);

/**
 * Read a `Retry-After` header: seconds, or a date.
 *
 * @param nowMs time to which a date is relative, epoch milliseconds
 * @param longestMs maximum wait; longer ones are capped
 * @returns milliseconds to wait; 0 without a header or with an invalid one
 * @see RFC 9110 §10.2.3
 */
export function retryAfterMs(header: string | undefined, nowMs: number, longestMs: number): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Math.min(Math.max(ms || 0, 0), longestMs);
}

/**
 * Derive the keys that sign the callbacks of a space: HMAC-SHA256(master, "callback:" + spaceId). With a single key for
 * all spaces, a producer could have any body signed for another tenant's receiver.
 *
 * @param masters the keys of CALLBACK_SIGNING_SECRET, newest first
 * @returns 32 bytes for each master, in the same order
 */
export function callbackKeys(masters: readonly Buffer[], spaceId: string): Buffer[] {
  return masters.map((master) => createHmac('sha256', master).update(`callback:${spaceId}`).digest());
}

/** Format the signing keys of a space as its receivers expect them: `whsec_` and base64, as in Standard Webhooks. */
export function callbackSecrets(masters: readonly Buffer[], spaceId: string): string[] {
  return callbackKeys(masters, spaceId).map((key) => `whsec_${key.toString('base64')}`);
}

/** Response of Get Callback Secrets (our addition). */
export const callbackSecretList = z
  .object({
    secrets: z
      .array(z.string())
      .describe('Secrets in the form `whsec_<base64>`, newest first; empty if the service does not sign callbacks'),
  })
  .meta({ id: 'CallbackSecretList' });
export type CallbackSecretList = z.output<typeof callbackSecretList>;
