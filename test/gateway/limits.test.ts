import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { begin, cutAll, type Shaken, shake } from './handshake.js';

const UNKNOWN_JOB = '00aaaaaaaaaaaaaaaaaaaaaaaaaa';

/** One limit at a time is low; X-Forwarded-For is believed from the test itself. */
const SERVICES = {
  address: { STREAMS_PER_ADDRESS: '2', TRUSTED_PROXIES: 'loopback' },
  key: { STREAMS_PER_KEY: '2' },
  job: { STREAMS_PER_JOB: '2' },
  untrusting: { STREAMS_PER_ADDRESS: '1', TRUSTED_PROXIES: '10.0.0.0/8' },
  nobody: { STREAMS_PER_ADDRESS: '0' },
  withToken: { ANONYMOUS_STREAMS: 'false' },
};
type Limit = 'address' | 'key' | 'job';

const services = {} as Record<keyof typeof SERVICES, TestService>;
beforeAll(async () => {
  for (const name of Object.keys(SERVICES) as (keyof typeof SERVICES)[])
    services[name] = await startService(SERVICES[name]);
});
afterEach(cutAll);
afterAll(async () => {
  for (const service of Object.values(services)) await service.stop();
});

const ask = ({ url }: TestService, path: string, forwardedFor?: string) =>
  shake(url, `/api/v1/realtime${path}`, { headers: { 'x-forwarded-for': forwardedFor } });

/** Who watches what, as far as a limit counts it as one. */
interface Watched {
  service: TestService;
  /** Paths of streams, used by turns. */
  paths: string[];
  /** One that is refused for another reason once it has taken its place. */
  refused: string;
  /** The address that they say they come from. */
  from?: string;
}

let addresses = 0;

/** Something that no other test has streams of. */
const WATCHED: Record<Limit, () => Promise<Watched>> = {
  async address() {
    const service = services.address;
    const { id } = await createJob(service, 'a');
    return { service, paths: [`/${id}`], refused: `/${UNKNOWN_JOB}`, from: `192.0.2.${++addresses}` };
  },
  async key() {
    const service = services.key;
    const { key } = await service.key(['jobs:read']);
    const { id } = await createJob(service, 'a');
    const paths = [`/${id}?token=${key}`, `/spaces/a?token=${key}`];
    return { service, paths, refused: `/${UNKNOWN_JOB}?token=${key}` };
  },
  async job() {
    const service = services.job;
    const { id } = await createJob(service, 'a');
    const { key } = await service.key(['jobs:read'], { spaceId: 'b' });
    return { service, paths: [`/${id}`, `/${id}?token=${ADMIN_KEY}`], refused: `/${id}?token=${key}` };
  },
};
const LIMITS = Object.keys(WATCHED) as Limit[];

const open = ({ service, paths, from }: Watched, i: number) => ask(service, paths[i % paths.length] as string, from);

/** Open streams until one is refused. */
async function fill(watched: Watched): Promise<Shaken[]> {
  const accepted: Shaken[] = [];
  while (accepted.length < 10) {
    const shaken = await open(watched, accepted.length);
    if (shaken.status !== 101) break;
    accepted.push(shaken);
  }
  return accepted;
}

describe.each(LIMITS)('the limit of streams for each %s', (limit) => {
  it('refuses one more with 429, until another has gone', async () => {
    const watched = await WATCHED[limit]();
    const [first] = await fill(watched);

    const refused = await open(watched, 2);
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1', 'content-type': expect.stringMatching(/^application\/json/) },
      body: { error: expect.stringContaining('2'), code: 'TOO_MANY_STREAMS' },
    });
    expect(Object.keys(refused.body)).toEqual(['error', 'code']);
    expect(refused.headers).not.toHaveProperty('sec-websocket-accept');
    await until(() => refused.socket.closed);

    first?.socket.destroy();
    await until(async () => (await open(watched, 0)).status === 101);
    expect((await open(watched, 1)).status).toBe(429);
  });

  it('keeps no place for those who were refused', async () => {
    const watched = await WATCHED[limit]();
    for (let i = 0; i < 50; i++) {
      const { status } = await ask(watched.service, watched.refused, watched.from);
      expect([403, 404]).toContain(status);
    }
    expect(await fill(watched)).toHaveLength(2);
  });

  it('keeps no place for those who went before the answer, and gives none away twice', async () => {
    const watched = await WATCHED[limit]();
    const { service, paths, from } = watched;
    for (let i = 0; i < 50; i++) {
      const path = `/api/v1/realtime${paths[i % paths.length]}`;
      const socket = await begin(service.url, path, { headers: { 'x-forwarded-for': from } });
      if (i % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await until(async () => {
      const places = await fill(watched);
      if (places.length === 2) return true;
      for (const { socket } of places) socket.destroy();
      return false;
    });
    expect((await open(watched, 0)).status).toBe(429);
  });
});

it('counts streams with a token by their key and not by their address', async () => {
  const watched = await WATCHED.address();
  await fill(watched);
  const withToken = { ...watched, paths: [`/spaces/a?token=${ADMIN_KEY}`] };
  for (let i = 0; i < 3; i++) expect((await open(withToken, i)).status).toBe(101);
});

it('counts each key by itself', async () => {
  await fill(await WATCHED.key());
  expect(await fill(await WATCHED.key())).toHaveLength(2);
});

it('counts each job by itself', async () => {
  await fill(await WATCHED.job());
  expect(await fill(await WATCHED.job())).toHaveLength(2);
});

describe('X-Forwarded-For', () => {
  const ROWS: [what: string, one: string, other: string, isSame: boolean][] = [
    ['the same address', '203.0.113.1', '203.0.113.1', true],
    ['another address', '203.0.113.2', '203.0.113.3', false],
    ['what a client wrote in front of it', '203.0.113.4', '198.51.100.9, 203.0.113.4', true],
    ['another proxy that is trusted behind it', '203.0.113.5', '203.0.113.5, 127.0.0.9', true],
    ['IPv6 of the same /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['IPv6 of the same /64, written in full', '2001:db8:1:3::', '2001:0DB8:0001:0003:0000:0000:0000:0007', true],
    ['IPv6 of another /64', '2001:db8:1:4::1', '2001:db8:1:5::1', false],
    ['IPv4 written as IPv6', '203.0.113.6', '::ffff:203.0.113.6', true],
    ['another IPv4 written as IPv6', '::ffff:203.0.113.7', '::ffff:203.0.113.8', false],
    // Some proxies write the port as well, which would make each connection an address of its own.
    ['the same address with another port', '203.0.113.9:50001', '203.0.113.9:50002', true],
    ['IPv6 of the same /64 with another port', '[2001:db8:1:6::1]:50001', '[2001:db8:1:6::2]:50002', true],
  ];

  it.each(ROWS)('from a trusted proxy tells clients apart: %s', async (_, one, other, isSame) => {
    const service = services.address;
    const path = `/${(await createJob(service, 'a')).id}`;
    for (let i = 0; i < 2; i++) expect((await ask(service, path, one)).status).toBe(101);
    expect((await ask(service, path, other)).status).toBe(isSame ? 429 : 101);
  });

  it('from anybody else is not believed', async () => {
    const service = services.untrusting;
    const path = `/${(await createJob(service, 'a')).id}`;
    expect((await ask(service, path, '203.0.113.1')).status).toBe(101);
    expect((await ask(service, path, '203.0.113.2')).status).toBe(429);
    expect((await ask(service, path)).status).toBe(429);
  });
});

describe('a stream without a token', () => {
  it('is refused with 401 when they are switched off, whether the job exists or not', async () => {
    const service = services.withToken;
    const { id } = await createJob(service, 'a');
    const { key } = await service.key(['jobs:read:progress']);
    for (const path of [`/${id}`, `/${UNKNOWN_JOB}`])
      expect(await ask(service, path)).toMatchObject({
        status: 401,
        body: { error: expect.any(String), code: 'UNAUTHENTICATED' },
      });
    expect((await ask(service, `/${id}?token=${key}`)).status).toBe(101);
  });

  it('is refused with 429 when none may be open', async () => {
    const service = services.nobody;
    const { id } = await createJob(service, 'a');
    expect((await ask(service, `/${id}`)).status).toBe(429);
    expect((await ask(service, `/${id}?token=${ADMIN_KEY}`)).status).toBe(101);
  });
});
