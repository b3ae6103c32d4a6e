import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Interception, type Mode, ProxyConnection, type Shared, type Trap } from './proxy-connection.js';

/**
 * A network between one process and Redis that can fail.
 *
 *   const proxy = await startProxy(redis.port);
 *   proxy.set('drop');      // from now on nothing gets through, and no end of a connection is reported
 *   proxy.set('pass');
 *   const lost = proxy.intercept(isAck, { action: 'lose reply', end: 'silence' });
 *   await lost.happened;
 */
export interface RedisProxy {
  port: number;
  set(mode: Mode): void;
  /** Intercept the next command that matches, on any connection. */
  intercept(matches: (words: string[]) => boolean, what: Interception): Intercepted;
  /** Lose the present connections that have subscribed: nothing gets through, and no end is reported. */
  loseSubscribers(): void;
  /** Lose all present connections in the same way. New ones work. */
  loseAll(): void;
  /** Reset the lost connections, so that their owners notice at once. */
  resetLost(): void;
  /** Number of open connections that are lost, which their owner has not noticed yet. */
  readonly lost: number;
  stop(): Promise<void>;
}

export interface Intercepted {
  /** Resolves when it happens. */
  happened: Promise<void>;
  /** When it happened, epoch milliseconds; null before. */
  readonly at: number | null;
  /** Stop intercepting. */
  cancel(): void;
}

/** Listen on a port of 127.0.0.1, and pass all connections on to Redis. */
export async function startProxy(redisPort: number): Promise<RedisProxy> {
  const connections = new Set<ProxyConnection>();
  const shared: Shared = { mode: 'pass', traps: new Set() };

  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const connection = new ProxyConnection(socket, redisPort, shared);
    connections.add(connection);
    connection.onGone(() => connections.delete(connection));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    set(mode) {
      shared.mode = mode;
    },
    intercept(matches, what) {
      let at: number | null = null;
      let report: () => void;
      const happened = new Promise<void>((resolve) => {
        report = resolve;
      });
      const trap: Trap = {
        matches,
        what,
        spring() {
          shared.traps.delete(trap);
          at = Date.now();
          report();
        },
      };
      shared.traps.add(trap);
      return {
        happened,
        get at() {
          return at;
        },
        cancel: () => void shared.traps.delete(trap),
      };
    },
    loseSubscribers() {
      for (const each of connections) if (each.subscribes) each.lose();
    },
    loseAll() {
      for (const each of connections) each.lose();
    },
    resetLost() {
      for (const each of [...connections]) if (each.isLost) each.reset();
    },
    get lost() {
      return [...connections].filter(({ isOpen, isLost }) => isOpen && isLost).length;
    },
    async stop() {
      for (const each of [...connections]) each.reset();
      server.close();
      await once(server, 'close');
    },
  };
}
