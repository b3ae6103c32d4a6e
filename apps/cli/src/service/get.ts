import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { type Refusal, refusalOf } from './refusal.js';
import type { Service } from './service.js';

interface GetOptions {
  service: Service;
  /** Ends the request when it is aborted. */
  signal: AbortSignal;
  /** Time limit for the whole response, in milliseconds. */
  withinMs: number;
}

/**
 * Get the response at an address of the service.
 *
 * It does not use fetch. The fetch of Node.js 20 never settles when a connection is closed right after it was accepted.
 * Load balancers do that when no server is behind them. It would also follow a redirect to another host with the key.
 *
 * @returns the body, or how the request was refused; no response counts as a 503
 * @throws the reason of the signal, when it is aborted
 */
export async function get(url: URL, { service, signal, withinMs }: GetOptions): Promise<string | Refusal> {
  signal.throwIfAborted();
  const headers = service.token === null ? {} : { 'x-api-key': service.token };
  const request = (url.protocol === 'https:' ? https : http).get(url, { headers });
  const abort = () => request.destroy();
  const timer = setTimeout(() => request.destroy(new Error(`no response within ${withinMs / 1000} s`)), withinMs);
  signal.addEventListener('abort', abort);
  try {
    const response = await new Promise<IncomingMessage | null>((resolve, reject) => {
      request.on('response', resolve);
      request.on('error', reject);
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        resolve(null);
      });
      // This rejects the promise only if no response or error came before.
      request.on('close', () => reject(new Error('the connection was closed')));
    });
    if (response === null) return refusalOf(101, '', undefined);
    const body = await textOf(response);
    const status = response.statusCode ?? 0;
    return status === 200 ? body : refusalOf(status, body, response.headers['retry-after']);
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    return { status: 503, sentence: code ?? message, notBeforeMs: 0 };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
