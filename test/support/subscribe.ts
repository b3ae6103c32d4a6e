import type { Redis } from 'ioredis';

/**
 * Subscribe over a connection that may be just being made.
 *
 * ioredis lets SUBSCRIBE go ahead of the INFO by which it sees that a new connection is ready, is then refused the INFO,
 * and breaks the connection off, with what was published meanwhile. A PING waits until the connection is ready.
 */
export async function subscribe(subscriber: Redis, ...channels: string[]): Promise<void> {
  await subscriber.ping();
  await subscriber.subscribe(...channels);
}
