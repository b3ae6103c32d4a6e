import { once } from 'node:events';
import { createStore, PARTITIONS, type Store, type StoreSettings } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { keysOf } from '../../support/fsck.js';
import { subscribe } from '../../support/subscribe.js';
import type { ModelNews } from '../world.js';
import { freezeClock, removeClock, setClock } from './clock.js';
import { SPACES } from './values.js';

let prefixes = 0;

/** A store that one sequence has for itself, on several connections, and what is heard of it. */
export interface Arena {
  /** One for each connection. */
  stores: [Store, ...Store[]];
  setClock(ms: number): Promise<void>;
  /** All messages that were published, by job. */
  heard(): Promise<Map<string, ModelNews[]>>;
  close(): Promise<void>;
}

/** Some connections to one Redis, whose clock stands still. */
export class Arenas {
  private readonly connections: [Redis, ...Redis[]];
  private readonly subscriber: Redis;

  constructor(connect: () => Redis) {
    this.connections = [connect(), connect(), connect()];
    this.subscriber = connect();
    for (const connection of this.connections) freezeClock(connection);
  }

  async open(settings: Omit<StoreSettings, 'keyPrefix'>): Promise<Arena> {
    const [redis, ...others] = this.connections;
    const keyPrefix = `t-model-${process.pid}-${prefixes++}`;
    const storeOn = (connection: Redis) => createStore(connection, { ...settings, keyPrefix });
    const first = storeOn(redis);
    await redis.hset(first.keys.meta, 'partitions', PARTITIONS);
    const { heard, silence } = await this.listen(first);
    return {
      stores: [first, ...others.map(storeOn)],
      setClock: (ms) => setClock(redis, ms),
      heard,
      async close() {
        await silence();
        await removeClock(redis);
        const keys = await keysOf(redis, keyPrefix);
        await redis.unlink(...keys);
      },
    };
  }

  private async listen({ keys, redis }: Store) {
    const { subscriber } = this;
    const end = `${keys.meta}:end`;
    const channels = [...SPACES.map(keys.spaceChannel), end];
    const byJob = new Map<string, ModelNews[]>();
    const hear = (channel: string, text: string) => {
      if (channel === end) return subscriber.emit(end);
      const news = JSON.parse(text) as ModelNews;
      byJob.set(news.jobId, [...(byJob.get(news.jobId) ?? []), news]);
    };
    subscriber.on('message', hear);
    await subscribe(subscriber, ...channels);
    return {
      async heard() {
        const isOver = once(subscriber, end);
        await redis.publish(end, 'over');
        await isOver;
        return byJob;
      },
      async silence() {
        subscriber.off('message', hear);
        await subscriber.unsubscribe(...channels);
      },
    };
  }

  disconnect(): void {
    for (const connection of [...this.connections, this.subscriber]) connection.disconnect();
  }
}
