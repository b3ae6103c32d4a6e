import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { USER_AGENT } from '../version.js';
import { type Refusal, refusalOf } from './refusal.js';
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
