import { setMaxListeners } from 'node:events';
import { pause } from '../backoff.js';
import { spacePath, type Target } from '../client/transport.js';
import { JOB_LOST_EVENTS } from '../wire.generated.js';

const FIRST_MS = 500;
const MOST_MS = 30_000;
/** A connection of this length counts as a success. */
const LASTING_MS = 5_000;
/** After so many failures in a row there is a warning. */
const FAILURES_BEFORE_WARNING = 5;
/** A longer query is refused with its headers. Then the stream has all names. */
const MOST_QUERY = 6_000;

/** That of Node.js 22, or of the package `ws`, which has the same interface as far as it is used. Both send headers. */
type WebSocketClass = new (
  url: string,
  options: { headers: Record<string, string> },
) => {
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  close(): void;
};

async function findWebSocket(): Promise<WebSocketClass | null> {
  const own = (globalThis as { WebSocket?: WebSocketClass }).WebSocket;
  if (own !== undefined) return own;
  const optional = 'ws'; // The compiler must not look for it.
  return import(optional).then(({ WebSocket }) => WebSocket).catch(() => null);
}

function urlOf(target: Target, names: readonly string[]): string {
  const query = new URLSearchParams();
  for (const type of JOB_LOST_EVENTS) query.append('type', type);
  const ofNames = new URLSearchParams(names.map((name): [string, string] => ['name', name])).toString();
  const all = ofNames.length < MOST_QUERY ? `${query}&${ofNames}` : String(query);
  return `${target.url.replace(/^http/, 'ws')}/api/v1/realtime${spacePath(target, `?${all}`)}`;
}

/** An event of a job in the stream of its space. */
export interface StreamMessage {
  type: string;
  jobId?: string;
  data?: { attemptNumber?: number } | null;
}

/** Where events of the space go. */
export interface StreamHandlers {
  message(message: StreamMessage): void;
  /** A stream has begun. What happened before it is not in it. */
  begun(): void;
  missing(why: string): void;
}

/**
 * Follow the ends of attempts in the space, until the signal. It comes again after a disconnection. Without a WebSocket,
 * or without the scope `jobs:read`, there is no stream, and heartbeats find out instead.
 */
export async function followSpace(
  target: Target,
  names: readonly string[],
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  const Socket = await findWebSocket();
  if (Socket === null) return handlers.missing('Node.js before 22 needs the package ws');
  setMaxListeners(0, signal);
  for (let failures = 0; !signal.aborted; failures++) {
    const began = performance.now();
    await readStream(new Socket(urlOf(target, names), { headers: target.authorization() }), handlers, signal);
    if (performance.now() - began > LASTING_MS) failures = 0;
    if (failures === FAILURES_BEFORE_WARNING) handlers.missing('it cannot be opened; does the key have jobs:read?');
    await pause(Math.random() * Math.min(FIRST_MS * 2 ** Math.min(failures, 10), MOST_MS), signal);
  }
}

function readStream(
  socket: InstanceType<WebSocketClass>,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const close = () => socket.close();
    if (signal.aborted) close();
    signal.addEventListener('abort', close, { once: true });
    const ended = () => {
      signal.removeEventListener('abort', close);
      resolve();
    };
    socket.addEventListener('close', ended);
    socket.addEventListener('error', ended);
    socket.addEventListener('message', ({ data }) => {
      const message = messageOf(String(data));
      if (message?.type === 'init') handlers.begun();
      else if (message !== null) handlers.message(message);
    });
  });
}

function messageOf(text: string): StreamMessage | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
