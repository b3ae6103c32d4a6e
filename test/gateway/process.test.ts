import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { HttpClient } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { startRedis } from '../support/own-redis.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { connect, cutAll, shake } from './handshake.js';
import { startGateway } from './start.js';

const REDIS_URL = process.env.TEST_REDIS_URL as string;

/** The API, whose jobs and keys the gateways stream. */
let api: TestService;
beforeAll(async () => {
  api = await startService();
});
afterAll(() => api.stop());

const clients: StreamClient[] = [];
const processes: RunningProcess[] = [];
const https: HttpClient[] = [];
const gateways: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  cutAll();
  for (const client of https.splice(0)) client.close();
  for (const client of clients.splice(0)) await client.close();
  for (const each of [...processes.splice(0), ...gateways.splice(0)]) await each.stop();
});

const start = async () => {
  const gateway = await startGateway({ KEY_PREFIX: api.prefix });
  gateways.push(gateway);
  return gateway;
};

const open = async (url: string, path: string) => {
  const client = await StreamClient.open(url, path);
  clients.push(client);
  return client;
};

const httpTo = (url: string) => {
  const client = new HttpClient(url);
  https.push(client);
  return client;
};

function run(app: string, env: Record<string, string> = {}): RunningProcess {
  const made = runApp(app, { PORT: '0', KEY_PREFIX: api.prefix, ...env });
  processes.push(made);
  return made;
}

/** Where a process listens, once it does. */
async function urlOf({ output }: RunningProcess): Promise<string> {
  const url = () => /"url":"([^"]+)"/.exec(output())?.[1];
  await until(() => url() !== undefined);
  return url() as string;
}

describe('the gateway as a process of its own', () => {
  it('needs to be told where Redis is', async () => {
    const gateway = run('gateway');
    expect(await gateway.ended()).toBe(1);
    expect(gateway.output()).toBe('Configuration is not valid:\n  REDIS_URL is required\n');
  });

  it('says what is wrong with its limits', async () => {
    const gateway = run('gateway', { REDIS_URL, STREAMS_PER_KEY: 'many', TRUSTED_PROXIES: 'everybody' });
    expect(await gateway.ended()).toBe(1);
    expect(gateway.output()).toMatch(/^Configuration is not valid:\n {2}STREAMS_PER_KEY .+\n {2}TRUSTED_PROXIES .+\n$/);
  });

  it('streams jobs of the API to keys of the API, and needs no admin key for it', async () => {
    const url = await urlOf(run('gateway', { REDIS_URL }));
    const id = await jobIn(api, 'running', 'apart');
    const { key } = await api.key(['jobs:read']);
    const paths = [`/${id}`, `/${id}?token=${key}`, `/spaces/apart?token=${key}`];
    const watching = await Promise.all(paths.map((path) => open(url, path)));

    await api.call('POST', `/jobs/${id}/progress`, { body: { percent: 1, message: 'x' } });

    for (const client of watching) expect(await client.next('progress')).toMatchObject({ jobId: id });
    expect((await shake(url, `/api/v1/realtime/${id}?token=${ADMIN_KEY}`)).status).toBe(401);
  });

  it('never logs a token', async () => {
    const gateway = run('gateway', { REDIS_URL, LOG_LEVEL: 'trace' });
    const url = await urlOf(gateway);
    const { id, key } = await api.key(['jobs:read']);
    const wrong = `ym_${id}_${'0'.repeat(64)}`;
    await open(url, `/spaces/logged?token=${key}`);
    await shake(url, `/api/v1/realtime/spaces/logged?token=${wrong}`);
    await shake(url, `/api/v1/realtime/unknown?token=${key}`);
    expect(await gateway.stop()).toBe(0);
    expect(gateway.output()).toContain('stream refused');
    expect(gateway.output()).not.toContain(key);
    expect(gateway.output()).not.toContain(wrong);
  });
});

describe('the gateway', () => {
  it('is live and ready, and knows no path of the API', async () => {
    const gateway = await start();
    const http = httpTo(gateway.url());
    const notFound = { status: 404, body: { error: 'No such path', code: 'NOT_FOUND' } };
    expect(await http.call('GET', '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await http.call('GET', '/readyz?x=1')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await http.call('HEAD', '/readyz')).toMatchObject({ status: 200, text: '' });
    expect(await http.call('GET', '/')).toMatchObject(notFound);
    expect(await http.call('GET', '/api/v1/spaces/x/jobs', { key: ADMIN_KEY })).toMatchObject(notFound);
    expect(await http.call('POST', '/api/v1/spaces/x/jobs', { key: ADMIN_KEY, body: { name: 'x' } })).toMatchObject(
      notFound,
    );
    expect(await http.call('POST', '/livez', { body: {} })).toMatchObject({
      status: 405,
      headers: { allow: 'OPTIONS, GET, HEAD' },
      body: { code: 'METHOD_NOT_ALLOWED' },
    });
  });

  it('tells OPTIONS what its probes may be asked', async () => {
    const gateway = await start();
    const answer = await httpTo(gateway.url()).call('OPTIONS', '/livez');
    expect(answer).toMatchObject({ status: 204, headers: { allow: 'OPTIONS, GET, HEAD' }, text: '' });
  });

  it('is live and not ready while Redis is away', async () => {
    const redis = await startRedis();
    const gateway = await startGateway({}, redis.url);
    const http = httpTo(gateway.url());
    const statusOf = async (path: string) => (await http.call('GET', path)).status;
    try {
      expect(await statusOf('/readyz')).toBe(200);
      await redis.halt();
      expect(await statusOf('/livez')).toBe(200);
      expect(await http.call('GET', '/readyz')).toMatchObject({ status: 503, body: { status: 'not ready' } });
      await redis.resume();
      await until(async () => (await statusOf('/readyz')) === 200);
    } finally {
      await gateway.stop();
      await redis.stop();
    }
  });
});

describe('on SIGTERM', () => {
  it.each(['gateway', 'standalone'])('the %s closes every stream with 1001 and exits 0', async (app) => {
    const running = run(app, { REDIS_URL, ADMIN_API_KEY: ADMIN_KEY });
    const url = await urlOf(running);
    const [one, ended] = [await jobIn(api, 'running', 'stop'), await jobIn(api, 'completed', 'stop')];
    const paths = [`/${one}`, `/${one}?token=${ADMIN_KEY}`, `/${ended}`, `/spaces/stop?token=${ADMIN_KEY}`];
    const watching = await Promise.all(paths.map((path) => open(url, path)));

    expect(await running.stop()).toBe(0);

    for (const client of watching) expect(await client.end()).toEqual({ code: 1001, reason: 'server is stopping' });
  });

  it.each(['gateway', 'standalone'])('the %s exits 0 although a client does not answer the close', async (app) => {
    const running = run(app, { REDIS_URL, ADMIN_API_KEY: ADMIN_KEY, SHUTDOWN_SECONDS: '4' });
    const url = await urlOf(running);
    const id = await jobIn(api, 'running', 'stop');
    const silent = await shake(url, `/api/v1/realtime/${id}`);
    const other = await open(url, `/${id}`);

    expect(await running.stop()).toBe(0);

    expect(await other.end()).toMatchObject({ code: 1001 });
    // A close frame with the code in its first two bytes (RFC 6455 §5.5.1).
    expect(silent.bytes().toString('latin1')).toContain('\x03\xe9server is stopping');
  });

  it('refuses new streams with 503 while the others close, and is not ready', async () => {
    const gateway = await start();
    const url = gateway.url();
    const id = await jobIn(api, 'running', 'stop');
    // It does not answer the close, which keeps the gateway from being gone before anybody can look.
    await shake(url, `/api/v1/realtime/${id}`);
    const [other, socket] = [await open(url, `/${id}`), await connect(url)];

    const stopped = gateway.stop();

    const late = await shake(url, `/api/v1/realtime/${id}`, { socket });
    expect(late).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'UNAVAILABLE' } });
    expect(await other.end()).toMatchObject({ code: 1001 });
    cutAll();
    await stopped;
  });
});
