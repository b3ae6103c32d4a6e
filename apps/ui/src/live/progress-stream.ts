import type { Progress, ProgressMessage } from '@yardmaster/protocol';
import { CLOSE_CODES } from '@yardmaster/protocol/close-codes';

/** Why a stream is over, by its close code. */
const CLOSED: Record<number, string> = {
  [CLOSE_CODES.ended]: 'This job has ended.',
  [CLOSE_CODES.keyRevoked]: 'This link is no longer valid.',
  [CLOSE_CODES.tokenExpired]: 'This link has expired.',
};

/** Why a stream is refused, by the status of the response. */
const REFUSED: Record<number, string> = {
  401: 'This link is not valid, or has expired.',
  403: 'This job cannot be watched with this link.',
  404: 'This job does not exist any more.',
};

/** How long the service may take to say why it refuses a stream. */
const PROBE_MS = 10_000;

interface Listeners {
  onProgress: (progress: Progress) => void;
  onCompleted: () => void;
  /** Gets what to say about the connection; empty while it is open. */
  onState: (text: string) => void;
}

/**
 * Watch the progress of a job with a token of its own.
 *
 * @param url of the stream, with the token
 * @returns a function that ends it
 */
export function watchProgress(url: URL, { onProgress, onCompleted, onState }: Listeners): () => void {
  let socket: WebSocket;
  let timer: ReturnType<typeof setTimeout>;
  let attempts = 0;
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    clearTimeout(timer);
    socket.close();
  };
  const connect = () => {
    let isOpen = false;
    socket = new WebSocket(String(url).replace('http', 'ws'));
    socket.onmessage = ({ data }) => {
      const message: ProgressMessage = JSON.parse(data);
      isOpen = true;
      attempts = 0;
      onState('');
      const progress = message.type === 'init' ? message.progress : message.type === 'progress' && message.data;
      if (progress) onProgress(progress);
      if (message.type !== 'completed') return;
      onCompleted();
      end();
    };
    socket.onclose = async ({ code }) => {
      const said = CLOSED[code] ?? (isOpen ? undefined : await refusalOf(url, ended.signal));
      if (ended.signal.aborted) return;
      onState(said ?? 'Connecting again …');
      if (said === undefined) timer = setTimeout(connect, Math.random() * Math.min(30_000, 500 * 2 ** attempts++));
    };
  };
  connect();
  return end;
}

/** Say why a stream is refused, which a browser does not report for a WebSocket; undefined when it may be tried again. */
async function refusalOf(url: URL, ended: AbortSignal): Promise<string | undefined> {
  const request = new AbortController();
  try {
    const signal = AbortSignal.any([request.signal, ended, AbortSignal.timeout(PROBE_MS)]);
    const { status } = await fetch(url, { headers: { accept: 'text/event-stream' }, signal });
    return REFUSED[status];
  } catch {
    return undefined;
  } finally {
    request.abort(); // It may be a stream.
  }
}
