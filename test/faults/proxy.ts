import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { ProxyLine } from './proxy-line.js';

/**
 * A network between one process of ours and Redis that can fail. Each process has one of its own, so that it alone can
 * be cut off:
 *
 *   installation.apis[0].proxy.set('drop');      // from now on nothing gets through, and nobody is told
 *   installation.apis[0].proxy.set('pass');      // heal it
 *   const lost = proxy.onNext(runs('ack'), { does: 'swallow reply', end: 'silence' });
 *   await lost.happened;
 */
export interface RedisProxy {
  port: number;
  readonly mode: Mode;
  set(mode: Mode): void;
  /** Do something about the next command that matches, on whichever connection it comes. */
  onNext(matches: (words: string[]) => boolean, what: Ambush): Ambushed;
  /** Lose the connections of now that channels are heard on: nothing gets through them, and nobody is told. */
  loseSubscribers(): void;
  /** Lose every connection that there is, and nobody is told; new ones work. */
  strand(): void;
  /** Reset the connections that have lost something, so that their owners need not find out. */
  cutLost(): void;
  /** Connections that processes hold to it now. */
  readonly open: number;
  /** Those of them that have lost something, which their owners have not found out yet. */
  readonly lost: number;
  stop(): Promise<void>;
}

/**
 * - `pass`: what comes is passed on.
 * - `{delayMs}`: it is passed on so much later, in both directions.
 * - `pause`: nothing is passed on, all is kept, and passed on once another mode is set; also a close.
 * - `drop`: bytes are thrown away, sockets stay open. A connection that has lost some stays like that for ever, since TCP
 *   never has a gap in what it passes on; new ones are accepted and lost.
 * - `reset`: all connections are reset, and each new one as soon as it is there.
 */
export type Mode = 'pass' | 'pause' | 'drop' | 'reset' | { delayMs: number };

export type Ambush =
  /** Only tell when it comes. */
  | { does: 'notice' }
  /**
   * Pass it on, and no byte of Redis on that connection any more: replies to what was sent before it are lost, too. Then
   * cut the connection, or leave it open, so that its owner finds out by its own time-out.
   */
  | { does: 'swallow reply'; end: 'cut' | 'silence' }
  /** The same, but Redis never gets it either. */
  | { does: 'lose request'; end: 'cut' | 'silence' };

export interface Ambushed {
  /** Resolves with the time, epoch milliseconds. For ever open when it never comes. */
  happened: Promise<number>;
  /** When it happened; null while it has not. */
  readonly at: number | null;
  /** Forget about it. */
  disarm(): void;
}

/** An ambush that is laid. */
export interface Laid {
  matches: (words: string[]) => boolean;
  what: Ambush;
  spring(): void;
}

/** What the lines of a proxy share. */
export interface Shared {
  mode: Mode;
  laid: Set<Laid>;
}

/** Stand in front of a port of 127.0.0.1. */
export async function startProxy(redisPort: number): Promise<RedisProxy> {
  const lines = new Set<ProxyLine>();
  const shared: Shared = { mode: 'pass', laid: new Set() };

  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (shared.mode === 'reset') return void socket.resetAndDestroy();
    const line = new ProxyLine(socket, redisPort, shared);
    lines.add(line);
    line.onGone(() => lines.delete(line));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    get mode() {
      return shared.mode;
    },
    set(mode) {
      shared.mode = mode;
      for (const line of [...lines]) mode === 'reset' ? line.reset() : line.goOn();
    },
    onNext(matches, what) {
      let at: number | null = null;
      let tell: (at: number) => void;
      const happened = new Promise<number>((resolve) => {
        tell = resolve;
      });
      const laid: Laid = {
        matches,
        what,
        spring() {
          shared.laid.delete(laid);
          at = Date.now();
          tell(at);
        },
      };
      shared.laid.add(laid);
      return {
        happened,
        get at() {
          return at;
        },
        disarm: () => void shared.laid.delete(laid),
      };
    },
    loseSubscribers() {
      for (const line of lines) if (line.subscribes) line.lose();
    },
    strand() {
      for (const line of lines) line.lose();
    },
    cutLost() {
      for (const line of [...lines]) if (line.isLost) line.reset();
    },
    get open() {
      return [...lines].filter((line) => line.isOpen).length;
    },
    get lost() {
      return [...lines].filter((line) => line.isOpen && line.isLost).length;
    },
    async stop() {
      for (const line of [...lines]) line.reset();
      server.close();
      await once(server, 'close');
    },
  };
}
