import { WebSocket } from 'ws';
import { USER_AGENT } from '../version.js';
import { type Refusal, readRefusal } from './send.js';

/** The server pings every 25 s. After two missing pings the connection is dead, whatever TCP reports. */
const IDLE_MS = 60_000;

/** How long the server may take to respond to the upgrade. */
const HANDSHAKE_MS = 15_000;

/** How long the server may take to respond to a close. */
const CLOSE_MS = 1_000;

/** A connection that sent its init and lived this long was stable. After it, the pauses start from the shortest again. */
const STABLE_AFTER_MS = 5_000;

export interface ConnectionOptions {
  url: URL;
  /** API key or stream token; null for none. */
  token: string | null;
  /** Called with each message. */
  onMessage: (text: string) => void;
  /** Called after each message. The reader can take more once the promise resolves; null: at once. */
  waitForDrain?: (() => Promise<unknown> | null) | undefined;
  /** Aborted when no more messages are wanted. The connection is then closed with 1000. */
  signal: AbortSignal;
  /** Milliseconds without message or ping after which the connection is ended. Default 60,000. */
  idleMs?: number | undefined;
}

/** How a connection ended: it was refused and so never opened, or it was closed. */
export type Ending =
  | ({ kind: 'refused' } & Refusal)
  | {
      kind: 'closed';
      /** Close code; 1006 for a connection that broke, or could not be made. */
      code: number;
      /** Text of the close frame, or the cause of the broken connection. It is not printable yet. */
      reason: string;
      /** Whether the connection sent its init and lived for some seconds. */
      wasStable: boolean;
    };

/** Open one connection and pass on its messages until it ends. Never rejects. */
export function connect(options: ConnectionOptions): Promise<Ending> {
  const { url, token, onMessage, waitForDrain, signal, idleMs = IDLE_MS } = options;
  const headers = { 'user-agent': USER_AGENT, ...(token !== null && { 'x-api-key': token }) };
  const ws = new WebSocket(url, { handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false, headers });
  let idle: NodeJS.Timeout | undefined;
  let broken = '';
  let initAt = Number.POSITIVE_INFINITY;

  /** Restart the timer, but not during a pause, in which messages that were read before it may still arrive. */
  function restartIdle(): void {
    if (ws.isPaused) return;
    clearTimeout(idle);
    idle = setTimeout(() => {
      broken = `no message or ping for ${Math.round(idleMs / 1000)} s`;
      ws.terminate();
    }, idleMs);
  }

  function receive(text: string): void {
    restartIdle();
    initAt = Math.min(initAt, performance.now());
    onMessage(text);
    const wait = ws.isPaused ? null : (waitForDrain?.() ?? null);
    if (wait !== null) pauseUntil(wait);
  }

  /** Leave messages on the server while the reader is busy. The server coalesces them, and finally closes with 1013. */
  function pauseUntil(wait: Promise<unknown>): void {
    ws.pause();
    clearTimeout(idle); // No message arrives while nothing is read.
    void wait.then(() => {
      ws.resume();
      if (ws.readyState === WebSocket.OPEN) restartIdle();
    });
  }

  function closeNormally(): void {
    ws.close(1000);
    // A paused socket would not even read the response.
    setTimeout(() => ws.terminate(), ws.isPaused ? 0 : CLOSE_MS).unref();
  }

  return new Promise((resolve) => {
    ws.on('open', restartIdle);
    ws.on('ping', restartIdle);
    ws.on('message', (data) => receive(data.toString()));
    ws.on('unexpected-response', (_, response) => {
      // Get the socket now, because request and response no longer have it once the response is read.
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
      clearTimeout(idle);
      signal.removeEventListener('abort', closeNormally);
      const wasStable = performance.now() - initAt >= STABLE_AFTER_MS;
      resolve({ kind: 'closed', code, reason: reason.toString() || broken, wasStable });
    });
    if (signal.aborted) closeNormally();
    else signal.addEventListener('abort', closeNormally);
  });
}
