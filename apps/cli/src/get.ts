import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Service } from './addresses.js';
import { type Refusal, refusalOf } from './refusal.js';

export interface GetOptions {
  service: Service;
  /** Ends the request. */
  signal: AbortSignal;
  /** For the whole answer, in milliseconds. */
  withinMs: number;
}

/**
 * Get what is at an address of the service.
 *
 * Not by fetch: that of Node.js 20 never settles when a connection is closed right after it was accepted, as load
 * balancers do with nobody behind them; and it would follow a redirect to another host with the key.
 *
 * @returns the body, or how it was refused; no answer counts as a 503
 * @throws whatever aborts the signal
 */
export async function get(url: URL, { service, signal, withinMs }: GetOptions): Promise<string | Refusal> {
  signal.throwIfAborted();
  const headers = service.token === null ? {} : { 'x-api-key': service.token };
  const request = (url.protocol === 'https:' ? https : http).get(url, { headers });
  const abort = () => request.destroy();
  const timer = setTimeout(() => request.destroy(new Error(`no answer within ${withinMs / 1000} s`)), withinMs);
  signal.addEventListener('abort', abort);
  try {
    const response = await new Promise<IncomingMessage | null>((resolve, reject) => {
      request.on('response', resolve);
      request.on('error', reject);
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        resolve(null);
      });
      request.on('close', () => reject(new Error('the connection was closed'))); // If nothing else was said.
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
