import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createApiServer } from '@yardmaster/api';
import { type Backend, createBackend, createFront, type Front } from '@yardmaster/backend';
import { createStreams } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { STANDALONE_VARIABLES } from '@yardmaster/standalone';
import type { WebSocket } from 'ws';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { begin, cutAll, shake } from './handshake.js';

const REALTIME = '/api/v1/realtime';
const REVOKED = { code: 1008, reason: 'API key is no longer valid' };

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'life');
});

const clients: StreamClient[] = [];
const open = async (path: string, url = service.url) => {
  const client = await StreamClient.open(url, path);
  clients.push(client);
  return client;
};
/** What a test has started besides. */
const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  cutAll();
  for (const client of clients.splice(0)) await client.close();
  for (const each of started.splice(0)) await each.stop();
});

/** Report progress, which every stream of the job and of its space shows. */
const report = async () => {
  const { status } = await service.call('POST', `/jobs/${id}/progress`, { body: { percent: 1, message: 'x' } });
  expect(status).toBe(200);
};

/** Every kind of stream that a key may open. */
const openAll = (key: string, url?: string) =>
  Promise.all([`/${id}`, `/spaces/life`].map((path) => open(`${path}?token=${key}`, url)));

/** Wait for a close; for no longer than only the announcement of a revocation can explain. */
async function soonEndOf(client: StreamClient) {
  await until(() => client.closed !== null, 2_000).catch(() => undefined);
  return client.closed;
}

/** The whole service with its parts at hand. */
async function startParts({ pingMs }: { pingMs?: number } = {}): Promise<{ front: Front; backend: Backend }> {
  const env = { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: service.prefix, LOG_LEVEL: 'silent' };
  const config = { ...readConfig(env, STANDALONE_VARIABLES), REDIS_URL: process.env.TEST_REDIS_URL as string };
  const log = createLogger('test', config.LOG_LEVEL);
  const backend = createBackend(config, log);
  const streams = createStreams({ backend, config, log, ...(pingMs === undefined ? {} : { pingMs }) });
  const server = createApiServer({ backend, config, log, streams });
  const front = createFront({ name: 'test', backend, server, streams, config, log });
  await front.start();
  started.push(front);
  return { front, backend };
}

describe('a key that is revoked', () => {
  it('loses its streams with 1008, and nobody else does', async () => {
    const [mine, other] = [await service.key(['jobs:read']), await service.key(['jobs:read'])];
    const lost = [...(await openAll(mine.key)), await open(`/${id}?token=${mine.key}`)];
    const kept = [...(await openAll(other.key)), ...(await openAll(ADMIN_KEY)), await open(`/${id}`)];

    await service.call('DELETE', `/keys/${mine.id}`);

    for (const client of lost) expect(await soonEndOf(client)).toEqual(REVOKED);
    await report();
    for (const client of kept) await client.next('progress');
    for (const client of lost) expect(client.types()).toEqual(['init']);
  });

  it('is never that of ADMIN_API_KEY, which is not among them', async () => {
    const mine = await service.key(['jobs:read']);
    const [lost] = await openAll(mine.key);
    const kept = await openAll(ADMIN_KEY);
    expect((await service.call('DELETE', '/keys/admin')).status).toBe(404);
    await service.call('DELETE', `/keys/${mine.id}`);
    // By now the announcement before it has been heard, too.
    expect(await lost?.end()).toEqual(REVOKED);
    await report();
    for (const client of [...kept, ...(await openAll(ADMIN_KEY))]) expect(client.closed).toBeNull();
  });

  it('loses its streams in other processes as well', async () => {
    const other = await startService({ KEY_PREFIX: service.prefix }, { check: false });
    started.push(other);
    const mine = await service.key(['jobs:read:progress']);
    const client = await open(`/${id}?token=${mine.key}`, other.url);
    await service.call('DELETE', `/keys/${mine.id}`);
    expect(await soonEndOf(client)).toEqual(REVOKED);
  });

  it('is refused when that happens while its handshake waits', async () => {
    const { front, backend } = await startParts();
    const { redis, keys } = service.store;
    const mine = await service.key(['jobs:read']);
    const [known] = await openAll(mine.key, front.url());
    const watched = await jobIn(service, 'running', 'life');

    // The connection on which the job is read is blocked, those on which is subscribed and heard are not.
    backend.store.redis.blpop(`hold-${service.prefix}`, 0).catch(() => undefined);
    const handshake = shake(front.url(), `${REALTIME}/${watched}?token=${mine.key}`);
    await until(async () => (await subscribers(keys.jobChannel(watched))) === 1);
    await service.call('DELETE', `/keys/${mine.id}`);
    expect(await known?.end()).toEqual(REVOKED);
    await redis.rpush(`hold-${service.prefix}`, 'go on');

    expect(await handshake).toMatchObject({
      status: 401,
      body: { error: 'A valid API key is required', code: 'UNAUTHENTICATED' },
    });
  });

  it('is cut off when it does not answer the close', async () => {
    const mine = await service.key(['jobs:read']);
    const silent = await shake(service.url, `${REALTIME}/${id}?token=${mine.key}`);
    await service.call('DELETE', `/keys/${mine.id}`);
    await until(() => silent.bytes().includes('API key is no longer valid'));
    await until(() => silent.socket.closed);
  });
});

describe('a key that ends with no word', () => {
  it('loses its streams with 1008, be it that it has expired or that its revocation was not heard', async () => {
    const expiring = await service.key(['jobs:read'], { expiresAt: new Date(Date.now() + 3_000).toISOString() });
    const deleted = await service.key(['jobs:read']);
    const lost = [...(await openAll(expiring.key)), ...(await openAll(deleted.key))];
    const kept = await openAll((await service.key(['jobs:read'], { expiresAt: '2999-01-01T00:00:00.000Z' })).key);

    await service.redis.hdel(service.store.keys.apiKeys, deleted.id);

    for (const client of lost) expect(await client.end()).toEqual(REVOKED);
    await report();
    for (const client of kept) await client.next('progress');
  });

  // Within 5 s, says contract §5. How long it takes is not measured here: the bound tells the first look from the second.
  it('loses its streams at the first look after them', async () => {
    const { front } = await startParts(); // Its first look is 4 s away, its second 8 s.
    const mine = await service.key(['jobs:read']);
    const [client] = await openAll(mine.key, front.url());
    await service.redis.hdel(service.store.keys.apiKeys, mine.id);
    await until(() => client?.closed !== null, 6_500);
    expect(client?.closed).toEqual(REVOKED);
  });
});

describe('a client that sends', () => {
  const large = 'x'.repeat(1024);
  const SMALL: [what: string, send: (ws: WebSocket) => void][] = [
    ['a text', (ws) => ws.send('{"type":"subscribe"}')],
    ['an empty text', (ws) => ws.send('')],
    ['a text of 1 KB', (ws) => ws.send(large)],
    ['1 KB', (ws) => ws.send(Buffer.from(large))],
    ['a thousand messages', (ws) => [...large].forEach((text) => void ws.send(text))],
    ['a pong that nobody asked for', (ws) => ws.pong('x')],
  ];

  it.each(SMALL)('%s is not minded', async (_, send) => {
    const watching = [...(await openAll(ADMIN_KEY)), await open(`/${id}`)];
    for (const { ws } of watching) send(ws);
    await report();
    for (const client of watching) {
      await client.next('progress');
      expect(client.types()).toEqual(['init', 'progress']);
      expect(client.closed).toBeNull();
    }
  });

  it('a ping gets its pong', async () => {
    const { ws } = await open(`/${id}`);
    const pongs: string[] = [];
    ws.on('pong', (data) => pongs.push(data.toString()));
    for (const data of ['one', '', 'three']) ws.ping(data);
    await until(() => pongs.length === 3);
    expect(pongs).toEqual(['one', '', 'three']);
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

  it.each(LARGE)('%s is closed with 1009, and nobody else is', async (_, send) => {
    const hostile = [...(await openAll(ADMIN_KEY)), await open(`/${id}`)];
    const other = await open(`/${id}`);
    for (const { ws } of hostile) send(ws);
    for (const client of hostile) expect(await client.end()).toMatchObject({ code: 1009 });
    await report();
    await other.next('progress');
  });

  it('what is no frame is closed, and nobody else is', async () => {
    const hostile = await shake(service.url, `${REALTIME}/${id}`);
    const other = await open(`/${id}`);
    hostile.socket.write('GET / HTTP/1.1\r\n\r\n');
    await until(() => hostile.bytes().includes(Buffer.from([0x88, 0x02, 0x03, 0xea]))); // A close with 1002.
    hostile.socket.end();
    await until(() => hostile.socket.closed);
    await report();
    await other.next('progress');
  });
});

describe('pings', () => {
  it('keep a client that answers them, and end one that does not', async () => {
    const { front } = await startParts({ pingMs: 200 });
    const answering = await open(`/${id}?token=${ADMIN_KEY}`, front.url());
    let pings = 0;
    answering.ws.on('ping', () => pings++);
    const mute = await shake(front.url(), `${REALTIME}/${id}`);

    await until(() => mute.socket.closed && pings >= 5);

    await report();
    await answering.next('progress');
    expect(answering.closed).toBeNull();
  });
});

/** How many connections to Redis are subscribed to a channel. */
async function subscribers(channel: string): Promise<number> {
  const [, count] = (await service.redis.call('PUBSUB', 'NUMSUB', channel)) as [string, number];
  return count;
}

describe('a channel', () => {
  const channels = () => ({
    job: service.store.keys.jobChannel(id),
    space: service.store.keys.spaceChannel('life'),
  });

  it('is subscribed once, however many watch it, until the last has gone', async () => {
    const { job, space } = channels();
    const { key } = await service.key(['jobs:read:progress']);
    const paths = [`/${id}`, `/${id}`, `/${id}?token=${key}`, `/${id}?token=${ADMIN_KEY}`, `/${id}?token=${ADMIN_KEY}`];
    const ofJob = [];
    for (const path of paths) ofJob.push(await open(path));
    expect([await subscribers(job), await subscribers(space)]).toEqual([1, 0]);
    const ofSpace = [];
    for (let i = 0; i < 5; i++) ofSpace.push(await open(`/spaces/life?token=${ADMIN_KEY}`));
    expect([await subscribers(job), await subscribers(space)]).toEqual([1, 1]);

    const [last, ...others] = ofJob;
    for (const client of others) await client.close();
    await report();
    await last?.next('progress');
    expect(await subscribers(job)).toBe(1);
    await last?.close();
    await until(async () => (await subscribers(job)) === 0);
    expect(await subscribers(space)).toBe(1);
    for (const client of ofSpace) client.ws.terminate();
    await until(async () => (await subscribers(space)) === 0);
  });

  it('is subscribed again for whoever comes as the last one goes', async () => {
    for (let i = 0; i < 20; i++) {
      const first = await open(`/${id}`);
      const gone = first.close();
      const second = await open(`/${id}`);
      await gone;
      await report();
      await second.next('progress');
      await second.close();
    }
    await until(async () => (await subscribers(channels().job)) === 0);
  });

  it('is not subscribed any more after handshakes that were refused or given up', async () => {
    const { key } = await service.key(['jobs:read'], { spaceId: 'elsewhere' });
    const unknown = '00aaaaaaaaaaaaaaaaaaaaaaaaaa';
    for (let i = 0; i < 20; i++) {
      expect((await shake(service.url, `${REALTIME}/${id}?token=${key}`)).status).toBe(403);
      expect((await shake(service.url, `${REALTIME}/${unknown}`)).status).toBe(404);
      (await begin(service.url, `${REALTIME}/${id}`)).destroy();
      (await begin(service.url, `${REALTIME}/spaces/life?token=${ADMIN_KEY}`)).resetAndDestroy();
    }
    const { job, space } = channels();
    for (const channel of [job, space, service.store.keys.jobChannel(unknown)])
      await until(async () => (await subscribers(channel)) === 0);
  });

  it('is not subscribed any more once an ended job has closed its streams', async () => {
    const completed = await jobIn(service, 'completed', 'life');
    const watching = [
      await open(`/${id}`),
      await open(`/${completed}`),
      await open(`/${completed}?token=${ADMIN_KEY}`),
    ];
    const [gone] = watching;
    await service.call('POST', `/jobs/${id}/kill`);
    await gone?.close(); // It need not wait for the server.
    for (const client of watching.slice(1)) expect(await client.end()).toEqual({ code: 1000, reason: '' });
    for (const jobId of [id, completed])
      await until(async () => (await subscribers(service.store.keys.jobChannel(jobId))) === 0);
  });
});
