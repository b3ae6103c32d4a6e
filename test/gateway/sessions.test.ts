import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { YardmasterError } from '@yardmaster/protocol';
import { createLogger } from '@yardmaster/runtime';
import type { KeyRing } from '@yardmaster/store';
import type { WebSocket } from 'ws';
import { Session, type SessionOptions } from '../../apps/gateway/src/session.js';
import { Sessions } from '../../apps/gateway/src/sessions.js';

// What happens after seconds and minutes, by a clock of the test's own.

class FakeSocket extends EventEmitter {
  bufferedAmount = 0;
  readonly ping = jest.fn();
  readonly close = jest.fn();
  readonly terminate = jest.fn();
}

/** Ids of keys that Redis does not have any more; or an error, when it does not answer. */
let invalidKeys: string[] | Error;
let sessions: Sessions;
beforeEach(() => {
  jest.useFakeTimers();
  invalidKeys = [];
  const keyRing: Pick<KeyRing, 'onRevoked' | 'invalidOf'> = {
    onRevoked: () => () => undefined,
    async invalidOf(ids) {
      if (invalidKeys instanceof Error) throw invalidKeys;
      const invalid = new Set(invalidKeys);
      return [...ids].filter((id) => invalid.has(id));
    },
  };
  sessions = new Sessions({ keyRing: keyRing as KeyRing, log: createLogger('test', 'silent') });
});
afterEach(async () => {
  const closed = sessions.closeAll(0);
  await pass(1);
  await closed;
  jest.useRealTimers();
});

/** @param more options that differ from those of a full stream */
function open(
  keyId: string | null = null,
  more: Partial<SessionOptions> = {},
): { session: Session; socket: FakeSocket } {
  const socket = new FakeSocket();
  const onGone = (session: Session) => sessions.remove(session);
  const metrics = { sent: 0, closed: () => undefined };
  const ws = socket as unknown as WebSocket;
  const session = new Session(ws, new PassThrough(), { audience: 'full', keyId, onGone, metrics, ...more });
  sessions.add(session);
  socket.terminate.mockImplementation(() => socket.emit('close', 1006));
  return { session, socket };
}

const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1_000);

it('pings a client every 25 s and keeps it while it answers', async () => {
  const { socket } = open();
  socket.ping.mockImplementation(() => socket.emit('pong'));
  await pass(600);
  expect(socket.ping).toHaveBeenCalledTimes(24);
  expect(socket.terminate).not.toHaveBeenCalled();
});

it('cuts off a client that leaves two pings unanswered', async () => {
  const { socket } = open();
  await pass(74);
  expect(socket.ping).toHaveBeenCalledTimes(2);
  expect(socket.terminate).not.toHaveBeenCalled();
  await pass(1);
  expect(socket.terminate).toHaveBeenCalledTimes(1);
});

it('cuts off a client that does not answer a close within 5 s', async () => {
  const { session, socket } = open();
  session.close(1008);
  expect(socket.close).toHaveBeenCalledWith(1008, 'API key is no longer valid');
  await pass(4);
  expect(socket.terminate).not.toHaveBeenCalled();
  await pass(1);
  expect(socket.terminate).toHaveBeenCalledTimes(1);
});

it.each([
  { audience: 'full', status: 'dead', random: 0.9, seconds: 5 },
  { audience: 'full', status: 'completed', random: 0.9, seconds: 5 },
  { audience: 'progress', status: 'completed', random: 0.9, seconds: 5 },
  { audience: 'progress', status: 'dead', random: 0, seconds: 5 },
  { audience: 'progress', status: 'dead', random: 0.5, seconds: 32.5 },
  { audience: 'progress', status: 'killed', random: 1, seconds: 60 },
] as const)(
  'closes a $audience stream with 1000 in $seconds s when its job is $status, and the random number is $random',
  async ({ audience, status, random, seconds }) => {
    const { session, socket } = open(null, { audience, random: () => random });
    session.status = status;
    session.end();
    await pass(seconds - 0.001);
    expect(socket.close).not.toHaveBeenCalled();
    await pass(0.001);
    expect(socket.close.mock.calls).toEqual([[1000, '']]);
  },
);

// Within 5 s (contract §5), of which a key may be believed for one before its stream is opened.
it('closes the streams of a key within 4 s when its revocation was not announced', async () => {
  const [lost, kept] = [open('revoked'), open('valid')];
  invalidKeys = ['revoked'];
  await pass(4);
  expect(lost.socket.close).toHaveBeenCalledWith(1008, 'API key is no longer valid');
  expect(kept.socket.close).not.toHaveBeenCalled();
});

it('keeps the streams of a key while Redis does not answer, and closes them when it is back', async () => {
  const { socket } = open('revoked');
  invalidKeys = new YardmasterError('UNAVAILABLE');
  await pass(20);
  expect(socket.close).not.toHaveBeenCalled();
  invalidKeys = ['revoked'];
  await pass(4);
  expect(socket.close).toHaveBeenCalledTimes(1);
});

it('closes the slowest clients with 1013 when more than 256 MB wait for all together', async () => {
  const clients = [100, 120, 90].map((megabytes) => {
    const { socket } = open();
    socket.bufferedAmount = megabytes * 1024 * 1024;
    return socket;
  });
  await pass(1);
  expect(clients.map(({ close }) => close.mock.calls)).toEqual([[], [[1013, 'client reads too slowly']], []]);
});
