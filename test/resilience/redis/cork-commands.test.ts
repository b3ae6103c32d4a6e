import { afterEach, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisClient } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import { type Cluster, Redis } from 'ioredis';
import { corkCommands } from '../../../packages/redis/src/fast/cork-commands.js';
import { BY_USE } from '../../../packages/redis/src/options.js';
import { during } from '../../support/during.js';
import { startRedis, withRedis } from '../../support/own-redis.js';
import { startCluster } from '../../support/redis/cluster.js';
import { startTlsRedis } from '../../support/redis/tls.js';
import { until } from '../../support/until.js';

type Stream = Redis['stream'];

const clients: RedisClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});

/** Connect for commands, as the API does, or for a worker, which writes each command separately. */
async function connect(url: string, use: 'commands' | 'worker' = 'commands'): Promise<RedisClient> {
  const client = createRedis(url, use, createLogger('test', 'silent'));
  clients.push(client);
  if (use === 'commands') await client.connect();
  await client.ping();
  return client;
}

/** Count the writes of a stream from now on. Corked commands are one list in one write. */
function countWrites(stream: Stream): () => number {
  let writes = 0;
  for (const name of ['_write', '_writev'] as const) {
    const write = stream[name] as (...args: unknown[]) => void;
    stream[name] = function counted(this: Stream, ...args: unknown[]) {
      writes++;
      write.apply(this, args);
    };
  }
  return () => writes;
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const NUMBERS = Array.from({ length: 50 }, (_, n) => n);

/** Send commands in one turn of the event loop, half of them in microtasks. Each must get its own reply. */
async function sendMany(client: RedisClient): Promise<void> {
  const responses = NUMBERS.map(async (n) => {
    if (n % 2 === 0) await Promise.resolve();
    return client.echo(`reply ${n}`);
  });
  expect(await Promise.all(responses)).toEqual(NUMBERS.map((n) => `reply ${n}`));
}

describe.each([
  ['a socket', startRedis],
  ['TLS', startTlsRedis],
])('commands over %s', (_, start) => {
  const redis = during<{ url: string; stop(): Promise<void> }>(start, ({ stop }) => stop());

  it('sends Redis commands in one write per turn of the event loop', async () => {
    const client = (await connect(redis.url)) as Redis;
    const writes = countWrites(client.stream);
    await sendMany(client);
    expect(writes()).toBe(1);
    await sendMany(client);
    expect(writes()).toBe(2);
  });

  it('sends Redis commands in more writes without corking, which proves that the count works', async () => {
    const client = (await connect(redis.url, 'worker')) as Redis;
    const writes = countWrites(client.stream);
    await sendMany(client);
    expect(writes()).toBeGreaterThan(1); // TLS itself combines commands during a write.
  });

  it('sends a single Redis command in the next turn of the event loop', async () => {
    const client = (await connect(redis.url)) as Redis;
    const writes = countWrites(client.stream);
    const response = client.echo('alone');
    expect(writes()).toBe(0);
    await nextTurn();
    expect(writes()).toBe(1);
    expect(await response).toBe('alone');
  });

  it('sends Redis commands in one write after a reconnection', async () => {
    const client = (await connect(redis.url)) as Redis;
    const before = client.stream;
    client.disconnect(true);
    await until(() => client.status === 'ready' && client.stream !== before);
    const writes = countWrites(client.stream);
    await sendMany(client);
    expect(writes()).toBe(1);
  });
});

describe('commands on a cluster', () => {
  const redis = during(startCluster, ({ stop }) => stop());

  it('sends commands to each node of a cluster in one write per turn of the event loop', async () => {
    const client = (await connect(redis.url)) as Cluster;
    const keys = Array.from({ length: 60 }, (_, n) => `key-${n}`);
    const setAll = () => Promise.all(keys.map((key) => client.set(key, key)));
    await setAll(); // Connects to all.
    const counts = client.nodes('master').map(({ stream }) => countWrites(stream));
    await setAll();
    expect(counts.map((writes) => writes())).toEqual([1, 1, 1]);
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys);
    expect(counts.map((writes) => writes())).toEqual([2, 2, 2]);
  });
});

describe('connection that ends while corked commands wait', () => {
  const redis = withRedis();

  /** Return the outcomes of three commands of a connection that ends before the last one. */
  async function outcomes(isBatched: boolean, end: (client: Redis) => unknown): Promise<string[]> {
    const client = new Redis(redis.url.replace('unix://', ''), { ...BY_USE.commands, lazyConnect: true });
    clients.push(client);
    client.on('error', () => undefined);
    if (isBatched) corkCommands(client);
    await client.connect();
    const before = [client.echo('a'), client.echo('b')];
    end(client);
    const settled = await Promise.allSettled([...before, client.echo('c')]);
    return settled.map((one) => (one.status === 'fulfilled' ? `replied ${one.value}` : one.reason.message));
  }

  const ENDS: [how: string, end: (client: Redis) => unknown][] = [
    ['its socket is destroyed', (client) => client.stream.destroy()],
    ['its socket fails', (client) => client.stream.destroy(new Error('ECONNRESET'))],
    ['it is disconnected', (client) => client.disconnect()],
    ['it is disconnected to connect again', (client) => client.disconnect(true)],
  ];

  it.each(ENDS)('settles each corked command as a connection of ioredis does when %s', async (_, end) => {
    const batched = await outcomes(true, end);
    expect(batched).toEqual(await outcomes(false, end));
    expect(batched).toHaveLength(3);
  });

  it('resolves all corked commands before it quits', async () => {
    const client = (await connect(redis.url)) as Redis;
    expect(await Promise.all([client.echo('a'), client.echo('b'), client.quit()])).toEqual(['a', 'b', 'OK']);
  });

  it('sends Redis commands after a reconnection when corked ones were lost', async () => {
    const client = (await connect(redis.url)) as Redis;
    const lost = client.echo('lost').catch(() => 'rejected');
    client.stream.destroy();
    expect(await lost).toBe('rejected');
    await until(() => client.status === 'ready');
    await sendMany(client);
  });
});
