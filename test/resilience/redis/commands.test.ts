import { afterEach, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisClient } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import { type Cluster, Redis } from 'ioredis';
import { corkCommands } from '../../../packages/redis/src/fast.js';
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

  it('counts more writes when Redis commands are not corked', async () => {
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

  it('resolves all corked commands before quitting', async () => {
    const client = (await connect(redis.url)) as Redis;
    expect(await Promise.all([client.echo('a'), client.echo('b'), client.quit()])).toEqual(['a', 'b', 'OK']);
  });

  it('sends Redis commands after a reconnection that lost corked ones', async () => {
    const client = (await connect(redis.url)) as Redis;
    const lost = client.echo('lost').catch(() => 'rejected');
    client.stream.destroy();
    expect(await lost).toBe('rejected');
    await until(() => client.status === 'ready');
    await sendMany(client);
  });
});

// Calls of scripts over a connection for commands, which encodes them itself, compared with those of ioredis.

const redis = withRedis();

const load = async (client: RedisClient, text: string) => String(await client.script('LOAD', text));

const SCRIPTS: [what: string, text: string, keys: number, ...parameters: (string | number)[]][] = [
  ['its arguments', 'return {#KEYS, #ARGV, KEYS[1], ARGV[1], ARGV[2]}', 1, 'key', 'a', 'b'],
  ['numbers as texts', 'return {ARGV[1], ARGV[2], ARGV[3], ARGV[4]}', 0, 0, -1.5, 1e21, Number.MAX_SAFE_INTEGER],
  ['bytes of every length', 'return {ARGV[1], string.len(ARGV[1])}', 0, 'ä漢😀\r\n$3\r\n\u0000'],
  ['an empty text', 'return {KEYS[1], ARGV[1]}', 1, '', ''],
  ['a lone surrogate', 'return ARGV[1]', 0, 'a\ud800b'],
  ['a long text', 'return string.len(ARGV[1])', 0, 'ä'.repeat(200_000)],
  ['many arguments', 'return #ARGV', 0, ...Array.from({ length: 5_000 }, (_, n) => n)],
  ['every type of reply', 'return {1, false, "x", {2, {"y"}}, redis.status_reply("FINE")}', 0],
  ['nothing', 'return nil', 0],
];

it.each(SCRIPTS)(
  'sends a script call with %s as ioredis does, and returns the same',
  async (_, text, keys, ...parameters) => {
    const [ours, theirs] = [await connect(redis.url, 'commands'), await connect(redis.url, 'worker')];
    const sha1 = await load(ours, text);
    expect(await ours.evalsha(sha1, keys, ...parameters)).toEqual(await theirs.evalsha(sha1, keys, ...parameters));
  },
);

it.each([
  ['an unknown script', () => 'f'.repeat(40)],
  ['a script that fails', (client: RedisClient) => load(client, 'return redis.call("GET")')],
  ['an error that a script returns', (client: RedisClient) => load(client, 'return redis.error_reply("MINE so")')],
])('rejects a script call with the error of Redis for %s', async (_, shaOf) => {
  const [ours, theirs] = [await connect(redis.url, 'commands'), await connect(redis.url, 'worker')];
  const sha1 = await shaOf(ours);
  const errors = await Promise.all(
    [ours, theirs].map((client) => client.evalsha(sha1, 0).catch((error: Error) => error)),
  );
  const [one, other] = errors as Error[];
  expect(one).toBeInstanceOf(Error);
  expect([one?.name, one?.message]).toEqual([other?.name, other?.message]);
});

it('rejects a script call after the command timeout', async () => {
  const [client, other] = [await connect(redis.url, 'commands'), await connect(redis.url, 'worker')];
  const sha1 = await load(client, 'return ARGV[1]');
  expect(await client.evalsha(sha1, 0, 'before')).toBe('before');
  await other.client('PAUSE', 2_500); // It cannot be ended earlier, because it pauses every client.
  const began = performance.now();
  const outcomes = Promise.allSettled([client.evalsha(sha1, 0, 'one'), client.evalsha(sha1, 0, 'two'), client.ping()]);
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'Command timed out' } });
  }
  expect(performance.now() - began).toBeGreaterThanOrEqual(1_499);
  await until(async () => (await client.evalsha(sha1, 0, 'after').catch(() => null)) === 'after');
});

it('rejects a script call when the connection is cut, and sends it only once', async () => {
  const [client, other] = [await connect(redis.url, 'commands'), await connect(redis.url, 'worker')];
  const sha1 = await load(client, 'return redis.call("INCR", KEYS[1])');
  await other.client('PAUSE', 60_000, 'WRITE');
  const call = client.evalsha(sha1, 1, 'counted').catch((error: Error) => error.message);
  await until(async () => /blocked_clients:1/.test(await other.info('clients')));
  await other.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await other.client('UNPAUSE');
  expect(await call).toMatch(/max retries|Connection is closed|ECONNRESET/);
  let counted: unknown = null;
  await until(async () => {
    counted = await client.evalsha(sha1, 1, 'counted').catch(() => null);
    return counted !== null;
  });
  expect(counted).toBe(1);
});

it('sends a script call to the cluster node of its key, even after a redirection', async () => {
  const cluster = await startCluster();
  try {
    const client = await connect(cluster.url, 'commands');
    const keys = Array.from({ length: 32 }, (_, n) => `key-${n}`);
    const text = 'return redis.call("INCR", KEYS[1])';
    const counts = await Promise.all(
      keys.map((key) => client.evalsha('0'.repeat(40), 1, key).catch(() => client.eval(text, 1, key))),
    );
    expect(counts).toEqual(keys.map(() => 1));
  } finally {
    await cluster.stop();
  }
});
