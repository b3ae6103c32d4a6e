import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { backoffMs, connect, type Ending, nextStepOf } from '@yardmaster/cli';
import { retryAfterMs } from '@yardmaster/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../support/until.js';

let server: WebSocketServer;
let stop: AbortController;
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  stop = new AbortController();
});
afterEach(async () => {
  jest.useRealTimers();
  stop.abort();
  for (const client of server.clients) client.terminate();
  server.close();
  await once(server, 'close');
});

/** Connect to a server that calls `act` for each client. */
function connectTo(act: (ws: WebSocket) => unknown, options: Partial<Parameters<typeof connect>[0]> = {}) {
  server.on('connection', act);
  const messages: string[] = [];
  const url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const ended = connect({
    url,
    token: null,
    onMessage: (text) => messages.push(text),
    signal: stop.signal,
    ...options,
  });
  return { messages, ended };
}

it('ends a stream connection that has been silent for longer than allowed', async () => {
  const { ended } = connectTo(() => undefined, { idleMs: 100 });
  expect(await ended).toEqual({ kind: 'closed', code: 1006, reason: 'no message or ping for 0 s', wasStable: false });
});

it('keeps a stream connection open while pings arrive', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  const pingSlowly = async (ws: WebSocket) => {
    for (let times = 0; times < 5; times++) {
      ws.ping();
      await once(ws, 'pong'); // The client has got the ping.
      jest.advanceTimersByTime(60_000 - 1);
    }
    ws.close(1000);
  };
  expect(await connectTo(pingSlowly, { idleMs: 60_000 }).ended).toMatchObject({ code: 1000 });
});

it('closes the stream connection with 1000 once no more messages are wanted', async () => {
  let code: number | null = null;
  const { ended, messages } = connectTo((ws) => {
    ws.send('init');
    ws.on('close', (received) => {
      code = received;
    });
  });
  await until(() => messages.length > 0);
  stop.abort();
  await ended;
  await until(() => code === 1000);
});

it('pauses a stream while its reader takes nothing, and keeps the connection open', async () => {
  let drain = () => {};
  const drained = new Promise<void>((resolve) => {
    drain = resolve;
  });
  const sent = 2_000;
  let flooding: WebSocket | undefined;
  const flood = (ws: WebSocket) => {
    if (flooding !== undefined) return;
    flooding = ws;
    for (let i = 0; i < sent; i++) ws.send('x'.repeat(10_000));
  };
  const { messages } = connectTo(flood, { waitForDrain: () => drained, idleMs: 500 });
  await until(() => messages.length > 0);

  // Another connection with the same limit gets nothing, and is ended in the meantime.
  await connectTo(() => undefined, { idleMs: 500 }).ended;
  expect(messages.length).toBeLessThan(sent);
  expect(flooding?.bufferedAmount).toBeGreaterThan(0);
  drain();
  await until(() => messages.length === sent);
});

const closed = (code: number, reason = ''): Ending => ({ kind: 'closed', code, reason, wasStable: true });
const refused = (status: number): Ending => ({ kind: 'refused', status, code: null, sentence: 'no', notBeforeMs: 7 });

it.each([1001, 1005, 1006, 1011, 1012, 1013])('reconnects a stream after close code %i', (code) => {
  expect(nextStepOf(closed(code))).toMatchObject({ kind: 'reconnect' });
});

it.each([429, 502, 503, 504])('reconnects a stream after HTTP %i, but not before the server allows it', (status) => {
  expect(nextStepOf(refused(status))).toEqual({ kind: 'reconnect', reason: 'no', notBeforeMs: 7 });
});

it.each([200, 301, 400, 401, 403, 404, 405, 426, 500])(
  'stops reconnecting a stream that is refused with HTTP %i',
  (status) => {
    expect(nextStepOf(refused(status))).toEqual({ kind: 'refused', sentence: 'no' });
  },
);

it.each([1008, 1009, 4000])(
  'stops reconnecting a stream that is refused with close code %i, or ended with 1000',
  (code) => {
    expect(nextStepOf(closed(code, 'because'))).toEqual({ kind: 'refused', sentence: 'because' });
    expect(nextStepOf(closed(code))).toEqual({ kind: 'refused', sentence: `the stream was closed with code ${code}` });
    expect(nextStepOf(closed(1000))).toEqual({ kind: 'ended' });
  },
);

it('waits a random time up to a limit that doubles from 0.5 s to 15 s before it reconnects', () => {
  const limits = [1, 2, 3, 4, 5, 6, 7, 2_000].map((failures) => backoffMs(failures, () => 1));
  expect(limits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  expect(backoffMs(3, () => 0)).toBe(0);
  expect(backoffMs(3, () => 0.25)).toBe(500);
});

it.each([
  [undefined, 0],
  ['3', 3_000],
  ['0', 0],
  ['99999999999', 3_600_000],
  ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['soon', 0],
])('reads the header Retry-After: %s as %i ms', (header, ms) => {
  expect(retryAfterMs(header, Date.parse('2026-01-01T00:00:00Z'), 3_600_000)).toBe(ms);
});
