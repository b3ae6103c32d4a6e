import { WebSocket } from 'ws';
import { type Refusal, readRefusal } from './refusal.js';

/** The server pings every 25 s. After two missing pings the connection is dead, whatever TCP reports. */
const SILENCE_MS = 60_000;

/** How long the server may take to respond to the upgrade. */
const HANDSHAKE_MS = 15_000;

/** How long the server may take to respond to a close. */
const CLOSE_MS = 1_000;

/** A connection that sent its init and lived this long was good. After it, the pauses start from the shortest again. */
const GOOD_AFTER_MS = 5_000;

export interface ConnectionOptions {
  url: URL;
  /** Called with each message. */
  onMessage: (text: string) => void;
  /** Called after each message. The reader can take more once the promise resolves; null: at once. */
  drained?: (() => Promise<unknown> | null) | undefined;
  /** Aborted when no more messages are wanted. The connection is then closed with 1000. */
  signal: AbortSignal;
  /** Milliseconds without message or ping after which the connection is ended. Default 60 000. */
  silenceMs?: number | undefined;
}

/** How a connection ended: it was refused and so never opened, or it was closed. */
export type Ending =
  | ({ kind: 'refused' } & Refusal)
  | {
      kind: 'closed';
      /** Close code; 1006 for a connection that broke, or could not be made. */
      code: number;
      /** Text of the close frame, or what broke the connection. Not printable yet. */
      reason: string;
      /** Whether the connection sent its init and lived for some seconds. */
      wasGood: boolean;
    };

/** Open one connection and pass on its messages until it ends. Never rejects. */
export function connect(options: ConnectionOptions): Promise<Ending> {
  const { url, onMessage, drained, signal, silenceMs = SILENCE_MS } = options;
  const ws = new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false });
  const watchdog = new Watchdog(silenceMs, () => breakOff(`nothing heard for ${Math.round(silenceMs / 1000)} s`));
  let broken = '';
  let initAt = Number.POSITIVE_INFINITY;

  function breakOff(reason: string): void {
    broken = reason;
    ws.terminate();
  }

  /** Feed the watchdog, but not during a pause, because what was read before the pause may still come during it. */
  const heard = () => {
    if (!ws.isPaused) watchdog.feed();
  };

  function take(text: string): void {
    heard();
    initAt = Math.min(initAt, performance.now());
    onMessage(text);
    const wait = ws.isPaused ? null : (drained?.() ?? null);
    if (wait !== null) pauseUntil(wait);
  }

  /** Let the server keep what the reader cannot take. The server coalesces it, and at last closes with 1013. */
  function pauseUntil(wait: Promise<unknown>): void {
    ws.pause();
    watchdog.rest(); // Nothing comes while nothing is read.
    void wait.then(() => {
      ws.resume();
      if (ws.readyState === WebSocket.OPEN) watchdog.feed();
    });
  }

  function closeByUs(): void {
    ws.close(1000);
    // A paused socket would not even read the response.
    setTimeout(() => ws.terminate(), ws.isPaused ? 0 : CLOSE_MS).unref();
  }

  return new Promise((resolve) => {
    ws.on('open', heard);
    ws.on('ping', heard);
    ws.on('message', (data) => take(data.toString()));
    ws.on('unexpected-response', (_, response) => {
      // Take the socket now, because request and response no longer have it once the response is read.
      const { socket } = response;
      void readRefusal(response).then((refusal) => {
        // A proxy keeps the socket open for the next request, and an open socket keeps this process from ending.
        socket.destroy();
        resolve({ kind: 'refused', ...refusal });
      });
    });
    ws.on('error', (error: NodeJS.ErrnoException) => {
      broken ||= error.code ?? error.message; // `close` follows.
    });
    ws.on('close', (code, reason) => {
      watchdog.rest();
      signal.removeEventListener('abort', closeByUs);
      const wasGood = performance.now() - initAt >= GOOD_AFTER_MS;
      resolve({ kind: 'closed', code, reason: reason.toString() || broken, wasGood });
    });
    if (signal.aborted) closeByUs();
    else signal.addEventListener('abort', closeByUs);
  });
}

/** A timer that calls `bark` when it was not fed for too long. */
class Watchdog {
  readonly #afterMs: number;
  readonly #bark: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(afterMs: number, bark: () => void) {
    this.#afterMs = afterMs;
    this.#bark = bark;
  }

  feed(): void {
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(this.#bark, this.#afterMs);
  }

  rest(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
