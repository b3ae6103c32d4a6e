import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { YardmasterError } from '../errors.js';
import { type Connect, type Received, StreamEnded } from './follow.js';
import { headerOf, open } from './http.js';
import { refusalOf, type Target, toError } from './transport.js';

/** Time until the response must start. */
const RESPONSE_MS = 10_000;
/** A connection that is silent for this long is dead: the service sends a comment every 15 s. */
const SILENT_MS = 45_000;

/**
 * Return a function that opens a stream of server-sent events.
 *
 * @param path below `/api/v1`
 */
export function eventStream(target: Target, path: string): Connect {
  return async function* (lastId, signal) {
    // AbortSignal.any would keep every connection in the memory of a signal that lives as long as the worker.
    const ends = new AbortController();
    const abort = () => ends.abort(signal.reason);
    signal.addEventListener('abort', abort);
    const late = setTimeout(() => ends.abort(new Error(`none within ${RESPONSE_MS / 1_000} s`)), RESPONSE_MS);
    const resume = lastId === null ? {} : { 'last-event-id': lastId };
    const headers = { ...target.headers(), accept: 'text/event-stream', ...resume };
    let response: IncomingMessage | null = null;
    try {
      response = await open({ url: target.urlOf(path), method: 'GET', headers, signal: ends.signal });
      await expectStream(response);
      clearTimeout(late);
      yield* messagesOf(response);
    } catch (error) {
      if (error instanceof StreamEnded) throw error;
      throw toError(error, ends.signal.aborted ? String(ends.signal.reason?.message) : undefined);
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', abort);
      response?.destroy(); // Its socket would otherwise keep the process alive.
    }
  };
}

/** @throws StreamEnded; YardmasterError for the refusal in the response */
async function expectStream(response: IncomingMessage): Promise<void> {
  const { statusCode: status = 0, headers } = response;
  if (status === 204) throw new StreamEnded();
  if (status === 200 && headers['content-type']?.startsWith('text/event-stream')) return;
  throw refusalOf({ status, header: headerOf(headers), body: await text(response) });
}

async function* messagesOf(response: IncomingMessage): AsyncGenerator<Received, void, undefined> {
  let fields: Record<string, string> = {};
  for await (const line of linesOf(response)) {
    const colon = line.indexOf(':'); // Not a regular expression: JSON may contain U+2028, which ends lines elsewhere.
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
    if (line !== '') continue;
    const { id = null, event, data } = fields;
    fields = {};
    if (event === 'ended') throw new StreamEnded();
    if (event === 'expired')
      throw new YardmasterError('UNAUTHENTICATED', 'The stream token has expired', { status: 401 });
    const message = messageIn(data);
    if (message !== null) yield { id, message };
  }
}

/** Yield the lines of a response, and fail if it is silent for too long. Time that the reader takes doesn't count. */
async function* linesOf(response: IncomingMessage): AsyncGenerator<string, void, undefined> {
  const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]();
  const silent = () => response.destroy(new Error(`nothing arrived for ${SILENT_MS / 1_000} s`));
  for (let begun: string[] = []; ; ) {
    const timer = setTimeout(silent, SILENT_MS);
    const { done, value } = await chunks.next().finally(() => clearTimeout(timer));
    if (done) return;
    const [first, ...others] = String(value).split('\n');
    begun.push(first as string);
    for (const next of others) {
      yield begun.join('').replace(/\r$/, '');
      begun = [next];
    }
  }
}

/** Return the message in an event; null if it isn't from the service. */
function messageIn(data = ''): Received['message'] | null {
  try {
    const message = JSON.parse(data);
    return typeof message?.type === 'string' ? message : null;
  } catch {
    return null;
  }
}
