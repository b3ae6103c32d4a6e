import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connect, type Ending, verdictOf } from '@yardmaster/cli';
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
  stop.abort();
  for (const client of server.clients) client.terminate();
  server.close();
  await once(server, 'close');
});

/** Connect to a server that does this to each client. */
function connectTo(act: (ws: WebSocket) => void, options: Partial<Parameters<typeof connect>[0]> = {}) {
  server.on('connection', act);
  const messages: string[] = [];
  const url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const ended = connect({ url, onMessage: (text) => messages.push(text), signal: stop.signal, ...options });
  return { messages, ended };
}

it('is given up when nothing was heard for too long', async () => {
  const { ended } = connectTo(() => undefined, { silenceMs: 100 });
  expect(await ended).toEqual({ kind: 'closed', code: 1006, reason: 'nothing heard for 0 s', wasGood: false });
});

it('is kept by pings alone', async () => {
  const { ended } = connectTo(
    (ws) => {
      let pings = 0;
      const timer = setInterval(() => {
        if (++pings < 20) return ws.ping();
        clearInterval(timer);
        ws.close(1000);
      }, 50);
    },
    { silenceMs: 500 },
  );
  expect(await ended).toMatchObject({ code: 1000 });
});

it('is closed by us with 1000 when nothing more is wanted', async () => {
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

it('is read no further while nobody takes what came, for however long', async () => {
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
  const { messages } = connectTo(flood, { drained: () => drained, silenceMs: 100 });
  await until(() => messages.length > 0);

  // One of the same patience that hears nothing is given up meanwhile.
  await connectTo(() => undefined, { silenceMs: 100 }).ended;
  expect(messages.length).toBeLessThan(sent);
  expect(flooding?.bufferedAmount).toBeGreaterThan(0);
  drain();
  await until(() => messages.length === sent);
});

describe('what the end of a connection means', () => {
  const closed = (code: number, reason = ''): Ending => ({ kind: 'closed', code, reason, wasGood: true });
  const refused = (status: number): Ending => ({ kind: 'refused', status, sentence: 'no', notBeforeMs: 7 });

  it.each([1001, 1005, 1006, 1011, 1012, 1013])('close code %i: connect again', (code) => {
    expect(verdictOf(closed(code))).toMatchObject({ kind: 'again' });
  });

  it.each([429, 502, 503, 504])('HTTP %i: connect again, not before the server wants it', (status) => {
    expect(verdictOf(refused(status))).toEqual({ kind: 'again', reason: 'no', notBeforeMs: 7 });
  });

  it.each([200, 301, 400, 401, 403, 404, 405, 426, 500])('HTTP %i: refused, with what the server said', (status) => {
    expect(verdictOf(refused(status))).toEqual({ kind: 'refused', sentence: 'no' });
  });

  it('close code 1000: over', () => {
    expect(verdictOf(closed(1000))).toEqual({ kind: 'over' });
  });

  it.each([1008, 1009, 4000])('close code %i: refused', (code) => {
    expect(verdictOf(closed(code, 'because'))).toEqual({ kind: 'refused', sentence: 'because' });
    expect(verdictOf(closed(code))).toEqual({
      kind: 'refused',
      sentence: `the stream was closed with code ${code}`,
    });
  });
});
