import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { HttpClient } from '../support/http.js';
import { type Nginx, startNginx } from '../support/nginx.js';
import { ADMIN_KEY, withService } from '../support/service.js';
import { until } from '../support/until.js';
import { Chromium } from './chromium.js';

// Tests of the dashboard behind nginx as docs/ configures it, at its own path and below a path of another site.

const KEY_PREFIX = `t-${randomUUID().slice(0, 8)}`;
const api = withService({ KEY_PREFIX }, { app: 'api' });
const gateway = withService({ KEY_PREFIX }, { app: 'gateway' });
/** Records what the policy of the page has blocked. */
const RECORD = `
  window.blocked = [];
  addEventListener('securitypolicyviolation', ({ effectiveDirective }) => blocked.push(effectiveDirective));`;

const addressOf = ({ url }: { url: string }) => url.replace('http://', '');

describe.each([
  ['nginx.conf', ''],
  ['nginx-subpath.conf', '/yardmaster'],
] as const)('nginx with docs/%s', (site, prefix) => {
  let nginx: Nginx;
  let http: HttpClient;
  beforeAll(async () => {
    nginx = await startNginx({ api: [addressOf(api)], gateway: [addressOf(gateway)] }, { site });
    http = new HttpClient(nginx.url);
  });
  afterAll(async () => {
    http?.close();
    await nginx?.stop();
  });

  /** Return the URL of the page, after the redirect as a browser follows it. */
  async function pageUrl(): Promise<URL> {
    const at = new URL(`${nginx.url}${prefix}/ui`);
    const { status, headers } = await http.call('GET', at.pathname);
    expect(status).toBe(308);
    return new URL(headers.location as string, at);
  }

  it('nginx serves the dashboard and all files that it loads, compressed and with their policy', async () => {
    const url = await pageUrl();
    const page = await http.call('GET', url.pathname);
    expect(page).toMatchObject({ status: 200, headers: { 'cache-control': 'no-cache' } });
    const files = [...page.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => new URL(path as string, url));
    expect(files.length).toBeGreaterThan(1);
    for (const { pathname } of files) {
      const { status, headers } = await http.call('GET', pathname, { headers: { 'accept-encoding': 'gzip' } });
      expect({ status, headers }).toMatchObject({
        status: 200,
        headers: {
          'cache-control': 'public, max-age=31536000, immutable',
          'content-security-policy': page.headers['content-security-policy'],
          vary: 'Accept-Encoding',
        },
      });
    }
    const script = files.find(({ pathname }) => pathname.endsWith('.js')) as URL;
    const zipped = await http.call('GET', script.pathname, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    const known = { 'accept-encoding': 'gzip', 'if-none-match': zipped.headers.etag };
    expect((await http.call('GET', script.pathname, { headers: known })).status).toBe(304);
  });

  it('the URL of the dashboard behind nginx leads to the API and to the streams', async () => {
    const url = await pageUrl();
    const jobs = new URL('../api/v1/spaces/shown/jobs', url);
    const created = await http.call('POST', jobs.pathname, { key: ADMIN_KEY, body: { name: 'work' } });
    expect(created.status).toBe(201);
    const body = { scope: 'jobs:read', spaceId: 'shown' };
    const path = new URL('../api/v1/stream-tokens', url).pathname;
    const { token } = (await http.call('POST', path, { key: ADMIN_KEY, body })).body;
    const stream = new URL(`../api/v1/realtime/${created.body.id}?token=${token}`, url);
    stream.protocol = 'ws:';
    const ws = new WebSocket(stream);
    try {
      const first = await new Promise((resolve, reject) => {
        ws.once('message', (data) => resolve(JSON.parse(String(data))));
        ws.once('error', reject);
      });
      expect(first).toMatchObject({ type: 'init' });
    } finally {
      ws.terminate();
    }
    // nginx logs a stream at its end, and this request after it.
    await http.call('GET', `${url.pathname}assets/after-the-stream`);
    await until(async () => (await nginx.log('access')).includes('after-the-stream'));
    expect((await nginx.log('access')) + (await nginx.log('error'))).not.toContain(token);
  });

  it('shows the dashboard behind nginx in Chromium, whose policy allows only streams of the origin', async () => {
    const chromium = await Chromium.start();
    try {
      const page = await chromium.open(`${nginx.url}${prefix}/ui`, RECORD);
      await until(() => page.evaluate('document.body?.innerText.trim().length > 0'));
      expect(await page.evaluate('location.href')).toMatch(new RegExp(`${prefix}/ui/`));
      expect({ exceptions: page.exceptions, blocked: await page.evaluate('blocked') }).toEqual({
        exceptions: [],
        blocked: [],
      });

      const own = `new URL('../api/v1/realtime/spaces/x?token=${ADMIN_KEY}', location.href).href.replace('http', 'ws')`;
      await page.evaluate(`(window.own = new WebSocket(${own})).onopen = () => (window.isOpen = true), 0`);
      await until(() => page.evaluate('window.isOpen === true'));
      expect(await page.evaluate('blocked')).toEqual([]);

      await page.evaluate(`fetch('${api.url}/livez').catch(() => {}), document.body.append(
        Object.assign(document.createElement('script'), { text: 'window.isInline = true' })), 0`);
      await until(async () => (await page.evaluate('blocked')).length === 2);
      expect((await page.evaluate('blocked')).sort()).toEqual(['connect-src', 'script-src-elem']);
      expect(await page.evaluate('window.isInline === undefined')).toBe(true);
    } finally {
      await chromium.stop();
    }
  });

  it.each(['/metrics', '/readyz', '/uix', '/ui/..%2fmetrics', '/ui/../metrics'])(
    'nginx with the dashboard does not expose %s',
    async (path) => {
      const { status, text } = await http.call('GET', `${prefix}${path}`);
      expect(status).toBe(404);
      expect(text).not.toContain('yardmaster_');
    },
  );
});
