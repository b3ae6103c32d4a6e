import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { cutAll, type Shaken, type ShakeOptions, shake } from './handshake.js';
import { startGateway } from './start.js';

const REALTIME = '/api/v1/realtime';
const UNKNOWN_JOB = '00aaaaaaaaaaaaaaaaaaaaaaaaaa';

let service: TestService;
/** The gateway as a server of its own, on the same Redis. */
let gateway: Awaited<ReturnType<typeof startGateway>>;
let jobId: string;

beforeAll(async () => {
  service = await startService();
  gateway = await startGateway({ KEY_PREFIX: service.prefix });
  jobId = await jobIn(service, 'running', 'yard');
});
afterAll(async () => {
  await gateway.stop();
  await service.stop();
});
afterEach(cutAll);

/** Who serves the streams. */
const SERVERS: [name: string, url: () => string][] = [
  ['the service on one port', () => service.url],
  ['the gateway', () => gateway.url()],
];

/** Refused before the upgrade, as HTTP with a whole answer (contract §6), and nothing after it. */
async function expectRefusal(shaken: Shaken, status: number, code: string): Promise<void> {
  const { headers, body, socket } = shaken;
  expect({ status: shaken.status, body }).toEqual({ status, body: { error: expect.stringMatching(/./), code } });
  expect(headers['content-type']).toMatch(/^application\/json(;|$)/);
  expect(headers['x-request-id']).toMatch(/./);
  expect(headers).not.toHaveProperty('sec-websocket-accept');
  await until(() => socket.closed);
}

/** What the first message of a stream shows of its scope. */
async function scopeOf(url: string, path: string): Promise<string> {
  const client = await StreamClient.open(url, path);
  const [init] = client.messages;
  await client.close();
  if ('spaceId' in init) return 'space';
  return 'status' in init ? 'full' : 'progress';
}

describe('a token', () => {
  type Outcome = 'full' | 'progress' | 'space' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'INVALID_REQUEST';
  interface Row {
    token: string;
    /** The query, with its `?`. */
    query: () => string | Promise<string>;
    /** What becomes of a stream of an existing job. */
    job: Outcome;
    space: Outcome;
    /** Only the space that the token is bound to stands against it, so a job that is in none is unknown. */
    isElsewhere?: boolean;
  }

  const madeOf = (scopes: string[], fields?: { spaceId?: string; expiresAt?: string }) => async () =>
    `?token=${(await service.key(scopes, fields)).key}`;
  const revoked = async () => {
    const { id, key } = await service.key(['jobs:read']);
    await service.call('DELETE', `/keys/${id}`);
    return `?token=${key}`;
  };
  const secretOfAnother = async () => `?token=ym_${(await service.key(['jobs:read'])).id}_${'0'.repeat(64)}`;
  const twice = async () => {
    const { key } = await service.key(['jobs:read']);
    return `?token=${key}&token=${key}`;
  };
  const past = '2020-01-01T00:00:00.000Z';

  /** §5.2 to §5.6 and contract §6. */
  const ROWS: Row[] = [
    { token: 'none', query: () => '', job: 'progress', space: 'UNAUTHENTICATED' },
    { token: 'another parameter', query: () => `?key=${ADMIN_KEY}`, job: 'progress', space: 'UNAUTHENTICATED' },
    { token: 'an empty one', query: () => '?token=', job: 'UNAUTHENTICATED', space: 'UNAUTHENTICATED' },
    { token: 'garbage', query: () => '?token=garbage', job: 'UNAUTHENTICATED', space: 'UNAUTHENTICATED' },
    {
      token: 'an unknown key',
      query: () => `?token=ym_${'a'.repeat(16)}_${'0'.repeat(64)}`,
      job: 'UNAUTHENTICATED',
      space: 'UNAUTHENTICATED',
    },
    { token: 'a wrong secret', query: secretOfAnother, job: 'UNAUTHENTICATED', space: 'UNAUTHENTICATED' },
    { token: 'a revoked key', query: revoked, job: 'UNAUTHENTICATED', space: 'UNAUTHENTICATED' },
    {
      token: 'an expired key',
      query: madeOf(['jobs:read'], { expiresAt: past }),
      job: 'UNAUTHENTICATED',
      space: 'UNAUTHENTICATED',
    },
    { token: 'jobs:read:progress', query: madeOf(['jobs:read:progress']), job: 'progress', space: 'FORBIDDEN' },
    { token: 'jobs:read', query: madeOf(['jobs:read']), job: 'full', space: 'space' },
    { token: 'both of them', query: madeOf(['jobs:read:progress', 'jobs:read']), job: 'full', space: 'space' },
    { token: 'jobs:worker', query: madeOf(['jobs:worker']), job: 'full', space: 'space' },
    { token: 'jobs:create', query: madeOf(['jobs:create']), job: 'FORBIDDEN', space: 'FORBIDDEN' },
    { token: 'keys:manage', query: madeOf(['keys:manage']), job: 'FORBIDDEN', space: 'FORBIDDEN' },
    {
      token: 'jobs:read in this space',
      query: madeOf(['jobs:read'], { spaceId: 'yard' }),
      job: 'full',
      space: 'space',
    },
    {
      token: 'jobs:read:progress in this space',
      query: madeOf(['jobs:read:progress'], { spaceId: 'yard' }),
      job: 'progress',
      space: 'FORBIDDEN',
    },
    {
      token: 'jobs:read in another space',
      query: madeOf(['jobs:read'], { spaceId: 'Yard' }),
      job: 'FORBIDDEN',
      space: 'FORBIDDEN',
      isElsewhere: true,
    },
    {
      token: 'jobs:read:progress in another space',
      query: madeOf(['jobs:read:progress'], { spaceId: 'Yard' }),
      job: 'FORBIDDEN',
      space: 'FORBIDDEN',
      isElsewhere: true,
    },
    { token: 'the admin key', query: () => `?token=${ADMIN_KEY}`, job: 'full', space: 'space' },
    { token: 'a key twice', query: twice, job: 'INVALID_REQUEST', space: 'INVALID_REQUEST' },
  ];

  const STATUS: Record<string, number> = {
    INVALID_REQUEST: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    JOB_NOT_FOUND: 404,
  };

  /** Of a job that is not there: the key and its scope come first (contract §2). */
  const unknownJob = ({ job, isElsewhere }: Row) => (job in STATUS && !isElsewhere ? job : 'JOB_NOT_FOUND');

  const STREAMS: [stream: string, path: () => string, outcome: (row: Row) => string][] = [
    ['a job', () => `/${jobId}`, ({ job }) => job],
    ['an unknown job', () => `/${UNKNOWN_JOB}`, unknownJob],
    ['what is no job id', () => '/a%20b', unknownJob],
    ['a space', () => '/spaces/yard', ({ space }) => space],
    // The path comes before the key.
    ['a space id with a space', () => '/spaces/a%20b', () => 'INVALID_REQUEST'],
    ['a space id of 129 characters', () => `/spaces/${'s'.repeat(129)}`, () => 'INVALID_REQUEST'],
  ];

  const cases = ROWS.flatMap((row) =>
    STREAMS.map(([stream, path, outcomeOf]) => ({ ...row, stream, path, outcome: outcomeOf(row) })),
  );

  describe.each(SERVERS)('at %s', (_, url) => {
    it.each(cases.filter(({ outcome }) => !(outcome in STATUS)))(
      '$token opens $stream: $outcome',
      async ({ path, query, outcome }) => {
        expect(await scopeOf(url(), path() + (await query()))).toBe(outcome);
      },
    );

    it.each(cases.filter(({ outcome }) => outcome in STATUS))(
      '$token does not open $stream: $outcome',
      async ({ path, query, outcome }) => {
        const shaken = await shake(url(), REALTIME + path() + (await query()));
        await expectRefusal(shaken, STATUS[outcome] as number, outcome);
      },
    );
  });

  it('is told which scope it lacks', async () => {
    const refusalOf = async (scope: string, path: string) =>
      (await shake(service.url, `${REALTIME}${path}?token=${(await service.key([scope])).key}`)).body.error;
    expect(await refusalOf('jobs:create', `/${jobId}`)).toMatch(/jobs:read:progress/);
    expect(await refusalOf('jobs:read:progress', '/spaces/yard')).toMatch(/jobs:read(?!:)/);
  });

  it('in the header x-api-key opens nothing: streams take it in the query', async () => {
    const headers = { 'x-api-key': ADMIN_KEY };
    await expectRefusal(await shake(service.url, `${REALTIME}/spaces/yard`, { headers }), 401, 'UNAUTHENTICATED');
  });
});

describe('a job id', () => {
  const IDS = [
    'nope',
    '%2e%2e',
    '__proto__',
    UNKNOWN_JOB.toUpperCase(),
    '%00',
    '*',
    'ff'.padEnd(28, 'a'),
    'x'.repeat(4_000),
  ];

  it.each(IDS)('that no job can have is an unknown job: %s', async (id) => {
    await expectRefusal(await shake(service.url, `${REALTIME}/${id}`), 404, 'JOB_NOT_FOUND');
  });
});

/** Headers of a request that is no handshake. */
const PLAIN = {
  connection: undefined,
  upgrade: undefined,
  'sec-websocket-version': undefined,
  'sec-websocket-key': undefined,
};
const H2C = { ...PLAIN, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };

describe('a request on the path of a stream', () => {
  interface Row extends ShakeOptions {
    what: string;
    path?: () => string;
    status: number;
    code: string;
    /** Headers that the answer must have. */
    has?: Record<string, string>;
  }
  const ofJob = () => `/${jobId}`;
  const ofSpace = () => `/spaces/yard?token=${ADMIN_KEY}`;
  const noUpgrade = { status: 426, code: 'UPGRADE_REQUIRED', has: { upgrade: 'websocket' } };
  const noVersion = { status: 426, code: 'UPGRADE_REQUIRED', has: { 'sec-websocket-version': '13' } };
  const noMethod = { status: 405, code: 'METHOD_NOT_ALLOWED', has: { allow: 'OPTIONS, GET, HEAD' } };
  const notFound = { status: 404, code: 'NOT_FOUND' };
  const invalid = { status: 400, code: 'INVALID_REQUEST' };

  /** Answered as any request is; the connection may go on. */
  const ORDINARY: Row[] = [
    { what: 'that is plain', headers: PLAIN, ...noUpgrade },
    { what: 'that is plain and for a space', path: ofSpace, headers: PLAIN, ...noUpgrade },
    { what: 'that is plain, for a job that is not there', path: () => `/${UNKNOWN_JOB}`, headers: PLAIN, ...noUpgrade },
    { what: 'to HTTP/2', headers: H2C, ...noUpgrade },
    { what: 'to HTTP/2 for a space', path: ofSpace, headers: H2C, ...noUpgrade },
    { what: 'whose Connection does not name Upgrade', headers: { connection: 'keep-alive' }, ...noUpgrade },
    { what: 'that is a POST', method: 'POST', headers: PLAIN, body: '{}', ...noMethod },
    { what: 'that is a POST with an upgrade', method: 'POST', ...noMethod },
    { what: 'that is a DELETE for a space', method: 'DELETE', path: ofSpace, headers: PLAIN, ...noMethod },
    { what: 'that is plain, with no id', path: () => '/', headers: PLAIN, ...notFound },
    { what: 'that is plain, with more than an id', path: () => '/a/b', headers: PLAIN, ...notFound },
    { what: 'that is plain, with broken percent-encoding', path: () => '/%zz', headers: PLAIN, ...invalid },
    { what: 'that is plain, for what is no space id', path: () => '/spaces/a%20b', headers: PLAIN, ...invalid },
  ];

  /** Refused in place of the upgrade: the connection ends. */
  const REFUSED: Row[] = [
    { what: 'of an old WebSocket', headers: { 'sec-websocket-version': '12' }, ...noVersion },
    { what: 'of a WebSocket of no version', headers: { 'sec-websocket-version': undefined }, ...noVersion },
    { what: 'with no Sec-WebSocket-Key', headers: { 'sec-websocket-key': undefined }, ...invalid },
    { what: 'with a short Sec-WebSocket-Key', headers: { 'sec-websocket-key': 'c2hvcnQ=' }, ...invalid },
    { what: 'with a broken Sec-WebSocket-Protocol', headers: { 'sec-websocket-protocol': ',,' }, ...invalid },
    { what: 'with no id', path: () => '/', ...notFound },
    { what: 'with more than an id', path: () => `/${jobId}/more`, ...notFound },
    { what: 'with more than a space id', path: () => `/spaces/yard/more?token=${ADMIN_KEY}`, ...notFound },
    { what: 'with something else than spaces', path: () => `/jobs/${jobId}`, ...notFound },
    { what: 'with broken percent-encoding', path: () => '/%zz', ...invalid },
    { what: 'with broken percent-encoding for a space', path: () => '/spaces/%e0%a4', ...invalid },
    { what: 'that is broken beats one with no token', path: () => '/spaces/%zz', ...invalid },
  ];

  describe.each(SERVERS)('at %s', (_, url) => {
    const ask = ({ path = ofJob, ...options }: Row) => shake(url(), REALTIME + path(), options);

    it.each(ORDINARY)('is $status $code for one $what', async (row) => {
      const { headers, ...shaken } = await ask(row);
      expect(shaken.body).toEqual({ error: expect.stringMatching(/./), code: row.code });
      expect(shaken.status).toBe(row.status);
      expect(headers).toMatchObject({ ...row.has, 'content-type': expect.stringMatching(/^application\/json(;|$)/) });
      expect(headers['x-request-id']).toMatch(/./);
    });

    it.each(REFUSED)('is $status $code for one $what', async (row) => {
      const shaken = await ask(row);
      await expectRefusal(shaken, row.status, row.code);
      expect(shaken.headers).toMatchObject(row.has ?? {});
    });

    it('tells OPTIONS what it may be asked', async () => {
      const { status, headers, body } = await ask({
        what: '',
        status: 204,
        code: '',
        method: 'OPTIONS',
        headers: PLAIN,
      });
      expect({ status, allow: headers.allow, body }).toEqual({ status: 204, allow: 'OPTIONS, GET, HEAD', body: null });
    });

    it('answers HEAD like GET, without a body', async () => {
      const head = await ask({ what: '', ...noUpgrade, method: 'HEAD', headers: PLAIN });
      expect({ status: head.status, upgrade: head.headers.upgrade }).toEqual({ status: 426, upgrade: 'websocket' });
    });

    it('returns the request id of the caller, also when it refuses', async () => {
      const headers = { 'x-request-id': 'mine-1' };
      const refused = await shake(url(), `${REALTIME}/${UNKNOWN_JOB}`, { headers });
      expect(refused.headers['x-request-id']).toBe('mine-1');
      const plain = await shake(url(), `${REALTIME}/${jobId}`, { headers: { ...PLAIN, ...headers } });
      expect(plain.headers['x-request-id']).toBe('mine-1');
    });

    it.each([
      ['no Host', undefined],
      ['two Hosts', 'one\r\nhost: two'],
    ])('is refused with %s', async (_, host) => {
      for (const kind of [{}, PLAIN]) {
        const { status, body } = await shake(url(), `${REALTIME}/${jobId}`, { headers: { ...kind, host } });
        expect({ status, code: body?.code }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      }
    });

    it.each([
      ['upgrade', 'WebSocket'],
      ['connection', 'keep-alive, upgrade'],
      ['origin', 'https://elsewhere.example'],
      ['sec-websocket-protocol', 'one, two'],
      ['x-api-key', 'is not looked at'],
    ])('is accepted with %s: %s', async (name, value) => {
      expect((await shake(url(), `${REALTIME}/${jobId}`, { headers: { [name]: value } })).status).toBe(101);
    });

    it('is accepted without compression, whatever the client offers', async () => {
      const headers = { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' };
      const accepted = await shake(url(), `${REALTIME}/${jobId}`, { headers });
      expect(accepted.status).toBe(101);
      expect(accepted.headers).toMatchObject({ upgrade: 'websocket', connection: 'Upgrade' });
      // What RFC 6455 §1.3 computes for the key of its example.
      expect(accepted.headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
      expect(accepted.headers).not.toHaveProperty('sec-websocket-extensions');
    });

    it.each(['/api/v2/realtime/', '/api/v1/Realtime/', '/api/v1/realtime_/', '/api/v1/streams/', '/'])(
      'is no stream below %s',
      async (prefix) => {
        const { status, headers, body } = await shake(url(), prefix + jobId);
        expect({ status, body }).toEqual({ status: 404, body: { error: 'No such path', code: 'NOT_FOUND' } });
        expect(headers).not.toHaveProperty('sec-websocket-accept');
      },
    );

    it.each(['', '?token=x'])('is 404 for one with nothing below realtime%s', async (query) => {
      const { status, body } = await shake(url(), REALTIME + query);
      expect({ status, body }).toEqual({ status: 404, body: { error: expect.any(String), code: 'NOT_FOUND' } });
    });
  });
});

describe('an upgrade where no stream is', () => {
  const key = { 'x-api-key': ADMIN_KEY };
  const UPGRADES: [to: string, headers: Record<string, string | undefined>][] = [
    ['HTTP/2', H2C],
    ['WebSocket', {}],
  ];

  it.each(UPGRADES)('to %s is an ordinary call', async (_, upgrade) => {
    const job = await shake(service.url, `/api/v1/jobs/${jobId}`, { headers: { ...upgrade, ...key } });
    expect(job).toMatchObject({ status: 200, body: { id: jobId } });
  });

  it.each(UPGRADES)('to %s is an ordinary call with its body', async (_, upgrade) => {
    const headers = { ...upgrade, ...key, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'work', payload: { text: 'ä'.repeat(50_000) } });
    const created = await shake(service.url, '/api/v1/spaces/upgrade/jobs', { method: 'POST', headers, body });
    expect(created.status).toBe(201);
    expect((await service.call('GET', `/jobs/${created.body.id}`)).body.payload).toEqual(JSON.parse(body).payload);
  });

  describe.each(SERVERS)('at %s', (_, url) => {
    it.each(UPGRADES)('to %s is an ordinary request', async (_, headers) => {
      expect(await shake(url(), '/livez', { headers })).toMatchObject({ status: 200, body: { status: 'ok' } });
      expect(await shake(url(), '/nowhere', { headers })).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    });
  });
});

describe('while Redis is away', () => {
  const isAccepted = async (url: string, path: string) => (await shake(url, REALTIME + path)).status === 101;

  /** How Redis goes, and how it comes back. */
  const OUTAGES: [what: string, go: (redis: OwnRedis) => unknown, comeBack: (redis: OwnRedis) => unknown][] = [
    ['down', (redis) => redis.halt(), (redis) => redis.resume()],
    ['hanging', (redis) => process.kill(redis.pid(), 'SIGSTOP'), (redis) => process.kill(redis.pid(), 'SIGCONT')],
  ];

  it.each(OUTAGES)(
    '(%s) is 503 and not 401, and accepted again afterwards with every place free',
    async (_, go, comeBack) => {
      const redis = await startRedis();
      const limits = { STREAMS_PER_ADDRESS: '1', STREAMS_PER_KEY: '2', STREAMS_PER_JOB: '2' };
      const whole = await startService(limits, { redisUrl: redis.url });
      const apart = await startGateway({ ...limits, KEY_PREFIX: whole.prefix }, redis.url);
      try {
        const id = await jobIn(whole, 'running', 'away');
        const { key } = await whole.key(['jobs:read']);
        const paths = [`/${id}`, `/${id}?token=${key}`, `/spaces/away?token=${key}`, `/spaces/away?token=${ADMIN_KEY}`];
        const urls = [whole.url, apart.url()];
        await go(redis);
        try {
          const asked = urls.flatMap((url) => paths.map((path) => shake(url, REALTIME + path)));
          for (const shaken of await Promise.all(asked)) {
            await expectRefusal(shaken, 503, 'UNAVAILABLE');
            expect(shaken.headers['retry-after']).toMatch(/^\d+$/);
          }
        } finally {
          await comeBack(redis);
        }
        for (const url of urls) for (const path of paths) await until(() => isAccepted(url, path));
      } finally {
        cutAll();
        await apart.stop();
        await whole.stop();
        await redis.stop();
      }
    },
  );
});
