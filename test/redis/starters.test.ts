import { afterEach, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { ask, optionsFor } from '../support/redis/ask.js';
import { startCluster } from '../support/redis/cluster.js';
import { SENTINEL_PASSWORD } from '../support/redis/credentials.js';
import { startSentinels } from '../support/redis/sentinels.js';
import { startTlsRedis } from '../support/redis/tls.js';
import { until } from '../support/until.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe('a Redis with TLS', () => {
  it('lets in whoever trusts its certificate and knows the password, and nobody else', async () => {
    const redis = await startTlsRedis();
    ends.push(redis.stop);
    const { port, user: username, password, files: tls } = redis;
    expect(await ask({ port, username, password, tls }, 'PING')).toBe('PONG');
    await expect(ask({ port, username, password: 'another', tls }, 'PING')).rejects.toThrow();
    await expect(ask({ port, username, password }, 'PING')).rejects.toThrow();
  });

  it('asks for a certificate when told so', async () => {
    const { port, user: username, password, files: tls, stop, url } = await startTlsRedis({ clientCertificates: true });
    ends.push(stop);
    expect([...new URL(url).searchParams.keys()]).toEqual(['ca', 'cert', 'key']);
    expect(await ask({ port, username, password, tls }, 'PING')).toBe('PONG');
    const bare = new Redis({
      port,
      username,
      password,
      tls: { ca: optionsFor({ port, tls }).tls?.ca },
      lazyConnect: true,
    });
    bare.on('error', () => undefined);
    await expect(bare.connect().then(() => bare.ping())).rejects.toThrow();
    bare.disconnect();
  });
});

describe('Sentinels', () => {
  it('name another primary once theirs is killed', async () => {
    const yard = await startSentinels({ tls: true });
    ends.push(yard.stop);
    const before = await yard.primary();
    await ask(yard.address(before), 'SET', 'kept', 'yes');
    await ask(yard.address(before), 'WAIT', 2, 5_000);
    const killed = await yard.killPrimary();
    expect(killed).toBe(before);
    await until(async () => (await yard.primary()) !== before);
    const after = await yard.primary();
    expect(await ask(yard.address(after), 'GET', 'kept')).toBe('yes');
    const sentinel = { ...yard.address(yard.sentinels[0] as typeof killed), password: SENTINEL_PASSWORD };
    expect(await ask(sentinel, 'PING')).toBe('PONG');
  });
});

describe('a Cluster', () => {
  it('serves all slots, and again once a primary is killed', async () => {
    const yard = await startCluster();
    ends.push(yard.stop);
    const [first] = yard.nodes;
    if (!first) throw new Error('no node');
    const { password } = optionsFor(yard.address(first));
    const cluster = new Cluster(
      yard.nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
      { redisOptions: { password }, slotsRefreshInterval: 500 },
    );
    ends.push(() => cluster.disconnect());
    await Promise.all(Array.from({ length: 64 }, (_, i) => cluster.set(`key-${i}`, i)));
    expect(yard.nodes.map(({ role }) => role).sort()).toEqual([
      ...Array(3).fill('primary'),
      ...Array(3).fill('replica'),
    ]);
    await first.kill();
    await until(async () => first.isRunning || (await yard.isWhole()));
    await until(
      async () =>
        (await Promise.all(yard.nodes.slice(1).map((it) => it.roleNow()))).filter((it) => it === 'primary').length ===
        3,
    );
    await first.resume();
    await until(async () => (await first.roleNow()) === 'replica');
  });
});
