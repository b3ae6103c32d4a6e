import { NonRetryable, RetryAfter } from '@yardmaster/sdk';

const TYPES = ['text/html', 'application/xhtml+xml', 'text/plain'];
const MOST_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MOST_RETRY_SECONDS = 3_600;

/** Parse a URL. @throws NonRetryable unless it is an http or https URL */
export function httpUrlOf(text) {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new NonRetryable(`Not an http or https URL: ${text}`);
}

/**
 * Fetch an HTML or plain-text page.
 *
 * @param url a URL object
 * @param signal ends the request, for example if the job is killed
 * @returns `{ text, isHtml }`
 * @throws RetryAfter for 429 and 503; NonRetryable if a retry wouldn't help; other errors are worth a retry
 */
export async function fetchPage({ href }, signal, { mostBytes = MOST_BYTES, timeoutMs = TIMEOUT_MS } = {}) {
  // Not AbortSignal.timeout: inside AbortSignal.any it can be garbage-collected too early (nodejs/node#57736).
  const limit = new AbortController();
  const tooSlow = new Error(`${href}: no complete response within ${timeoutMs / 1_000} s`);
  const timer = setTimeout(() => limit.abort(tooSlow), timeoutMs);
  try {
    const response = await fetch(href, { signal: AbortSignal.any([signal, limit.signal]) });
    checkStatus(response, href);
    const [mediaType, charset] = typeOf(response.headers.get('content-type') ?? 'unknown');
    if (!TYPES.includes(mediaType)) throw new NonRetryable(`${href} is not a text page; its type is ${mediaType}`);
    const body = await bodyOf(response, mostBytes, href);
    return { text: decode(body, charset), isHtml: mediaType !== 'text/plain' };
  } catch (error) {
    // fetch puts the reason of an error in its cause.
    throw error instanceof TypeError ? new Error(`${href}: ${error.cause?.message ?? error.message}`) : error;
  } finally {
    clearTimeout(timer);
    limit.abort(); // Close the connection if the body wasn't read completely.
  }
}

function checkStatus({ status, headers }, href) {
  const problem = `${href} responded with ${status}`;
  const seconds = Number(headers.get('retry-after') ?? 30) || 30; // Also 30 for a date.
  if (status === 429 || status === 503) throw new RetryAfter(Math.min(Math.abs(seconds), MOST_RETRY_SECONDS), problem);
  if (status === 408 || status >= 500) throw new Error(problem);
  if (status !== 200) throw new NonRetryable(problem); // 404, for example
}

/** Return the media type and the charset in a Content-Type header. */
function typeOf(header) {
  const [mediaType, ...parameters] = header.toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim().split('=')).find(([name]) => name === 'charset');
  return [mediaType.trim(), charset?.[1]?.replaceAll('"', '')];
}

async function bodyOf({ body }, mostBytes, href) {
  const chunks = [];
  let bytes = 0;
  // Content-Length does not help: it may be missing, and counts compressed bytes.
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new NonRetryable(`${href} has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes, charset) {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString(); // The charset is unknown, and most pages have UTF-8.
  }
}
