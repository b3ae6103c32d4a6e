import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ConnectionSubscriptions, type Listener } from '@yardmaster/redis';
import { ANY_SPACE, claimJob, killJob, pollJobs, presenceChannelOf } from '@yardmaster/store';
import { Redis } from 'ioredis';
import { sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { type StoreUnderTest, storeUnderTest, withConnection } from './store-under-test.js';

// Events are published only while a presence channel of their partition has subscribers.

const redis = withConnection();
let subscriber: Redis;
let subscriptions: ConnectionSubscriptions;
let tested: StoreUnderTest;
let heard: string[];

const connect = () => new Redis(sharedService().redisUrl.replace('unix://', ''), { autoResubscribe: false });
const listener = (): Listener & { isReady: boolean } => ({
  isReady: false,
  message: (text) => heard.push(JSON.parse(text).type),
  lost() {
    this.isReady = false;
  },
  subscribed() {
    this.isReady = true;
  },
});

beforeEach(() => {
  heard = [];
  tested = storeUnderTest(redis);
  subscriber = connect();
  subscriptions = new ConnectionSubscriptions(subscriber, { presenceOf: presenceChannelOf });
});
afterEach(() => subscriber.disconnect());

/** Subscribe to channels, and wait until that is confirmed. */
async function watch(...channels: string[]): Promise<void> {
  const listeners = channels.map((channel) => {
    const one = listener();
    subscriptions.add(channel, one);
    return one;
  });
  await until(() => listeners.every(({ isReady }) => isReady));
}

const spaceChannel = () => tested.store.keys.spaceChannel('calling');
const presence = () => presenceChannelOf(spaceChannel()) as string;
const present = async () => Number((await redis.pubsub('NUMSUB', presence()))[1]);

it('names a presence channel for the events of each job and space of a partition, and for no other channel', () => {
  const { keys } = tested.store;
  const id = `${spaceChannel().split('{')[1]?.slice(0, 2)}${'a'.repeat(26)}`;
  expect(presenceChannelOf(keys.jobChannel(id))).toBe(presence());
  for (const channel of [
    keys.wakeChannel('calling'),
    keys.pendingChannel('00'),
    keys.revocations,
    keys.settingsChannel,
  ])
    expect(presenceChannelOf(channel)).toBeNull();
});

it('publishes nothing to a subscriber of a channel that is not present', async () => {
  await subscriber.subscribe(spaceChannel());
  subscriber.on('message', (_, text) => heard.push(text));
  await tested.create({});
  await pollJobs(tested.store, 'calling', { count: 1, names: [] });
  await redis.publish(spaceChannel(), 'end');
  await until(() => heard.includes('end'));
  expect(heard).toEqual(['end']);
});

it('publishes each event to a subscriber as long as it watches a channel of the partition', async () => {
  const id = await tested.create({});
  await watch(spaceChannel(), tested.store.keys.jobChannel(id));
  await claimJob(tested.store, ANY_SPACE, id);
  await until(() => heard.length === 2);
  subscriptions.remove(spaceChannel());
  expect(await present()).toBe(1);
  await killJob(tested.store, ANY_SPACE, id, null);
  await until(() => heard.length === 3);
  expect(heard).toEqual(['delivered', 'delivered', 'killed']);
  subscriptions.remove(tested.store.keys.jobChannel(id));
  await until(async () => (await present()) === 0);
});

it('resubscribes to the presence channel first after a lost connection', async () => {
  await watch(spaceChannel());
  subscriber.stream.destroy();
  await until(() => !subscriptions.isSubscribed(spaceChannel()));
  await until(() => subscriptions.isSubscribed(spaceChannel()));
  await tested.create({});
  await until(() => heard.includes('created'));
});
