import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { WebSocket } from 'ws';
import { jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { type StreamClient, withStreams } from '../support/stream-client.js';
import { subscribe } from '../support/subscribe.js';
import { until } from '../support/until.js';
import { withGateway, withInProcessGateway } from './gateway.js';
import { beginHandshake, destroySockets, sendHandshake, UNKNOWN_JOB } from './handshake.js';

const REALTIME = '/api/v1/realtime';
const REVOKED = { code: 1008, reason: 'API key is no longer valid' };

const service = withService();
const open = withStreams(service);
afterEach(destroySockets);

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'life');
});

/** Open every kind of stream that a key may open. */
const openAll = (key: string) => Promise.all([`/${id}`, `/spaces/life`].map((path) => open(`${path}?token=${key}`)));

/** Report progress, and check that these streams are open and show it. */
async function expectOpen(clients: StreamClient[]): Promise<void> {
  const { status } = await service.call('POST', `/jobs/${id}/progress`, { body: { percent: 1, message: 'x' } });
  expect(status).toBe(200);
  for (const client of clients) {
    await client.next('progress');
    expect(client.types()).toEqual(['init', 'progress']);
    expect(client.closed).toBeNull();
  }
}

describe('when a key is revoked or expires', () => {
  const gateway = withGateway(service);

  it('closes the streams of a revoked key with 1008 in every process, and no others', async () => {
    const [mine, other] = [await service.key(['jobs:read']), await service.key(['jobs:read'])];
    const closed = [...(await openAll(mine.key)), await open(`/${id}?token=${mine.key}`, gateway.url)];
    const kept = [...(await openAll(other.key)), ...(await openAll(ADMIN_KEY)), await open(`/${id}`)];

    const listener = service.redis.duplicate();
    const announced: string[] = [];
    listener.on('message', (_, keyId) => announced.push(keyId));
    await subscribe(listener, service.store.keys.revocations);
    await service.call('DELETE', `/keys/${mine.id}`);

    for (const client of closed) expect(await client.end()).toEqual(REVOKED);
    await expectOpen(kept);
    for (const client of closed) expect(client.types()).toEqual(['init']);
    await until(() => announced.includes(mine.id));
    listener.disconnect();
  });

  it('closes streams with 1008 in every process when a revocation is announced, without waiting for the next key check', async () => {
    // The revocation is only announced, so the record is still that of a valid key.
    const mine = await service.key(['jobs:read']);
    const closed = [...(await openAll(mine.key)), await open(`/${id}?token=${mine.key}`, gateway.url)];
    await service.redis.publish(service.store.keys.revocations, mine.id);
    for (const client of closed) expect(await client.end()).toEqual(REVOKED);
  });

  it('keeps the streams of the admin key open when its revocation is requested, because the key is not stored', async () => {
    const mine = await service.key(['jobs:read']);
    const [closed] = await openAll(mine.key);
    const kept = await openAll(ADMIN_KEY);
    expect((await service.call('DELETE', '/keys/admin')).status).toBe(404);
    await service.call('DELETE', `/keys/${mine.id}`);
    // An announcement for the earlier request would also have arrived.
    expect(await closed?.end()).toEqual(REVOKED);
    await expectOpen([...kept, ...(await openAll(ADMIN_KEY))]);
  });

  it('closes the streams of a key with 1008 when it expires, and when its revocation was not announced', async () => {
    const [expiring, deleted] = [await service.key(['jobs:read']), await service.key(['jobs:read'])];
    const closed = [...(await openAll(expiring.key)), ...(await openAll(deleted.key))];
    const kept = await openAll((await service.key(['jobs:read'], { expiresAt: '2999-01-01T00:00:00.000Z' })).key);

    const records = service.store.keys.apiKeys;
    const record = JSON.parse((await service.redis.hget(records, expiring.id)) as string);
    const expired = { ...record, expiresAt: '2020-01-01T00:00:00.000Z' };
    await service.redis.hset(records, expiring.id, JSON.stringify(expired));
    await service.redis.hdel(records, deleted.id);
    await service.redis.zrem(service.store.keys.apiKeyIndex, `/${deleted.id}`);

    for (const client of closed) expect(await client.end()).toEqual(REVOKED);
    await expectOpen(kept);
  });
});

describe('when a client sends messages', () => {
  const large = 'x'.repeat(1024);
  const SMALL: [what: string, send: (ws: WebSocket) => void][] = [
    ['an empty text', (ws) => ws.send('')],
    ['a text of 1 KB', (ws) => ws.send(large)],
    ['1 KB', (ws) => ws.send(Buffer.from(large))],
    ['a thousand messages', (ws) => [...large].forEach((text) => void ws.send(text))],
    ['a pong without a ping', (ws) => ws.pong('x')],
  ];

  it.each(SMALL)('keeps a stream open when its client sends %s', async (_, send) => {
    const clients = [...(await openAll(ADMIN_KEY)), await open(`/${id}`)];
    for (const { ws } of clients) send(ws);
    await expectOpen(clients);
  });

  const LARGE: [what: string, send: (ws: WebSocket) => void][] = [
    ['more than 1 KB of text', (ws) => ws.send(`${large}x`)],
    ['more than 1 KB', (ws) => ws.send(Buffer.from(`${large}x`))],
    ['a megabyte', (ws) => ws.send('x'.repeat(1_000_000))],
    [
      'more than 1 KB in pieces',
      (ws) => {
        ws.send(large, { fin: false });
        ws.send('x', { fin: true });
      },
    ],
  ];

  it.each(LARGE)('closes a client that sends %s with 1009, and no other client', async (_, send) => {
    const hostile = [...(await openAll(ADMIN_KEY)), await open(`/${id}`)];
    const other = await open(`/${id}`);
    for (const { ws } of hostile) send(ws);
    for (const client of hostile) expect(await client.end()).toMatchObject({ code: 1009 });
    await expectOpen([other]);
  });
});

describe('the end of a progress stream', () => {
  const random = jest.fn(() => 0);
  const { service: api, gateway } = withInProcessGateway(random);

  it.each([
    ['complete', { result: 1 }, ['init', 'completed']],
    ['fail', { error: 'x' }, ['init']],
    ['kill', { reason: 'x' }, ['init']],
  ])('closes a progress stream with 1000 and no reason after the end of its job: %s', async (verb, body, types) => {
    const jobId = await jobIn(api, 'running', 'ends', { maxRetries: 0 });
    const client = await open(`/${jobId}`, gateway.url);
    await step(api, jobId, verb, body);
    expect(await client.end()).toEqual({ code: 1000, reason: '' });
    expect(client.types()).toEqual(types);
  });

  // The first of many random times would show when the job ended.
  it('closes all progress streams of a job that were open when it ended at the same random time', async () => {
    const jobId = await jobIn(api, 'running', 'ends', { maxRetries: 0 });
    const clients = await Promise.all(Array.from({ length: 3 }, () => open(`/${jobId}`, gateway.url)));
    random.mockClear();
    await step(api, jobId, 'kill', {});
    for (const client of clients) expect(await client.end()).toMatchObject({ code: 1000 });
    expect(random).toHaveBeenCalledTimes(1);
    const late = await Promise.all(Array.from({ length: 2 }, () => open(`/${jobId}`, gateway.url)));
    for (const client of late) expect(await client.end()).toMatchObject({ code: 1000 });
    expect(random).toHaveBeenCalledTimes(3);
  });
});

describe('the channels of streams', () => {
  const ofJob = (jobId = id) => service.store.keys.jobChannel(jobId);
  const ofSpace = () => service.store.keys.spaceChannel('life');

  /** Return how many connections to Redis are subscribed to a channel. */
  async function subscribers(channel: string): Promise<number> {
    const [, count] = (await service.redis.call('PUBSUB', 'NUMSUB', channel)) as [string, number];
    return count;
  }
  const untilUnused = (channel: string) => until(async () => (await subscribers(channel)) === 0);

  it('subscribes to a channel once for any number of streams, until the last of them has ended', async () => {
    const { key } = await service.key(['jobs:read:progress']);
    const paths = [`/${id}`, `/${id}`, `/${id}?token=${key}`, `/${id}?token=${ADMIN_KEY}`, `/${id}?token=${ADMIN_KEY}`];
    const jobStreams = [];
    for (const path of paths) jobStreams.push(await open(path));
    await untilUnused(ofSpace()); // The test before may still be subscribed.
    expect(await subscribers(ofJob())).toBe(1);
    const spaceStreams = [];
    for (let i = 0; i < 5; i++) spaceStreams.push(await open(`/spaces/life?token=${ADMIN_KEY}`));
    expect([await subscribers(ofJob()), await subscribers(ofSpace())]).toEqual([1, 1]);

    const [last, ...others] = jobStreams as [StreamClient, ...StreamClient[]];
    for (const client of others) await client.close();
    await expectOpen([last]);
    expect(await subscribers(ofJob())).toBe(1);
    await last.close();
    await untilUnused(ofJob());
    expect(await subscribers(ofSpace())).toBe(1);
    for (const client of spaceStreams) client.ws.terminate();
    await untilUnused(ofSpace());
  });

  it('resubscribes to a channel for a client that connects while the last one disconnects', async () => {
    for (let i = 0; i < 20; i++) {
      const first = await open(`/${id}`);
      const gone = first.close();
      const second = await open(`/${id}`);
      await gone;
      await service.call('POST', `/jobs/${id}/progress`, { body: { percent: i, message: 'x' } });
      await second.next('progress');
      await second.close();
    }
    await untilUnused(ofJob());
  });

  it('unsubscribes from a channel after its handshakes are refused or abandoned', async () => {
    const { key } = await service.key(['jobs:read'], { spaceId: 'elsewhere' });
    for (let i = 0; i < 20; i++) {
      expect((await sendHandshake(service.url, `${REALTIME}/${id}?token=${key}`)).status).toBe(403);
      expect((await sendHandshake(service.url, `${REALTIME}/${UNKNOWN_JOB}`)).status).toBe(404);
      (await beginHandshake(service.url, `${REALTIME}/${id}`)).destroy();
      (await beginHandshake(service.url, `${REALTIME}/spaces/life?token=${ADMIN_KEY}`)).resetAndDestroy();
    }
    for (const channel of [ofJob(), ofSpace(), ofJob(UNKNOWN_JOB)]) await untilUnused(channel);
  });
});
