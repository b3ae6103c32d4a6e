import { afterEach, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { withGateway } from './gateway.js';
import { beginHandshake, destroySockets, type HandshakeResponse, sendHandshake, UNKNOWN_JOB } from './handshake.js';

const service = withService();
afterEach(destroySockets);

/** A gateway that trusts X-Forwarded-For from the test itself. */
const limited = withGateway(service, {
  STREAMS_PER_ADDRESS: '2',
  STREAMS_PER_SPACE: '2',
  STREAMS_PER_JOB: '10',
  TRUSTED_PROXIES: 'loopback',
});

/** A request for a stream, and the address that its client puts into X-Forwarded-For. */
interface StreamRequest {
  path: string;
  from?: string | undefined;
}

const headersOf = ({ from }: StreamRequest) => ({ 'x-forwarded-for': from });
const send = (request: StreamRequest, { url } = limited) =>
  sendHandshake(url, `/api/v1/realtime${request.path}`, { headers: headersOf(request) });

const newJob = async () => (await createJob(service, 'a')).id;
const newKey = async (spaceId?: string) => (await service.key(['jobs:read'], spaceId ? { spaceId } : {})).key;

let spaces = 0;
let addresses = 0;
const newAddress = () => `2001:db8:${(++addresses).toString(16)}::1`;

/** Streams that one limit counts together, and no streams of other tests. */
interface Counted {
  limit: number;
  /** The limit that the refusal of a stream without a key names. Such a stream must not take the last places. */
  namedLimit: number;
  /** The nth stream. */
  stream: (n: number) => StreamRequest;
  /** A stream that is refused for another reason once it has been counted. */
  refused: StreamRequest;
}

const COUNTED: Record<'address' | 'space' | 'job', () => Promise<Counted>> = {
  async address() {
    const [id, from] = [await newJob(), newAddress()];
    return {
      limit: 2,
      namedLimit: 2,
      stream: () => ({ path: `/${id}`, from }),
      refused: { path: `/${UNKNOWN_JOB}`, from },
    };
  },
  async space() {
    const space = `counted-${++spaces}`;
    const [{ id }, key, other] = await Promise.all([createJob(service, space), newKey(space), newKey(space)]);
    const paths = [`/${id}?token=${key}`, `/spaces/${space}?token=${other}`];
    return {
      limit: 2,
      namedLimit: 2,
      stream: (n) => ({ path: paths[n % 2] as string }),
      refused: { path: `/${UNKNOWN_JOB}?token=${key}` },
    };
  },
  async job() {
    const [id, foreignKey] = [await newJob(), await newKey('b')];
    const tokens = await Promise.all(Array.from({ length: 5 }, () => newKey()));
    return {
      limit: 10,
      namedLimit: 9,
      stream: (n) =>
        n % 2 ? { path: `/${id}?token=${tokens[(n >> 1) % 5]}` } : { path: `/${id}`, from: newAddress() },
      refused: { path: `/${id}?token=${foreignKey}` },
    };
  },
};
const LIMITS = Object.keys(COUNTED) as (keyof typeof COUNTED)[];

/** Open streams until one is refused. */
async function fill({ limit, stream }: Counted): Promise<HandshakeResponse[]> {
  const accepted: HandshakeResponse[] = [];
  while (accepted.length < limit + 5) {
    const response = await send(stream(accepted.length));
    if (response.status !== 101) break;
    accepted.push(response);
  }
  return accepted;
}

describe.each(LIMITS)('the limit for streams of one %s', (of) => {
  it(`refuses a stream beyond the limit of one ${of} with 429 until another has ended`, async () => {
    const counted = await COUNTED[of]();
    const [first] = await fill(counted);

    const refused = await send(counted.stream(counted.limit));
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1', 'content-type': expect.stringMatching(/^application\/json/) },
      body: {
        error: expect.stringMatching(`${of}\\b.*; the limit is ${counted.namedLimit}$`),
        code: 'TOO_MANY_STREAMS',
      },
    });
    expect(Object.keys(refused.body)).toEqual(['error', 'code']);
    expect(refused.headers).not.toHaveProperty('sec-websocket-accept');
    await until(() => refused.socket.closed);

    first?.socket.destroy();
    await until(async () => (await send(counted.stream(1))).status === 101);
    expect((await send(counted.stream(0))).status).toBe(429);
  });

  it(`does not count refused streams toward the limit of one ${of}`, async () => {
    const counted = await COUNTED[of]();
    for (let i = 0; i < 3 * counted.limit; i++) expect([403, 404]).toContain((await send(counted.refused)).status);
    expect(await fill(counted)).toHaveLength(counted.limit);
  });

  it(`does not count clients that disconnect before the response toward the limit of one ${of}`, async () => {
    const counted = await COUNTED[of]();
    for (let i = 0; i < 50; i++) {
      const request = counted.stream(i);
      const socket = await beginHandshake(limited.url, `/api/v1/realtime${request.path}`, {
        headers: headersOf(request),
      });
      if (i % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await until(async () => {
      const streams = await fill(counted);
      if (streams.length === counted.limit) return true;
      for (const { socket } of streams) socket.destroy();
      return false;
    });
    expect((await send(counted.stream(0))).status).toBe(429);
  });

  it('counts the streams of each address, key or job separately', async () => {
    await fill(await COUNTED[of]());
    const other = await COUNTED[of]();
    expect(await fill(other)).toHaveLength(other.limit);
  });
});

it('counts streams with a token by the space of their key and not by their address', async () => {
  const counted = await COUNTED.address();
  await fill(counted);
  const { from } = counted.stream(0);
  for (const space of ['b', 'c', 'd'])
    expect((await send({ path: `/spaces/${space}?token=${await newKey(space)}`, from })).status).toBe(101);
});

it('reserves the last tenth of the streams of a job for clients with a key', async () => {
  const id = await newJob();
  for (let i = 0; i < 9; i++) expect((await send({ path: `/${id}`, from: newAddress() })).status).toBe(101);
  expect((await send({ path: `/${id}`, from: newAddress() })).status).toBe(429);
  expect((await send({ path: `/${id}?token=${await newKey()}` })).status).toBe(101);
});

describe('X-Forwarded-For', () => {
  const ROWS: [what: string, one: string, other: string, isSame: boolean][] = [
    ['the same address', '203.0.113.1', '203.0.113.1', true],
    ['another address', '203.0.113.2', '203.0.113.3', false],
    ['an address that the client put in front of it', '203.0.113.4', '198.51.100.9, 203.0.113.4', true],
    ['another trusted proxy behind it', '203.0.113.5', '203.0.113.5, 127.0.0.9', true],
    ['IPv6 of the same /64', '2001:db9:1:2::1', '2001:db9:1:2:ffff:ffff:ffff:ffff', true],
    ['IPv6 of the same /64, written in full', '2001:db9:1:3::', '2001:0DB9:0001:0003:0000:0000:0000:0007', true],
    ['IPv6 of another /64', '2001:db9:1:4::1', '2001:db9:1:5::1', false],
    ['IPv4 written as IPv6', '203.0.113.6', '::ffff:203.0.113.6', true],
    ['another IPv4 written as IPv6', '::ffff:203.0.113.7', '::ffff:203.0.113.8', false],
    // Some proxies write the port as well. Each connection would then have an address of its own.
    ['the same address with another port', '203.0.113.9:50001', '203.0.113.9:50002', true],
    ['IPv6 of the same /64 with another port', '[2001:db9:1:6::1]:50001', '[2001:db9:1:6::2]:50002', true],
  ];

  it.each(ROWS)(
    'reads the client address from X-Forwarded-For of a trusted proxy: %s',
    async (_, one, other, isSame) => {
      const path = `/${await newJob()}`;
      for (let i = 0; i < 2; i++) expect((await send({ path, from: one })).status).toBe(101);
      expect((await send({ path, from: other })).status).toBe(isSame ? 429 : 101);
    },
  );

  const untrusting = withGateway(service, { STREAMS_PER_ADDRESS: '1', TRUSTED_PROXIES: '10.0.0.0/8' });

  it('ignores X-Forwarded-For from an address that is not a trusted proxy', async () => {
    const path = `/${await newJob()}`;
    expect((await send({ path, from: '203.0.113.1' }, untrusting)).status).toBe(101);
    expect((await send({ path, from: '203.0.113.2' }, untrusting)).status).toBe(429);
    expect((await send({ path }, untrusting)).status).toBe(429);
  });
});

describe('a stream without a token', () => {
  const withToken = withGateway(service, { ANONYMOUS_STREAMS: 'false' });
  const withoutAnonymous = withGateway(service, { STREAMS_PER_ADDRESS: '0' });

  it('refuses streams without a token with 401 when ANONYMOUS_STREAMS is false, whether or not the job exists', async () => {
    const id = await newJob();
    const { key } = await service.key(['jobs:read:progress']);
    for (const path of [`/${id}`, `/${UNKNOWN_JOB}`])
      expect(await send({ path }, withToken)).toMatchObject({
        status: 401,
        body: { error: expect.any(String), code: 'UNAUTHENTICATED' },
      });
    expect((await send({ path: `/${id}?token=${key}` }, withToken)).status).toBe(101);
  });

  it('refuses a stream without a token with 429 when the limit of one address is 0', async () => {
    const id = await newJob();
    expect((await send({ path: `/${id}` }, withoutAnonymous)).status).toBe(429);
    expect((await send({ path: `/${id}?token=${ADMIN_KEY}` }, withoutAnonymous)).status).toBe(101);
  });
});
