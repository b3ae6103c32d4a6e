import { afterEach, describe, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { type RunningApp, runApp } from '../support/process.js';
import { startService, withService } from '../support/service.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { StreamClient, withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { withGateway } from './gateway.js';
import { connect, destroySockets, sendHandshake } from './handshake.js';

const REDIS_URL = sharedService().redisUrl;

/** The API that creates the jobs and the keys. */
const api = withService();
afterEach(destroySockets);

it.each([
  ['no REDIS_URL', {}, 'REDIS_URL or REDIS_URL_FILE is required\n'],
  [
    'invalid limits',
    { REDIS_URL, STREAMS_PER_SPACE: 'many', TRUSTED_PROXIES: 'nonsense' },
    expect.stringMatching(/^TRUSTED_PROXIES .+\n {2}STREAMS_PER_SPACE .+\n$/),
  ],
])('the gateway refuses to start with %s and prints every fault', async (_, env: Record<string, string>, faults) => {
  const gateway = runApp('gateway', { PORT: '0', KEY_PREFIX: api.prefix, ...env });
  expect(await gateway.ended()).toBe(1);
  const [headline, ...rest] = gateway.output().split('\n  ');
  expect(headline).toBe('Invalid configuration:');
  expect(rest.join('\n  ')).toEqual(faults);
});

describe('a separate gateway', () => {
  const gateway = withGateway(api, { ADMIN_API_KEY: undefined, LOG_LEVEL: 'trace' });
  const open = withStreams(gateway);

  it('a separate gateway streams jobs of the API to clients with keys of the API, without an admin key', async () => {
    const id = await jobIn(api, 'running', 'apart');
    const { key } = await api.key(['jobs:read']);
    const paths = [`/${id}`, `/${id}?token=${key}`, `/spaces/apart?token=${key}`];
    const clients = await Promise.all(paths.map((path) => open(path)));

    await api.call('POST', `/jobs/${id}/progress`, { body: { percent: 1, message: 'x' } });

    for (const client of clients) expect(await client.next('progress')).toMatchObject({ jobId: id });
    expect((await sendHandshake(gateway.url, `/api/v1/realtime/${id}?token=${ADMIN_KEY}`)).status).toBe(401);
  });

  it('a separate gateway never logs a token', async () => {
    const { id, key } = await api.key(['jobs:read']);
    const wrong = `ym_${id}_${'0'.repeat(64)}`;
    await open(`/spaces/logged?token=${key}`);
    await sendHandshake(gateway.url, `/api/v1/realtime/spaces/logged?token=${wrong}`);
    await sendHandshake(gateway.url, `/api/v1/realtime/unknown?token=${key}`);
    const count = (text: string) => gateway.output().split(text).length - 1;
    await until(() => count('stream refused') >= 2 && count('stream opened') >= 1);
    expect([count(key), count(wrong)]).toEqual([0, 0]);
  });

  const notFound = { status: 404, body: { error: 'No such path', code: 'NOT_FOUND' } };
  const allowed = { allow: 'OPTIONS, GET, HEAD' };
  it.each([
    ['GET', '/livez', { status: 200, body: { status: 'ok' } }],
    ['GET', '/readyz?x=1', { status: 200, body: { status: 'ok' } }],
    ['HEAD', '/readyz', { status: 200, body: null }],
    ['POST', '/livez', { status: 405, headers: allowed, body: { code: 'METHOD_NOT_ALLOWED' } }],
    ['OPTIONS', '/livez', { status: 204, headers: allowed }],
    ['GET', '/', notFound],
    ['GET', '/api/v1/spaces/x/jobs', notFound],
    ['POST', '/api/v1/spaces/x/jobs', notFound],
  ])(
    'a separate gateway responds to %s %s like a ready process without the paths of the API',
    async (method, path, response) => {
      const headers = { connection: undefined, upgrade: undefined, 'x-api-key': ADMIN_KEY };
      expect(await sendHandshake(gateway.url, path, { method, headers })).toMatchObject(response);
    },
  );
});

/** Stop a process while clients watch. One of them does not respond to the close, so the process must cut it off. */
async function stopWhileWatched(app: 'gateway' | 'standalone') {
  // Half of SHUTDOWN_SECONDS is less than a session gives its client to respond to a close.
  const env = { KEY_PREFIX: api.prefix, SHUTDOWN_SECONDS: '5' };
  const { process, url, stop } = await startService(env, { app, isOwn: true, check: false });
  const [running, ended] = [await jobIn(api, 'running', 'stop'), await jobIn(api, 'completed', 'stop')];
  const paths = [`/${running}`, `/${running}?token=${ADMIN_KEY}`, `/${ended}`, `/spaces/stop?token=${ADMIN_KEY}`];
  const clients = await Promise.all(paths.map((path) => StreamClient.open(url, path)));
  const silent = await sendHandshake(url, `/api/v1/realtime/${running}`);
  const socket = await connect(url);

  const stopped = (process as RunningApp).stop();

  const closes = await Promise.all(clients.map((client) => client.end()));
  const late = await sendHandshake(url, `/api/v1/realtime/${running}`, { socket });
  const exitCode = await stopped;
  await stop();
  return { closes, late, exitCode, silent: silent.bytes().toString('latin1') };
}

it('the gateway and the standalone close every stream with 1001 on SIGTERM, refuse new ones, and exit with 0', async () => {
  const outcomes = await Promise.all((['gateway', 'standalone'] as const).map(stopWhileWatched));
  for (const { closes, late, exitCode, silent } of outcomes) {
    expect(closes).toEqual(Array(4).fill({ code: 1001, reason: 'server is shutting down' }));
    expect(late).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^[1-5]$/) },
      body: { code: 'UNAVAILABLE' },
    });
    expect(exitCode).toBe(0);
    // A close frame with the code in its first two bytes (RFC 6455 §5.5.1).
    expect(silent).toContain('\x03\xe9server is shutting down');
  }
});
