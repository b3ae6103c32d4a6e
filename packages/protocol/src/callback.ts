import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { LIMITS } from './limits.js';
import { describeAs } from './schema/describe.js';
import { isJsonObject } from './schema/fields.js';

const URL_RULE = 'must be an http or https URL without user name and password';

/**
 * Scheme and host in full, and no blanks, because the URL parser would repair `http:a` and ` http://a`, and drop the @
 * of `http://@a`.
 */
const FORM = /^https?:\/\/[^\s/?#\\@]+([/?#]\S*)?$/i;

/** `FORM` without its flag, because JSON Schema has no flags. */
const SHOWN_FORM = FORM.source.replace('https?', '[Hh][Tt][Tt][Pp][Ss]?');

/**
 * URL of the callback. Only its form is checked here. The address behind a name may be another one by the time the job
 * ends, so the sender checks addresses when it connects.
 */
export const callbackUrl = z
  .string({ error: 'must be a string' })
  .max(LIMITS.callbackUrlCharacters, { error: `must be at most ${LIMITS.callbackUrlCharacters} characters` })
  // A lone surrogate cannot be stored as UTF-8: the job would show another URL than the given one.
  .refine((text) => FORM.test(text) && text.isWellFormed() && URL.canParse(text), { error: URL_RULE })
  .meta({ format: 'uri', pattern: SHOWN_FORM, description: 'http or https, without user name and password' });

/** Headers that belong to the connection and not to the message. A caller who could set them could smuggle requests. */
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
  '__proto__', // This is not a header of the connection, but objects of libraries on the way lose this name.
]);

/**
 * Only the service sends headers that sign. Otherwise callers could replace a signature, or add one where none is made.
 */
const OF_SIGNATURE = /^webhook-/i;

/** `OF_SIGNATURE` without its flag, because JSON Schema has no flags. */
const SHOWN_OF_SIGNATURE = OF_SIGNATURE.source.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A tab is the only control character that a header value may contain. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function headerFault(header: string, value: unknown): string | null {
  if (!TOKEN.test(header)) return 'is not a valid header name';
  if (FORBIDDEN.has(header.toLowerCase()) || OF_SIGNATURE.test(header)) return 'is a header that callers cannot set';
  if (typeof value !== 'string') return 'must be a string';
  if (!FIELD_VALUE.test(value)) return 'has a character that a header cannot carry';
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
      ctx.addIssue({ code: 'custom', message: `must be at most ${LIMITS.callbackHeadersBytes} bytes in all` });
    }
  });

/**
 * Headers to merge into the callback request: strings by name, at most 20 and 4 KB; headers that control the
 * connection, or sign, are refused.
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
      description: `Headers to send along, ${LIMITS.callbackHeadersBytes} bytes in all; no repeated name, none that controls the connection, none that begins with webhook-, in any case of letters`,
    }),
);

/**
 * Read a `Retry-After` header: seconds, or a date.
 *
 * @param nowMs the time from which a date counts, epoch milliseconds
 * @param longestMs longest wait that is accepted; a longer one is cut to it
 * @returns milliseconds to wait; 0 when there is no header, or an invalid one
 * @see RFC 9110 §10.2.3
 */
export function retryAfterMs(header: string | undefined, nowMs: number, longestMs: number): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Math.min(Math.max(ms || 0, 0), longestMs);
}

/**
 * Derive the keys that sign the callbacks of a space: HMAC-SHA256(master, "callback:" + spaceId). With one key for all
 * spaces, a producer could have any body signed for the receiver of another tenant.
 *
 * @param masters the keys of CALLBACK_SIGNING_SECRET, newest first
 * @returns 32 bytes for each master, in the same order
 */
export function callbackKeys(masters: readonly Buffer[], spaceId: string): Buffer[] {
  return masters.map((master) => createHmac('sha256', master).update(`callback:${spaceId}`).digest());
}

/** Write the keys of a space in the form that its receivers expect: `whsec_` and base64, as in Standard Webhooks. */
export function callbackSecrets(masters: readonly Buffer[], spaceId: string): string[] {
  return callbackKeys(masters, spaceId).map((key) => `whsec_${key.toString('base64')}`);
}

/** Response of Get Callback Secrets (our addition). */
export const callbackSecretList = z
  .object({
    secrets: z
      .array(z.string())
      .describe('`whsec_` and base64, newest first; empty when the service does not sign callbacks'),
  })
  .meta({ id: 'CallbackSecretList' });
export type CallbackSecretList = z.output<typeof callbackSecretList>;
