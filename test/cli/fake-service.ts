import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Responds to request n, counted from 0. */
type Respond = (request: http.IncomingMessage, response: http.ServerResponse, nth: number) => void;

/** Serves a stream. `send` adds the fields that every message of a job has, and sends it with its seq as id. */
type OnStream = (send: (message: object) => void, stream: http.ServerResponse, request: http.IncomingMessage) => void;

/** What the service sends last when the job has ended. */
export const ENDED = 'event: ended\ndata: {}\n\n';

const TIMESTAMP = '2026-01-01T00:00:00.000Z';

const stops: (() => void)[] = [];

/** Start a fake service for a test. Without `onStream`, requests for streams get a response like others. */
export async function serve(respond: Respond, onStream?: OnStream) {
  /** The fake service. `requests` counts a stream only if it got a response like other requests. */
  const fake = { url: '', requests: 0, openStreams };
  // Keep connections open as long as some proxies do.
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    if (onStream === undefined || request.headers.accept !== 'text/event-stream')
      return respond(request, response, fake.requests++);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    const message = { jobId: 'job', status: 'running', timestamp: TIMESTAMP };
    const send = (fields: { seq?: number }) => {
      const id = fields.seq === undefined ? '' : `id: ${fields.seq}\n`;
      response.write(`${id}data: ${JSON.stringify({ ...message, ...fields })}\n\n`);
    };
    onStream(send, response, request);
  });
  function openStreams(handle: OnStream): void {
    onStream = handle;
  }
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}

/** Stop all fake services of a test. */
export function stopServing(): void {
  for (const stop of stops.splice(0)) stop();
}

/** Create a log entry with the fields that the CLI prints. */
export const entry = (seq: number, message = `entry ${seq}`) => ({ seq, level: 'info', message, loggedAt: TIMESTAMP });

/** Create the response of a service with these entries to a request for entries after `after`. */
export function pageOf(entries: { seq: number }[], after = 0): string {
  const logs = entries.filter(({ seq }) => seq > after);
  const newestSeq = logs.at(-1)?.seq ?? after;
  return JSON.stringify({ logs, cursor: { mode: 'after', oldestSeq: 1, newestSeq, hasMore: false } });
}

/** Return the seq after which a request asks for entries; null if it asks for the newest. */
export const afterIn = ({ url }: http.IncomingMessage) => new URL(`http://x${url}`).searchParams.get('after');
