import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigError } from '@yardmaster/runtime';
import { readSite } from '../../apps/api/src/ui/site.js';
import { withRaw } from '../support/raw-client.js';
import { withService } from '../support/service.js';

const ORIGIN = 'https://app.example.com';
const isOwn = true;
const MODES = {
  'a standalone': withService({}, { isOwn }),
  'an API of its own': withService({}, { isOwn, app: 'api' }),
  'an API with CORS, by Express': withService({ CORS_ORIGINS: ORIGIN }, { isOwn, app: 'api' }),
};
type Mode = keyof typeof MODES;
let service = MODES['a standalone'];

/** What the build has made. */
const SITE = fileURLToPath(new URL('../../apps/ui/dist/site/', import.meta.url));
const read = (name: string) => readFileSync(join(SITE, name));
const ASSETS = readdirSync(join(SITE, 'assets')).map((name) => `assets/${name}`);
const SCRIPT = ASSETS.find((name) => name.endsWith('.js')) as string;

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Headers of every response of the dashboard. */
const PROTECTION = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** Send a request whose target is written as it stands. */
async function ask(target: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET') {
  const { hostname, port } = new URL(service.url);
  const request = http.request({ hostname, port, method, path: target, headers, agent: false }).end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}

describe.each(Object.keys(MODES) as Mode[])('the dashboard in %s', (mode) => {
  beforeAll(() => {
    service = MODES[mode];
  });

  it('serves the dashboard at /ui/ with revalidation', async () => {
    const { status, headers, bytes } = await ask('/ui/');
    expect({ status, text: bytes.toString() }).toEqual({ status: 200, text: read('index.html').toString() });
    expect(headers).toMatchObject({
      ...PROTECTION,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-length': String(bytes.length),
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
      'x-request-id': expect.any(String),
    });
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it.each(ASSETS)('serves the dashboard asset /ui/%s with unlimited caching', async (name) => {
    const { status, headers, bytes } = await ask(`/ui/${name}`);
    expect({ status, isSame: bytes.equals(read(name)) }).toEqual({ status: 200, isSame: true });
    expect(headers).toMatchObject({
      ...PROTECTION,
      'content-type': TYPES[extname(name)],
      'cache-control': 'public, max-age=31536000, immutable',
    });
  });

  it.each([
    ['gzip', true],
    ['deflate, gzip, br, zstd', true],
    ['br;q=1, GZIP;q=0.5', true],
    ['*', true],
    [undefined, false],
    ['', false],
    ['br', false],
    ['identity', false],
    ['gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['gzip;q=0.2, identity;q=0.8', false],
    ['identity;q=0', false],
  ])('honors Accept-Encoding for the dashboard: %s', async (encoding, isZipped) => {
    const headers = encoding === undefined ? {} : { 'accept-encoding': encoding };
    for (const [path, name] of [
      ['/ui/', 'index.html'],
      [`/ui/${SCRIPT}`, SCRIPT],
    ] as const) {
      const got = await ask(path, { ...headers, origin: ORIGIN });
      expect(got.headers['content-encoding']).toBe(isZipped ? 'gzip' : undefined);
      expect(got.headers['content-length']).toBe(String(got.bytes.length));
      expect((isZipped ? gunzipSync(got.bytes) : got.bytes).equals(read(name))).toBe(true);
      const vary = mode === 'an API with CORS, by Express' ? 'Origin, Accept-Encoding' : 'Accept-Encoding';
      expect(got.headers.vary).toBe(vary);
    }
  });

  it.each(['', 'gzip'])('responds with 304 only to the ETag of encoding "%s" of the dashboard', async (encoding) => {
    const other = encoding === 'gzip' ? '' : 'gzip';
    for (const path of ['/ui/', `/ui/${SCRIPT}`]) {
      const { etag, 'cache-control': cached, vary } = (await ask(path, { 'accept-encoding': encoding })).headers;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const got = await ask(path, { 'accept-encoding': encoding, 'if-none-match': known });
        expect({ status: got.status, bytes: got.bytes.length }).toEqual({ status: 304, bytes: 0 });
        expect(got.headers).toMatchObject({ ...PROTECTION, etag, 'cache-control': cached, vary });
        expect(got.headers).not.toHaveProperty('content-encoding');
      }
      expect((await ask(path, { 'accept-encoding': other, 'if-none-match': etag })).status).toBe(200);
      expect((await ask(path, { 'accept-encoding': encoding, 'if-none-match': '"other"' })).status).toBe(200);
    }
  });

  it.each(['/ui', '/ui/', `/ui/${SCRIPT}`])(
    'responds to HEAD %s of the dashboard like a GET without a body',
    async (path) => {
      for (const encoding of ['', 'gzip']) {
        const headers = { 'accept-encoding': encoding, 'x-request-id': 'same' };
        const got = await ask(path, headers);
        const head = await ask(path, headers, 'HEAD');
        expect(head).toEqual({ ...got, headers: { ...got.headers, date: head.headers.date }, bytes: Buffer.alloc(0) });
      }
    },
  );

  it.each(['/ui', '/ui?key=x', 'http://localhost/ui'])('redirects %s to /ui/ with a slash', async (target) => {
    const { status, headers } = await ask(target);
    expect({ status, headers }).toMatchObject({ status: 308, headers: { ...PROTECTION, location: 'ui/' } });
    // A proxy that removes a prefix leaves the location as it is.
    for (const base of ['https://example.com', 'https://example.com/yardmaster'])
      expect(new URL(headers.location as string, `${base}/ui`).href).toBe(`${base}/ui/`);
  });

  it.each(['/ui/?_=1', 'http://localhost/ui/'])('serves the dashboard at %s', async (target) => {
    expect((await ask(target)).status).toBe(200);
  });

  it.each([
    ...['/ui/index.html', '/ui//', '//ui/', '/UI/', '/ui/spaces', '/ui/assets', '/ui/assets/', '/ui/assets/nope.js'],
    ...[`/ui/${SCRIPT}.map`, `/ui/${SCRIPT}%00`, `/ui/${SCRIPT.toUpperCase()}`, `/${SCRIPT}`],
    ...['/ui/..', '/ui/../../package.json', '/ui/assets/../index.html', '/ui/assets/../../../../package.json'],
    ...['/ui/..%2f..%2fpackage.json', '/ui/%2e%2e/%2e%2e/package.json', '/ui/assets/..%5c..%5cindex.html'],
    ...['/ui/assets/%252e%252e/index.html', '/ui/assets//etc/passwd', '/ui/assets/constructor', '/ui/__proto__'],
  ])('responds to %s with 404, like to any other unknown path', async (target) => {
    const { status, headers, bytes } = await ask(target);
    expect({ status, type: headers['content-type'], body: JSON.parse(bytes.toString()) }).toEqual({
      status: 404,
      type: 'application/json; charset=utf-8',
      body: { error: 'No such path', code: 'NOT_FOUND' },
    });
  });

  it.each(['/ui', '/ui/', `/ui/${SCRIPT}`])('refuses other methods of %s with 405', async (path) => {
    const { status, headers } = await ask(path, {}, 'POST');
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'OPTIONS, GET, HEAD' });
  });

  it('responds in order to pipelined requests for the dashboard and other endpoints', async () => {
    const paths = ['/ui/', `/ui/${SCRIPT}`, '/ui', '/api/v1/info', '/ui/nope', '/livez'];
    const asked = Array.from({ length: 10 }, () => paths).flat();
    const lengths = await Promise.all(paths.map(async (path) => (await ask(path)).bytes.length));
    const responses = await withRaw(service.url, (raw) => {
      raw.socket.write(asked.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
      return raw.receive(asked.length);
    });
    const statuses = [200, 200, 308, 200, 404, 200];
    expect(responses.map(({ status, text }) => [status, Buffer.byteLength(text)])).toEqual(
      asked.map((_, i) => [statuses[i % paths.length], lengths[i % paths.length]]),
    );
  });

  it('counts all dashboard assets as one route in the metrics, and the page as another', async () => {
    await ask('/ui');
    for (const name of ASSETS) await ask(`/ui/${name}`, {}, 'PUT');
    const text = (await ask('/metrics')).bytes.toString();
    const routes = new Set([...text.matchAll(/route="([^"]*ui[^"]*)"/g)].map(([, route]) => route));
    expect([...routes].sort()).toEqual(['/ui', '/ui/assets']);
  });
});

it('shows the content security policy of the dashboard in docs/deploy.md', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/deploy.md', import.meta.url)), 'utf8');
  expect(page).toContain(PROTECTION['content-security-policy']);
});

describe('the page', () => {
  const page = read('index.html').toString();

  it('the dashboard loads only files of the API, by relative URLs, so that it works below any path', async () => {
    service = MODES['a standalone'];
    const urls = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url as string);
    expect(urls.sort()).toEqual(ASSETS.filter((name) => urls.includes(name)).sort());
    expect(urls).toContain(SCRIPT);
  });

  it('the dashboard page contains no inline script or style, because its policy forbids them', () => {
    expect(page.match(/<script(?![^>]* src=)|<style|\s(style|on\w+)=|javascript:/g)).toBeNull();
  });
});

describe.each(['standalone', 'api'] as const)('%s with UI=false', (app) => {
  const off = withService({ UI: 'false' }, { app });
  beforeAll(() => {
    service = off;
  });

  it.each(['/ui', '/ui/', `/ui/${SCRIPT}`])('responds to %s with 404 when UI is false', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });

  it('links no dashboard at / when UI is false', async () => {
    expect(JSON.parse((await ask('/')).bytes.toString()).links).not.toHaveProperty('ui');
  });
});

describe('a gateway of its own', () => {
  const gateway = withService({}, { app: 'gateway' });

  it.each(['/ui', '/ui/', `/ui/${SCRIPT}`])('a separate gateway responds to %s with 404', async (path) => {
    service = gateway;
    expect((await ask(path)).status).toBe(404);
  });
});

describe('files of the dashboard', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'yardmaster-ui-'));
    mkdirSync(join(folder, 'assets'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const readFolder = () => readSite(pathToFileURL(`${folder}/`));

  it('refuses to start without the built dashboard, and explains how to build it', () => {
    expect(readFolder).toThrow(ConfigError);
    expect(readFolder).toThrow('UI is true, but the dashboard is not built: run npm run build, or set UI=false');
  });

  it('sends dashboard files uncompressed if gzip would enlarge them', () => {
    writeFileSync(join(folder, 'index.html'), '<p>'.repeat(100));
    writeFileSync(join(folder, 'assets/style-A.css'), 'p{}');
    expect(readFolder()).toMatchObject([
      { path: '', plain: {}, gzip: { etag: expect.any(String) } },
      { path: 'assets/style-A.css', plain: { bytes: Buffer.from('p{}') }, gzip: null },
    ]);
  });

  it('refuses a dashboard file of unknown content type', () => {
    writeFileSync(join(folder, 'index.html'), '');
    writeFileSync(join(folder, 'assets/font.ttf'), '');
    expect(readFolder).toThrow('no content type is known for assets/font.ttf of the dashboard');
  });
});
