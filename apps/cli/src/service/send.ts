import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { retryAfterMs } from '@yardmaster/protocol';
import { USER_AGENT } from '../version.js';
import { apiUrlOf, type Service } from './service.js';

/** A request to the API of the service. */
export interface ApiRequest {
  /** Default GET. */
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below /api/v1, with its query. */
  path: string;
  /** Sent as JSON; absent for none. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** A response that is no refusal. */
export interface Reply {
  status: number;
  text: string;
  /** Where the next page begins; null for a response that is no page, or the last one. */
  nextCursor: string | null;
}

interface SendOptions {
  service: Service;
  /** Ends the request when it is aborted. */
  signal: AbortSignal;
  /** Time limit for the whole response, in milliseconds. */
  withinMs: number;
}

/**
 * Send one request. Every HTTP request of the command is sent here.
 *
 * It does not use fetch. The fetch of Node.js 20 never settles when a connection is closed right after it was accepted.
 * Load balancers do that when no server is behind them. It would also follow a redirect to another host with the key.
 *
 * @returns the reply, or how the request was refused; no response counts as a 503
 * @throws the reason of the signal, when it is aborted
 */
export async function send(request: ApiRequest, { service, signal, withinMs }: SendOptions): Promise<Reply | Refusal> {
  signal.throwIfAborted();
  const outgoing = open(request, service);
  const abort = () => outgoing.destroy();
  const timer = setTimeout(() => outgoing.destroy(new Error(`no response within ${withinMs / 1000} s`)), withinMs);
  signal.addEventListener('abort', abort);
  try {
    const response = await new Promise<IncomingMessage | null>((resolve, reject) => {
      outgoing.on('response', resolve);
      outgoing.on('error', reject);
      outgoing.on('upgrade', (_response, socket) => {
        socket.destroy();
        resolve(null);
      });
      // This rejects the promise only if no response or error came before.
      outgoing.on('close', () => reject(new Error('the connection was closed')));
    });
    if (response === null) return refusalOf(101, '', undefined);
    const text = await textOf(response);
    const status = response.statusCode ?? 0;
    if (status < 200 || status >= 300) return refusalOf(status, text, response.headers['retry-after']);
    const nextCursor = response.headers['x-next-cursor'];
    return { status, text, nextCursor: typeof nextCursor === 'string' ? nextCursor : null };
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    return { status: 503, code: code ?? null, sentence: code ?? message, notBeforeMs: 0 };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function open({ method = 'GET', path, body, headers }: ApiRequest, { url: base, token }: Service): http.ClientRequest {
  const url = apiUrlOf(base, path);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    headers: {
      'user-agent': USER_AGENT,
      ...(token !== null && { 'x-api-key': token }),
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...headers,
    },
  });
  request.end(text);
  return request;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

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
