import { presenceChannelOf } from '@yardmaster/store';
import type { Redis } from 'ioredis';

/**
 * Subscribe over a connection that may not be ready yet.
 *
 * ioredis may send SUBSCRIBE before the INFO by which it checks that a new connection is ready. Redis then refuses the
 * INFO, and ioredis closes the connection, so that messages are lost. A PING waits until the connection is ready.
 */
export async function subscribe(subscriber: Redis, ...channels: string[]): Promise<void> {
  await subscriber.ping();
  const presences = channels.map(presenceChannelOf).filter((presence) => presence !== null);
  await subscriber.subscribe(...presences, ...channels);
}
