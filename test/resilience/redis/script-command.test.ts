import { afterEach, expect, it } from '@jest/globals';
import { createRedis, type RedisClient } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import { withRedis } from '../../support/own-redis.js';
import { startCluster } from '../../support/redis/cluster.js';
import { until } from '../../support/until.js';

// Calls of scripts over a connection for commands, which encodes them itself, compared with those of ioredis.

const redis = withRedis();

const clients: RedisClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});

async function connect(url: string, use: 'commands' | 'worker'): Promise<RedisClient> {
  const client = createRedis(url, use, createLogger('test', 'silent'));
  clients.push(client);
  if (use === 'commands') await client.connect();
  await client.ping();
  return client;
}

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

it('rejects a script call after the time-out of commands', async () => {
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
