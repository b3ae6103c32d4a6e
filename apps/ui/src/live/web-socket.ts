import { CLOSE_CODES } from '@yardmaster/protocol/close-codes';
import { type Connect, StreamEnded } from '@yardmaster/sdk/internal/client/follow';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';

/** Close codes after which another connection would be refused. */
const FINAL_CODES: Record<number, string> = {
  [CLOSE_CODES.keyRevoked]: 'The key is no longer valid',
  [CLOSE_CODES.tokenExpired]: 'The token has expired',
};

/**
 * Open a stream as a WebSocket, because a browser opens only about six streams of server-sent events to a host.
 *
 * @param url returns the URL of the next connection, with a token
 * @throws StreamEnded; YardmasterError with the close code as its cause; what `url` throws
 */
export function webSocket(url: () => Promise<URL>): Connect {
  return async function* (_lastId, signal) {
    const socket = new WebSocket(String(await url()).replace('http', 'ws'));
    let end: unknown;
    const messages = new ReadableStream({
      start(queue) {
        const close = (why: unknown) => {
          if (end === undefined) queue.close();
          end ??= why;
        };
        signal.addEventListener('abort', () => close(signal.reason));
        socket.onclose = ({ code }) => close(endOf(code));
        socket.onmessage = ({ data }) => end === undefined && queue.enqueue(JSON.parse(data));
      },
    });
    const reader = messages.getReader();
    try {
      for (;;) {
        const { done, value: message } = await reader.read();
        if (done) throw end;
        yield { id: null, message };
      }
    } finally {
      socket.close();
    }
  };
}

function endOf(code: number): Error {
  if (code === CLOSE_CODES.ended) return new StreamEnded();
  const reason = FINAL_CODES[code];
  if (reason === undefined) return new YardmasterError('NO_RESPONSE', 'The connection was closed', { cause: code });
  return new YardmasterError('UNAUTHENTICATED', reason, { status: 401, cause: code });
}
