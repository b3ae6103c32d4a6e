import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { YardmasterError } from '../errors.js';
import { type Connect, type Received, StreamEnded } from './follow.js';
import { headerOf, open } from './http.js';
import { refusalOf, type Target, toError } from './transport.js';

/** Time for the response to begin. */
const RESPONSE_MS = 10_000;
/** The service sends a comment every 15 s. */
const SILENT_MS = 45_000;

/**
 * Return what opens a stream as server-sent events.
 *
 * @param path below `/api/v1`
 */
export function eventStream(target: Target, path: string): Connect {
  return async function* (lastId, signal) {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), RESPONSE_MS);
    const resume = lastId === null ? {} : { 'last-event-id': lastId };
    const headers = { ...target.headers(), accept: 'text/event-stream', ...resume };
    try {
      const ends = AbortSignal.any([signal, late.signal]);
      const response = await open({ url: target.urlOf(path), method: 'GET', headers, signal: ends });
      clearTimeout(timer);
      yield* messagesOf(response);
    } catch (error) {
      if (error instanceof StreamEnded) throw error;
      throw toError(error, late.signal.aborted ? `none within ${RESPONSE_MS / 1_000} s` : undefined);
    } finally {
      clearTimeout(timer);
    }
  };
}

async function* messagesOf(response: IncomingMessage): AsyncGenerator<Received, void, undefined> {
  const { statusCode: status = 0, headers } = response;
  if (status === 204) throw new StreamEnded();
  if (status !== 200 || !headers['content-type']?.startsWith('text/event-stream'))
    throw refusalOf({ status, header: headerOf(headers), body: await text(response) });
  for await (const { id, event, data } of eventsIn(response)) {
    if (event === 'ended') throw new StreamEnded();
    if (event === 'expired')
      throw new YardmasterError('UNAUTHENTICATED', 'The stream token has expired', { status: 401 });
    const message = messageIn(data);
    if (message !== null) yield { id: id ?? null, message };
  }
}

/** Read server-sent events. The service writes each field in one line. */
async function* eventsIn(response: IncomingMessage): AsyncGenerator<Record<string, string>, void, undefined> {
  let rest = '';
  let fields: Record<string, string> = {};
  for await (const chunk of chunksOf(response)) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
      if (name !== '') fields[name] = value;
      if (line !== '') continue;
      if ('data' in fields || 'event' in fields) yield fields;
      fields = {};
    }
  }
}

/** Read a response that is never silent for long. The time that the reader takes for a chunk does not count. */
async function* chunksOf(response: IncomingMessage): AsyncGenerator<string, void, undefined> {
  const chunks = response.setEncoding('utf8')[Symbol.asyncIterator]();
  const silent = () => response.destroy(new Error(`nothing came for ${SILENT_MS / 1_000} s`));
  try {
    for (;;) {
      const timer = setTimeout(silent, SILENT_MS);
      const { done, value } = await chunks.next().finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    response.destroy();
  }
}

/** Return the message in an event; null when it is not from the service. */
function messageIn(data = ''): Received['message'] | null {
  try {
    const message = JSON.parse(data);
    return typeof message?.type === 'string' ? message : null;
  } catch {
    return null;
  }
}
