import { signal } from '@preact/signals';
import type { StreamMessage, StreamToken } from '@yardmaster/protocol';
import { follow } from '@yardmaster/sdk/internal/client/follow';
import type { YardmasterError } from '@yardmaster/sdk/internal/errors';
import { useEffect } from 'preact/hooks';
import { call, type Query, urlOf } from '../api/client.js';
import { setClock } from './clock.js';
import { webSocket } from './web-socket.js';

/** `refused`: the key may not open the stream. `ended`: the job has ended. */
export type StreamState = 'connecting' | 'live' | 'broken' | 'paused' | 'refused' | 'ended';

/** State of the stream of the current page; null for a page without one. */
export const streamState = signal<StreamState | null>(null);

/** Whether the user has paused live updates. Periodic loads also pause. */
export const isPaused = signal(false);

/** Maximum renders per second. Messages in between are batched. */
const RENDERS_PER_SECOND = 4;

/** Lifetime of a stream token: the maximum, because each renewal interrupts the stream. It also ends with the key. */
const TOKEN_SECONDS = 86_400;

interface StreamOptions {
  /** Path of the stream, relative to `api/v1/`. */
  path: string;
  /** What the stream token allows to watch. */
  subject: { spaceId: string } | { jobIds: string[] };
  /** Return the query of the next connection, without the token. */
  query: () => Query;
  /** Called with messages, at most four times per second. The first message of each connection is `init`. */
  onMessages: (messages: StreamMessage[]) => void;
}

/**
 * Watch a stream while a component is mounted and live updates are not paused.
 *
 * @param key identifies the stream; a different key opens a different stream
 * @param options the stream; null for none
 */
export function useStream(key: string, options: StreamOptions | null): void {
  const paused = isPaused.value;
  useEffect(() => {
    if (options === null) return;
    const end = paused ? undefined : watch(options);
    streamState.value = paused ? 'paused' : 'connecting';
    return () => {
      end?.();
      streamState.value = null;
    };
  }, [key, paused, options === null]);
}

/** Watch a stream until the returned function is called. Each connection gets a new stream token. */
function watch({ path, subject, query, onMessages }: StreamOptions): () => void {
  let waiting: StreamMessage[] = [];
  let flushing: ReturnType<typeof setTimeout> | undefined;
  let flushedAt = 0;

  const flush = () => {
    flushing = undefined;
    flushedAt = performance.now();
    const messages = waiting;
    waiting = [];
    onMessages(messages);
  };

  const receive = (message: StreamMessage) => {
    if (message.type === 'init') {
      streamState.value = 'live';
      setClock(message.timestamp);
    }
    waiting.push(message);
    const inMs = Math.max(0, flushedAt + 1000 / RENDERS_PER_SECOND - performance.now());
    flushing ??= setTimeout(flush, inMs);
  };

  const url = async () => {
    const body = { scope: 'jobs:read', expiresInSeconds: TOKEN_SECONDS, ...subject };
    const { token } = await call<StreamToken>('POST', 'stream-tokens', { body });
    return urlOf(path, { ...query(), token });
  };
  const stop = new AbortController();
  const onDisconnect = () => (streamState.value = 'broken');
  const stream = follow(webSocket(url), { isOfJob: false, signal: stop.signal, onDisconnect });

  async function run(): Promise<void> {
    try {
      for await (const message of stream) receive(message as StreamMessage);
      streamState.value = 'ended';
    } catch (error) {
      if (stop.signal.aborted) return;
      streamState.value = 'refused';
      // This call is refused as well, which signs the user out with the reason.
      if ((error as YardmasterError).isOfKey) call('GET', 'keys/self').catch(() => undefined);
    }
  }
  void run();
  return () => {
    stop.abort();
    clearTimeout(flushing);
  };
}
