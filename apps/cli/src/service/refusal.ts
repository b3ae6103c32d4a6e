import type { IncomingMessage } from 'node:http';
import { retryAfterMs } from '@yardmaster/protocol';

/** How a server refused a request. */
export interface Refusal {
  status: number;
  /** Code of the error of the service, or of the system when no response came; null for none. */
  code: string | null;
  /** The error text of the server, or the bare status. It is not printable yet. */
  sentence: string;
  /** How long the client must wait at least before the next request, in milliseconds. */
  notBeforeMs: number;
}

/** More than any error of the service. A proxy may respond with a page. */
const MAX_BODY_BYTES = 64 * 1024;

/** Longest wait that a server can ask for. A timer of more than 24 days would fire at once. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** How long a response may take to arrive in full. */
const READ_MS = 5_000;

/** Read why an upgrade was refused. Never rejects. */
export async function readRefusal(response: IncomingMessage): Promise<Refusal> {
  return refusalOf(response.statusCode ?? 0, await readText(response), response.headers['retry-after']);
}

/** Make a refusal of a response that was read already. */
export function refusalOf(status: number, body: string, retryAfter: string | undefined): Refusal {
  const { error, code } = errorIn(body);
  return {
    status,
    code,
    sentence: error ?? `the server responded with HTTP ${status}`,
    notBeforeMs: retryAfterMs(retryAfter, Date.now(), MAX_RETRY_AFTER_MS),
  };
}

/** Read a body until it ends, or until it is longer than needed. */
async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), READ_MS);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) break;
    }
  } catch {
    // The body is cut off, but the status is enough.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString();
}

/** Read the error in a body. The service sends `{error, code}`, but a proxy before it may send anything. */
function errorIn(body: string): { error: string | null; code: string | null } {
  try {
    const { error, code } = JSON.parse(body) as { error?: unknown; code?: unknown };
    return {
      error: typeof error === 'string' && error !== '' ? error : null,
      code: typeof code === 'string' ? code : null,
    };
  } catch {
    return { error: null, code: null };
  }
}
