import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { ProxyConnection } from './proxy-connection.js';

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

/**
 * - `pass`: bytes are passed on.
 * - `{ delayMs }`: bytes are passed on later, in both directions.
 * - `drop`: bytes are dropped, and sockets stay open. A connection that has lost bytes stays lost, since TCP has no
 *   gaps; new connections are accepted and lost.
 */
export type Mode = 'pass' | 'drop' | { delayMs: number };

export type Interception =
  | { action: 'observe' }
  /**
   * `lose reply`: pass the command on, but no more bytes of Redis on that connection; replies to earlier commands are also
   * lost. `lose request`: Redis does not get the command either. Then cut the connection, or stay silent until its owner
   * gives up.
   */
  | { action: 'lose reply' | 'lose request'; end: 'cut' | 'silence' };

export interface Intercepted {
  /** Resolves when it happens. */
  happened: Promise<void>;
  /** When it happened, epoch milliseconds; null before. */
  readonly at: number | null;
  /** Stop intercepting. */
  cancel(): void;
}

/** An interception that waits for its command. */
export interface Trap {
  matches: (words: string[]) => boolean;
  what: Interception;
  spring(): void;
}

/** What the connections of a proxy share. */
export interface Shared {
  mode: Mode;
  traps: Set<Trap>;
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
