import { signal } from '@preact/signals';
import type { StreamMessage, StreamToken } from '@yardmaster/protocol';
import { CLOSE_CODES } from '@yardmaster/protocol/close-codes';
import { CallError, call, type Query, urlOf } from '../api/client.js';
import { setClock } from './clock.js';

/** `refused`: the key may not open the stream. `ended`: the job has ended. */
export type StreamState = 'connecting' | 'live' | 'broken' | 'paused' | 'refused' | 'ended';

/** State of the stream of the page that is shown; null for a page without one. */
export const streamState = signal<StreamState | null>(null);

/** Whether the person has paused live updates. Then nothing is loaded on its own either. */
export const isPaused = signal(false);

/** Maximum number of renders a second: messages in between are collected. */
const RENDERS_PER_SECOND = 4;

/** After this time a connection counts as successful, and its next break starts the back-off again. */
const LASTED_MS = 10_000;

/** The longest time of a stream token, because each renewal interrupts the stream. It ends with the key, too. */
const TOKEN_SECONDS = 86_400;

export interface StreamOptions {
  /** Path of the stream, below `api/v1/`. */
  path: string;
  /** What the stream token is for. */
  subject: { spaceId: string } | { jobIds: string[] };
  /** Query of the next connection, without the token. */
  query: () => Query;
  /** Gets messages, at most four times a second. The first after each connection is `init`. */
  onMessages: (messages: StreamMessage[]) => void;
}

/**
 * Watch a stream until the returned function is called. It connects again after every break, with another stream token.
 *
 * WebSockets rather than server-sent events, because a browser opens only about six of the latter to a host.
 */
export function watch({ path, subject, query, onMessages }: StreamOptions): () => void {
  let socket: WebSocket | undefined;
  let isStopped = false;
  let attempts = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: StreamMessage[] = [];
  let flushing: ReturnType<typeof setTimeout> | undefined;
  let flushedAt = 0;

  const flush = () => {
    flushing = undefined;
    flushedAt = performance.now();
    const messages = waiting;
    waiting = [];
    if (messages.length > 0 && !isStopped) onMessages(messages);
  };
  const collect = (message: StreamMessage) => {
    waiting.push(message);
    const inMs = Math.max(0, flushedAt + 1000 / RENDERS_PER_SECOND - performance.now());
    flushing ??= setTimeout(flush, inMs);
  };

  /** The next call says so to the person. */
  const onRevoked = () => {
    streamState.value = 'refused';
    call('GET', 'keys/self').catch(() => undefined);
  };

  /** Connect again after a random time, so that pages that were disconnected together do not connect again together. */
  const connectLater = () => {
    streamState.value = 'broken';
    timer = setTimeout(connect, Math.random() * Math.min(30_000, 500 * 2 ** attempts++));
  };

  async function connect(): Promise<void> {
    try {
      const { token } = await call<StreamToken>('POST', 'stream-tokens', {
        body: { scope: 'jobs:read', expiresInSeconds: TOKEN_SECONDS, ...subject },
      });
      if (!isStopped) open(token);
    } catch (error) {
      if (isStopped) return;
      const isRefused = error instanceof CallError && error.status >= 400 && error.status < 500 && error.status !== 429;
      if (isRefused) streamState.value = 'refused';
      else connectLater();
    }
  }

  function open(token: string): void {
    const url = urlOf(path, { ...query(), token });
    url.protocol = url.protocol.replace('http', 'ws');
    socket = new WebSocket(url);
    let connectedAt = Number.POSITIVE_INFINITY;
    socket.onmessage = ({ data }) => {
      const message: StreamMessage = JSON.parse(data);
      if (message.type === 'init') {
        connectedAt = performance.now();
        streamState.value = 'live';
        setClock(message.timestamp);
      }
      collect(message);
    };
    socket.onclose = ({ code }) => {
      if (isStopped) return;
      if (performance.now() - connectedAt > LASTED_MS) attempts = 0;
      if (code === CLOSE_CODES.ended) streamState.value = 'ended';
      else if (code === CLOSE_CODES.keyRevoked) onRevoked();
      else connectLater();
    };
  }

  streamState.value = 'connecting';
  connect();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    clearTimeout(flushing);
    socket?.close();
    streamState.value = null;
  };
}
