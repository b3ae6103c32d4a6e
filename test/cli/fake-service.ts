import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Answer a request, the nth from 0. */
type Answer = (request: http.IncomingMessage, response: http.ServerResponse, nth: number) => void;

/** Talk to a client whose stream has just been opened; `send` fills in what every message of a job has. */
type OnStream = (send: (message: object) => void, ws: WebSocket) => void;

const TIMESTAMP = '2026-01-01T00:00:00.000Z';

const stops: (() => void)[] = [];

/** Serve instead of a service, as a test wants. Without `onStream`, requests for streams are answered like others. */
export async function serve(answer: Answer, onStream?: OnStream) {
  /** How many requests there were, streams not counted unless they were answered like others. */
  const fake = { url: '', requests: 0, openStreams };
  // Kept open for as long as some proxies do.
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) =>
    answer(request, response, fake.requests++),
  );
  const wss = new WebSocketServer({ noServer: true });
  function openStreams(handle: OnStream): void {
    server.on('upgrade', (request, socket, head) =>
      wss.handleUpgrade(request, socket, head, (ws) => {
        const message = { jobId: 'job', status: 'running', timestamp: TIMESTAMP };
        handle((fields) => ws.send(JSON.stringify({ ...message, ...fields })), ws);
      }),
    );
  }
  if (onStream !== undefined) openStreams(onStream);
  stops.push(() => {
    for (const ws of wss.clients) ws.terminate();
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}

/** Stop what a test has served. */
export function stopServing(): void {
  for (const stop of stops.splice(0)) stop();
}

/** An entry as the service sends it, as far as the command prints it. */
export const entry = (seq: number, message = `entry ${seq}`) => ({ seq, level: 'info', message, loggedAt: TIMESTAMP });

/** The answer of the service to a request for the logs after `after` when it has these entries. */
export function pageOf(entries: { seq: number }[], after = 0): string {
  const logs = entries.filter(({ seq }) => seq > after);
  const newestSeq = logs.at(-1)?.seq ?? after;
  return JSON.stringify({ logs, cursor: { mode: 'after', oldestSeq: 1, newestSeq, hasMore: false } });
}

/** After which entry a request asks for logs; null: for the newest. */
export const afterIn = ({ url }: http.IncomingMessage) => new URL(`http://x${url}`).searchParams.get('after');
