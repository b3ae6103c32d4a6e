import { CLOSE_CODES } from '@yardmaster/protocol/close-codes';
import { type Connect, StreamEnded } from '@yardmaster/sdk/internal/client/follow';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';

/**
 * Open a stream over WebSocket, because browsers allow only about six server-sent event streams per host.
 *
 * @param url returns the URL of the next connection, with a token
 * @throws StreamEnded; YardmasterError with the close code as its cause; any error of `url`
 */
export function webSocket(url: () => Promise<URL>): Connect {
  return async function* (_lastId, signal) {
    const address = String(await url()).replace('http', 'ws');
    signal.throwIfAborted();
    const socket = new WebSocket(address);
    let end: unknown;
    let abort = () => {};
    const messages = new ReadableStream({
      start(queue) {
        const close = (why: unknown) => {
          if (end === undefined) queue.close();
          end ??= why;
        };
        abort = () => close(signal.reason);
        signal.addEventListener('abort', abort);
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
      signal.removeEventListener('abort', abort);
      socket.close();
    }
  };
}

function endOf(code: number): Error {
  if (code === CLOSE_CODES.ended) return new StreamEnded();
  if (code === CLOSE_CODES.keyRevoked)
    return new YardmasterError('UNAUTHENTICATED', 'The key is no longer valid', { status: 401, cause: code });
  return new YardmasterError('NO_RESPONSE', 'The connection was closed', { cause: code }); // Possibly because the token expired.
}
