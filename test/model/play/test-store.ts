import { once } from 'node:events';
import { inGroups } from '@yardmaster/api';
import { createStore, FORMAT, PARTITIONS, type Store, type StoreSettings } from '@yardmaster/store';
import { Redis } from 'ioredis';
import type { OwnRedis } from '../../support/own-redis.js';
import { subscribe } from '../../support/subscribe.js';
import { type ModelMessage, momentAt } from '../world.js';
import { SPACES } from './values.js';

/** The store of one sequence, on several connections, and the messages that it publishes. */
export interface TestStore {
  /** One for each connection. */
  stores: [Store, ...Store[]];
  /** Remove everything. */
  empty(): Promise<void>;
  setClock(ms: number): Promise<void>;
  /** Return all messages that were published, by job. */
  published(): Promise<Map<string, ModelMessage[]>>;
  close(): Promise<void>;
}

/** Several connections to one Redis, whose clock only moves when a sequence sets it. */
export class TestStores {
  private readonly connections: [Redis, ...Redis[]];
  private readonly subscriber: Redis;

  constructor({ url }: OwnRedis) {
    const connect = () => new Redis(url.replace('unix://', ''), { disconnectTimeout: 50 });
    this.connections = [connect(), connect(), connect()];
    this.subscriber = connect();
  }

  /** @param isGrouped whether concurrent calls are sent as one script, and not on several connections */
  async open(settings: Partial<StoreSettings>, isGrouped: boolean): Promise<TestStore> {
    const [redis, ...others] = this.connections;
    let now = 0;
    const random = () => momentAt(now).random;
    const storeOn = (connection: Redis) => createStore(connection, { ...settings, isClockManual: true, random });
    const first = storeOn(redis);
    const empty = async () => {
      await redis.flushall();
      await redis.hset(first.keys.meta, 'partitions', PARTITIONS, 'format', FORMAT);
    };
    await empty();
    const { published, stop } = await this.listen(first);
    return {
      stores: isGrouped ? [inGroups(first)] : [first, ...others.map(storeOn)],
      empty,
      setClock: async (ms) => {
        now = ms;
        await redis.set(first.keys.manualClock, ms);
      },
      published,
      close: stop,
    };
  }

  private async listen({ keys, redis }: Store) {
    const { subscriber } = this;
    const end = `${keys.meta}:end`;
    const channels = [...SPACES.map(keys.spaceChannel), end];
    const byJob = new Map<string, ModelMessage[]>();
    const onMessage = (channel: string, text: string) => {
      if (channel === end) return subscriber.emit(end);
      const message = JSON.parse(text) as ModelMessage;
      byJob.set(message.jobId, [...(byJob.get(message.jobId) ?? []), message]);
    };
    subscriber.on('message', onMessage);
    await subscribe(subscriber, ...channels);
    return {
      async published() {
        const ended = once(subscriber, end);
        await redis.publish(end, 'end');
        await ended;
        return byJob;
      },
      async stop() {
        subscriber.off('message', onMessage);
        await subscriber.unsubscribe(...channels);
      },
    };
  }

  disconnect(): void {
    for (const connection of [...this.connections, this.subscriber]) connection.disconnect();
  }
}
