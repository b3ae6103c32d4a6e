import { once } from 'node:events';
import { inGroups } from '@yardmaster/api';
import { createStore, FORMAT, PARTITIONS, type Store, type StoreSettings } from '@yardmaster/store';
import { Redis } from 'ioredis';
import type { OwnRedis } from '../../support/own-redis.js';
import { subscribe } from '../../support/subscribe.js';
import { type ModelMessage, momentAt } from '../world.js';
import type { Restart } from './step.js';
import { SPACES } from './values.js';

/** The store of one sequence, on several connections, and the messages that it publishes. */
export interface TestStore {
  /** One for each connection. */
  stores: [Store, ...Store[]];
  /** Remove everything. */
  empty(): Promise<void>;
  setClock(ms: number): Promise<void>;
  restart(what: Restart): Promise<void>;
  /** Return all messages that were published, by job. */
  published(): Promise<Map<string, ModelMessage[]>>;
  close(): Promise<void>;
}

/** A seed must always make the same ids from idempotency keys. */
const SECRET = '5'.repeat(64);

/** Several connections to one Redis, whose clock only moves when a sequence sets it. */
export class TestStores {
  private readonly connections: [Redis, ...Redis[]];
  private readonly subscriber: Redis;
  /** Time of the clock. */
  private now = 0;
  /** Settings of the stores, by those of sequences. A store makes the texts of its scripts once for each such object. */
  private readonly settings = new Map<object, StoreSettings>();

  /** @param changed a script with a deliberate fault; the script itself when left out */
  constructor(
    private readonly redis: OwnRedis,
    changed?: (text: string) => string,
  ) {
    function connect(): Redis {
      const path = redis.url.replace('unix://', '');
      // The ready check waits a second for a Redis that loads its data; resume() waits until it has.
      const connection = new Redis(path, { disconnectTimeout: 50, retryStrategy: () => 5, enableReadyCheck: false });
      connection.on('error', () => {}); // Redis restarts. Any other error fails the next call.
      const evaluate = connection.eval.bind(connection) as (text: string, ...rest: unknown[]) => Promise<unknown>;
      // A store sends the text of a script whose hash Redis does not know, and Redis keeps a changed text under another hash.
      if (changed) connection.eval = ((text: string, ...rest: unknown[]) => evaluate(changed(text), ...rest)) as never;
      return connection;
    }
    this.connections = [connect(), connect(), connect()];
    this.subscriber = connect();
  }

  /** @param isGrouped whether concurrent calls are sent as one script, and not on several connections */
  async open(settings: Partial<StoreSettings>, isGrouped: boolean): Promise<TestStore> {
    const [redis, ...others] = this.connections;
    const random = () => momentAt(this.now).random;
    const storeOn = (connection: Redis) => {
      const store = createStore(connection, { ...settings, isClockManual: true, random });
      this.settings.set(settings, this.settings.get(settings) ?? store.settings);
      return { ...store, settings: this.settings.get(settings) as StoreSettings };
    };
    const first = storeOn(redis);
    const empty = async () => {
      await redis.flushall();
      await redis.hset(first.keys.meta, 'partitions', PARTITIONS, 'format', FORMAT, 'idempotencySecret', SECRET);
    };
    await empty();
    const { published, stop } = await this.listen(first);
    const newStores = (): TestStore['stores'] =>
      isGrouped ? [inGroups(storeOn(redis))] : [storeOn(redis), ...others.map(storeOn)];
    let stores = newStores();
    return {
      get stores() {
        return stores;
      },
      restart: async (what) => {
        stores = newStores();
        if (what === 'scripts') await this.forgetScripts();
        if (what === 'redis') await this.restartRedis();
      },
      empty,
      setClock: async (ms) => {
        this.now = ms;
        await redis.set(first.keys.manualClock, ms);
      },
      published,
      close: stop,
    };
  }

  /** Let Redis forget all scripts. */
  async forgetScripts(): Promise<void> {
    await this.connections[0].script('FLUSH');
  }

  private async restartRedis(): Promise<void> {
    await this.redis.halt();
    await this.redis.resume();
    await Promise.all([...this.connections, this.subscriber].map((connection) => connection.ping()));
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
