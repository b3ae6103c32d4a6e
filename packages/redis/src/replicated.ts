import { YardmasterError } from '@yardmaster/protocol';
import type { Redis } from 'ioredis';
import { isCluster, type RedisClient, slotOf } from './client.js';
import { withRedisErrors } from './errors.js';

/** Maximum number of connections. Each is busy for two round trips, one of which includes the replica. */
const MAX_CONNECTIONS = 32;

/** How long a barrier is kept after its last use, milliseconds. */
const BARRIER_MS = 30 * 24 * 3_600_000;

/** A write that Redis has carried out. */
export interface Written<T> {
  reply: T;
  /** Resolves once a replica has the write. Rejects with UNAVAILABLE if none has confirmed it in time. */
  confirmed: Promise<void>;
}

/**
 * Connections for writes that a replica must have before their callers get a response. WAIT confirms only the writes of its
 * own connection, and blocks it. So there are several connections, opened on demand, each with one write at a time.
 */
export class ReplicatedConnections {
  readonly #create: () => RedisClient;
  readonly #withinMs: number;
  readonly #all: RedisClient[] = [];
  readonly #idle: RedisClient[] = [];
  readonly #waiting: ((connection: RedisClient) => void)[] = [];

  /**
   * @param create creates a connection for commands
   * @param withinMs how long a replica may take to confirm a write; shorter than the timeout of a command
   */
  constructor(create: () => RedisClient, withinMs: number) {
    this.#create = create;
    this.#withinMs = withinMs;
  }

  /**
   * Make a write.
   *
   * @param barrier key in the slot of the write. Its expiration is set before WAIT, because the write may have merely found
   *   what another connection wrote a moment ago
   * @param send sends the write on a connection
   * @throws any error of `send`; UNAVAILABLE, with nothing sent, if all connections stay busy
   */
  async write<T>(barrier: string, send: (redis: RedisClient) => Promise<T>): Promise<Written<T>> {
    const connection = await this.#take();
    try {
      const reply = await send(connection);
      // WAIT must follow immediately on the same connection: a new connection would have nothing to wait for.
      const confirmed = this.#confirm(connection, barrier).finally(() => this.#release(connection));
      return { reply, confirmed };
    } catch (error) {
      this.#release(connection);
      throw error;
    }
  }

  async #confirm(connection: RedisClient, barrier: string): Promise<void> {
    const node = nodeOf(connection, barrier);
    if (node === undefined) throw withUnavailable('no primary has the slot of the write');
    const commands = node.pipeline().pexpire(barrier, BARRIER_MS).wait(1, this.#withinMs).exec();
    const replies = await withRedisErrors(commands);
    const [wasThere, replicas] = (replies ?? []).map(([error, reply]) => {
      if (error !== null) throw withUnavailable(error);
      return reply as number;
    });
    if (wasThere === 0) {
      await withRedisErrors(node.set(barrier, '', 'PX', BARRIER_MS));
      return this.#confirm(connection, barrier);
    }
    if (replicas === undefined || replicas < 1) throw withUnavailable('no replica has confirmed the write in time');
  }

  async #take(): Promise<RedisClient> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#all.length === MAX_CONNECTIONS) return this.#wait();
    const connection = this.#create();
    this.#all.push(connection);
    await connection.connect().catch(() => undefined); // ioredis keeps trying; writes are refused until it is connected.
    return connection;
  }

  /** Wait for a connection. Without a replica, each write holds its connection for as long as a replica may take. */
  #wait(): Promise<RedisClient> {
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        this.#waiting.shift(); // All have the same timeout, so this is the oldest.
        reject(withUnavailable('all connections are waiting for a replica'));
      }, this.#withinMs);
      this.#waiting.push((connection) => {
        clearTimeout(timeout);
        resolve(connection);
      });
    });
  }

  #release(connection: RedisClient): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next(connection);
  }

  /** Close all connections. */
  end(): void {
    for (const connection of this.#all) connection.disconnect();
  }
}

const withUnavailable = (cause: Error | string) =>
  new YardmasterError('UNAVAILABLE', undefined, {}, { cause: typeof cause === 'string' ? new Error(cause) : cause });

/** Return the connection to the primary that has the slot of a key. */
function nodeOf(connection: RedisClient, key: string): Redis | undefined {
  if (!isCluster(connection)) return connection;
  const [primary] = connection.slots[slotOf(key)] ?? [];
  return connection.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === primary);
}
