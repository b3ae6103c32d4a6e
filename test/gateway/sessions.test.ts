import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { YardmasterError } from '@yardmaster/protocol';
import { createLogger } from '@yardmaster/runtime';
import type { Authenticator } from '@yardmaster/store';
import type { WebSocket } from 'ws';
import { formOf } from '../../apps/gateway/src/messages.js';
import { Session, type SessionOptions } from '../../apps/gateway/src/sockets/session.js';
import { Sessions } from '../../apps/gateway/src/sockets/sessions.js';
import { WebSocketTransport } from '../../apps/gateway/src/sockets/web-socket.js';

// These tests are about seconds and minutes, so they use a fake clock.

class FakeSocket extends EventEmitter {
  bufferedAmount = 0;
  readonly ping = jest.fn();
  readonly close = jest.fn();
  readonly terminate = jest.fn();
}

/** Ids of keys that Redis no longer contains, or an error when Redis does not respond. */
let invalidKeys: string[] | Error;
let sessions: Sessions;
beforeEach(async () => {
  jest.useFakeTimers();
  invalidKeys = [];
  const authenticator: Pick<Authenticator, 'onEnded' | 'oldestSecretsOf'> = {
    onEnded: () => () => undefined,
    async oldestSecretsOf(ids) {
      if (invalidKeys instanceof Error) throw invalidKeys;
      const invalid = new Set(invalidKeys);
      return new Map([...ids].map((id) => [id, invalid.has(id) ? Number.POSITIVE_INFINITY : 0]));
    },
  };
  sessions = new Sessions({ authenticator: authenticator as Authenticator, log: createLogger('test', 'silent') });
  await sessions.start();
});
afterEach(async () => {
  const closed = sessions.stop(0);
  await pass(1);
  await closed;
  jest.useRealTimers();
});

/**
 * Open a session.
 *
 * @param more options that differ from those of a full-scope stream
 */
function open(
  keyId: string | null = null,
  more: Partial<SessionOptions> = {},
): { session: Session; socket: FakeSocket } {
  const socket = new FakeSocket();
  const onClosed = (session: Session) => sessions.remove(session);
  const metrics = { sent: 0, closed: () => undefined };
  const ws = socket as unknown as WebSocket;
  const session = new Session(new WebSocketTransport(ws, new PassThrough()), {
    form: formOf('full', false, false),
    keyId,
    filter: null,
    onClosed,
    metrics,
    ...more,
  });
  sessions.add(session);
  socket.terminate.mockImplementation(() => socket.emit('close', 1006));
  return { session, socket };
}

const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1_000);

it('pings a client every 25 s and keeps it while it responds', async () => {
  const { socket } = open();
  socket.ping.mockImplementation(() => socket.emit('pong'));
  await pass(600);
  expect(socket.ping).toHaveBeenCalledTimes(24);
  expect(socket.terminate).not.toHaveBeenCalled();
});

it('disconnects a client that does not respond to two pings', async () => {
  const { socket } = open();
  await pass(74);
  expect(socket.ping).toHaveBeenCalledTimes(2);
  expect(socket.terminate).not.toHaveBeenCalled();
  await pass(1);
  expect(socket.terminate).toHaveBeenCalledTimes(1);
});

it('disconnects a client that does not respond to a close within 5 s', async () => {
  const { session, socket } = open();
  session.close(1008);
  expect(socket.close).toHaveBeenCalledWith(1008, 'API key is no longer valid');
  await pass(4);
  expect(socket.terminate).not.toHaveBeenCalled();
  await pass(1);
  expect(socket.terminate).toHaveBeenCalledTimes(1);
});

it.each([
  { visibility: 'full', status: 'dead', random: 0.9, seconds: 5 },
  { visibility: 'full', status: 'completed', random: 0.9, seconds: 5 },
  { visibility: 'progress', status: 'completed', random: 0.9, seconds: 5 },
  { visibility: 'progress', status: 'dead', random: 0, seconds: 5 },
  { visibility: 'progress', status: 'dead', random: 0.5, seconds: 32.5 },
  { visibility: 'progress', status: 'killed', random: 1, seconds: 60 },
] as const)(
  'closes a $visibility stream with 1000 after $seconds s when its job is $status and the random number is $random',
  async ({ visibility, status, random, seconds }) => {
    const { session, socket } = open(null, { form: formOf(visibility, false, false), random: () => random });
    session.end(status);
    await pass(seconds - 0.001);
    expect(socket.close).not.toHaveBeenCalled();
    await pass(0.001);
    expect(socket.close.mock.calls).toEqual([[1000, '']]);
  },
);

// It may take 5 s. For one of them, a process may use a cached key to open the stream.
it('closes the streams of a key within 4 s when its revocation was not announced', async () => {
  const [revoked, valid] = [open('revoked'), open('valid')];
  invalidKeys = ['revoked'];
  await pass(4);
  expect(revoked.socket.close).toHaveBeenCalledWith(1008, 'API key is no longer valid');
  expect(valid.socket.close).not.toHaveBeenCalled();
});

it('keeps the streams of a key while Redis does not respond, and closes them once it does', async () => {
  const { socket } = open('revoked');
  invalidKeys = new YardmasterError('UNAVAILABLE');
  await pass(20);
  expect(socket.close).not.toHaveBeenCalled();
  invalidKeys = ['revoked'];
  await pass(4);
  expect(socket.close).toHaveBeenCalledTimes(1);
});

it('closes the slowest clients with 1013 when more than 256 MB wait for all clients together', async () => {
  const clients = [100, 120, 90].map((megabytes) => {
    const { socket } = open();
    socket.bufferedAmount = megabytes * 1024 * 1024;
    return socket;
  });
  await pass(1);
  expect(clients.map(({ close }) => close.mock.calls)).toEqual([[], [[1013, 'client reads too slowly']], []]);
});
