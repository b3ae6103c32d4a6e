import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { respondWith } from '../../support/behaviours.js';
import { during } from '../../support/during.js';
import { jobIn } from '../../support/jobs.js';
import { withReceiver } from '../../support/receiver.js';
import { type Address, ask } from '../../support/redis/ask.js';
import { startCluster } from '../../support/redis/cluster.js';
import { startNode } from '../../support/redis/node.js';
import { withService } from '../../support/service.js';
import { withStreams } from '../../support/stream-client.js';
import { until } from '../../support/until.js';

/** The rules of the user that docs/redis.md recommends. */
const RULES = /^ACL SETUSER yardmaster on >\S+ (.+)$/m
  .exec(readFileSync(new URL('../../../docs/redis.md', import.meta.url), 'utf8'))?.[1]
  ?.split(' ') as string[];

interface Kind {
  /** URL of a user and a password. */
  urlFor(login: string): string;
  servers: Address[];
  stop(): Promise<void>;
}

async function single(): Promise<Kind> {
  const node = await startNode({ lines: (port) => [`port ${port}`] });
  return { urlFor: (login) => `redis://${login}@127.0.0.1:${node.port}`, servers: [node], stop: node.stop };
}

async function cluster(): Promise<Kind> {
  const redis = await startCluster();
  return {
    urlFor: (login) => redis.url.replace(/\/\/.*@/, `//${login}@`),
    servers: redis.nodes.map(redis.address),
    stop: redis.stop,
  };
}

/** Start a Redis with the user of the docs. */
async function startWithUser(start: () => Promise<Kind>) {
  const kind = await start();
  for (const server of kind.servers) await ask(server, 'ACL', 'SETUSER', 'yardmaster', 'on', '>pw', ...RULES);
  return { ...kind, url: kind.urlFor('yardmaster:pw') };
}

describe.each([
  ['one Redis', single],
  ['a cluster', cluster],
])('the ACL user of docs/redis.md on %s', (_, start) => {
  const receiver = withReceiver();
  const redis = during(
    () => startWithUser(start),
    ({ stop }) => stop(),
  );
  const service = withService(
    { KEY_PREFIX: 'ym', CALLBACK_ALLOW_PRIVATE: 'true', DELIVERY_TIMEOUT_SECONDS: '1' },
    { redis, hasDefaultTimeouts: true },
  );
  const open = withStreams(service);

  it('the ACL user in docs/redis.md can do exactly what the service needs', async () => {
    const callbackUrl = receiver.script('/ended', respondWith(200));

    const { id: keyId, key } = await service.key(['jobs:read']);
    const stream = await open(`/spaces/a?token=${key}`);
    const late = await jobIn(service, 'delivered', 'a');
    const done = await jobIn(service, 'completed', 'a', { callbackUrl });
    for (const path of [`/jobs/${done}`, '/spaces/a/jobs', '/spaces/a/stats', `/jobs/${done}/logs`])
      expect((await service.call('GET', path)).status).toBe(200);
    expect((await service.call('POST', `/jobs/${done}/logs`, { body: ['line'] })).status).toBe(200);
    await stream.next('delivery_timeout');
    await until(() => receiver.requestsTo('/ended').length === 1);
    await service.call('DELETE', `/keys/${keyId}`);
    await stream.end();

    expect((await service.call('GET', `/jobs/${late}`)).body.status).toBe('pending');
    expect((await Promise.all(redis.servers.map((server) => ask(server, 'ACL', 'LOG')))).flat()).toEqual([]);
    for (const command of [
      ['FLUSHALL'],
      ['CONFIG', 'GET', '*'],
      ['SHUTDOWN'],
      ['GET', 'other'],
      ['KEYS', '*'],
    ] as const)
      await expect(service.redis.call(...(command as unknown as [string]))).rejects.toThrow('NOPERM');
  });
});
