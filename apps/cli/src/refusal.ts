import type { IncomingMessage } from 'node:http';
import { retryAfterMs } from './backoff.js';

/** How a server answered that did not let us in. */
export interface Refusal {
  status: number;
  /** What it said, or the bare status. Not printable yet. */
  sentence: string;
  /** How long it wants us to stay away at least. */
  notBeforeMs: number;
}

/** More than any error of the service; a proxy may answer with a page. */
const MAX_BODY_BYTES = 64 * 1024;

/** How long an answer may take to arrive in full. */
const READ_MS = 5_000;

/** Read why an upgrade was refused. Never rejects. */
export async function readRefusal(response: IncomingMessage): Promise<Refusal> {
  return refusalOf(response.statusCode ?? 0, await readText(response), response.headers['retry-after']);
}

/** A refusal of an answer that was read already. */
export function refusalOf(status: number, body: string, retryAfter: string | undefined): Refusal {
  return {
    status,
    sentence: errorIn(body) ?? `the server answered with HTTP ${status}`,
    notBeforeMs: retryAfterMs(retryAfter),
  };
}

/** Read a body as far as it comes, and not more than is wanted of it. */
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
    // Cut off: the status says enough.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString();
}

/** The service says `{error: "…"}`; whatever stands before it may say anything. */
function errorIn(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'string' && error !== '' ? error : null;
  } catch {
    return null;
  }
}
