import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { answer } from '../../support/behaviours.js';
import { jobIn } from '../../support/jobs.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type Address, ask } from '../../support/redis/ask.js';
import { startCluster } from '../../support/redis/cluster.js';
import { startNode } from '../../support/redis/node.js';
import { startService, type TestService } from '../../support/service.js';
import { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';

/** The user that docs/operate.md has operators make. */
const RULES = /^ACL SETUSER yardmaster on >\S+ (.+)$/m
  .exec(readFileSync(new URL('../../../docs/operate.md', import.meta.url), 'utf8'))?.[1]
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

let redis: Kind | null = null;
let service: TestService | null = null;
let receiver: Receiver | null = null;

afterEach(async () => {
  await receiver?.close();
  await service?.stop().finally(() => redis?.stop());
});

it.each([
  ['one Redis', single],
  ['a cluster', cluster],
])('the user of the docs may do all that is needed, and nothing else, on %s', async (_, start) => {
  redis = await start();
  for (const server of redis.servers) await ask(server, 'ACL', 'SETUSER', 'yardmaster', 'on', '>pw', ...RULES);
  service = await startService(
    { KEY_PREFIX: 'ym', CALLBACK_ALLOW_PRIVATE: 'true', DELIVERY_TIMEOUT_SECONDS: '1' },
    { redis: { url: redis.urlFor('yardmaster:pw') }, hasDefaultTimeouts: true },
  );
  receiver = await startReceiver();
  const callbackUrl = receiver.script('/ended', answer(200));

  const { id: keyId, key } = await service.key(['jobs:read']);
  const stream = await StreamClient.open(service.url, `/spaces/a?token=${key}`);
  const late = await jobIn(service, 'delivered', 'a');
  const done = await jobIn(service, 'completed', 'a', { callbackUrl });
  for (const path of [`/jobs/${done}`, '/spaces/a/jobs', '/spaces/a/stats', `/jobs/${done}/logs`])
    expect((await service.call('GET', path)).status).toBe(200);
  expect((await service.call('POST', `/jobs/${done}/logs`, { body: ['line'] })).status).toBe(200);
  await stream.next('delivery_timeout');
  await until(() => receiver?.requestsTo('/ended').length === 1);
  await service.call('DELETE', `/keys/${keyId}`);
  await stream.end();

  expect((await service.call('GET', `/jobs/${late}`)).body.status).toBe('pending');
  expect((await Promise.all(redis.servers.map((server) => ask(server, 'ACL', 'LOG')))).flat()).toEqual([]);
  for (const command of [['FLUSHALL'], ['CONFIG', 'GET', '*'], ['SHUTDOWN'], ['GET', 'other'], ['KEYS', '*']] as const)
    await expect(service.redis.call(...(command as unknown as [string]))).rejects.toThrow('NOPERM');
});
