import { z } from 'zod';
import { isJsonObject } from './json.js';
import { LIMITS } from './limits.js';
import { shownAs } from './shown.js';

const URL_RULE = 'must be an http or https URL without user name and password';

/**
 * Scheme and host in full, and no blanks: the URL parser would mend `http:a` and ` http://a`, and drop the @ of
 * `http://@a`.
 */
const FORM = /^https?:\/\/[^\s/?#\\@]+([/?#]\S*)?$/i;

/** The same without the flag, which JSON Schema has not. */
const SHOWN_FORM = FORM.source.replace('https?', '[Hh][Tt][Tt][Pp][Ss]?');

/**
 * Where the callback goes. Only its form is checked here: the address behind a name may be another one by the
 * time the job ends, so the sender checks addresses when it connects.
 */
export const callbackUrl = z
  .string({ error: 'must be a string' })
  .max(LIMITS.callbackUrlCharacters, { error: `must be at most ${LIMITS.callbackUrlCharacters} characters` })
  // Half a character cannot be stored as UTF-8: the job would show another URL than was given.
  .refine((text) => FORM.test(text) && text.isWellFormed() && URL.canParse(text), { error: URL_RULE })
  .meta({ format: 'uri', pattern: SHOWN_FORM, description: 'http or https, without user name and password' });

/** Headers that belong to the connection and not to the message: a caller who could set them could smuggle requests. */
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
  '__proto__', // No header, but a name that gets lost in the objects of every library on the way.
]);

/** Headers that sign are the service's: callers could else replace a signature, or add one where none is made. */
const OF_SIGNATURE = /^webhook-/i;

/** Whether only the service may send a header because receivers read signatures there. */
export const isSignatureHeader = (header: string) => OF_SIGNATURE.test(header);

/** The same without the flag, which JSON Schema has not. */
const SHOWN_OF_SIGNATURE = OF_SIGNATURE.source.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A tab is the one control character that a header value may hold. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function headerFault(header: string, value: unknown): string | null {
  if (!TOKEN.test(header)) return 'is not a valid header name';
  if (FORBIDDEN.has(header.toLowerCase()) || isSignatureHeader(header)) return 'is a header that callers cannot set';
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
      const fault = seen.has(lower) ? 'is given twice' : headerFault(header, value);
      if (fault !== null) ctx.addIssue({ code: 'custom', message: fault, path: [header] });
      seen.add(lower);
      bytes += header.length + (typeof value === 'string' ? value.length : 0);
    }
    if (bytes > LIMITS.callbackHeadersBytes) {
      ctx.addIssue({ code: 'custom', message: `must be at most ${LIMITS.callbackHeadersBytes} bytes in all` });
    }
  });

/** Headers to merge into the callback request: strings by name, at most 20 and 4 KB, none that steers the connection or signs. */
export const callbackHeaders = shownAs(
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
      description: `Headers to send along, ${LIMITS.callbackHeadersBytes} bytes in all; no name twice, none that steers the connection, none that begins with webhook-, in any case of letters`,
    }),
);
