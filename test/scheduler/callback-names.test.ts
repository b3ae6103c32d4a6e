import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { attemptsTo, failed, historyOf, ofEach, REFUSED, sent } from '../support/callbacks.js';
import { type DnsServer, type Entry, type Records, startDnsServer } from '../support/dns-server.js';
import { startTraps, type Traps } from '../support/loopback.js';
import { startService, type TestService } from '../support/service.js';

/**
 * Public by every registry, and nobody's: of the part of 2000::/3 that IANA keeps back. A callback to it fails sooner
 * or later, but is not refused.
 */
const PUBLIC = '2d00::1';

let dns: DnsServer;
let traps: Traps;
let guarded: TestService;
let open: TestService;
beforeAll(async () => {
  dns = await startDnsServer();
  traps = await startTraps();
  const env = { CALLBACK_RETRY_DELAYS: '0.05', CALLBACK_DNS_SERVERS: dns.address };
  guarded = await startService({ ...env, CALLBACK_ALLOW_PRIVATE: 'false' });
  open = await startService({ ...env, CALLBACK_ALLOW_PRIVATE: 'true' });
});
afterAll(async () => {
  await guarded.stop();
  await open.stop();
  await Promise.all([dns, traps].map((each) => each.close()));
});

let count = 0;
/** The URL of a new name with these records. */
function urlOf(entry: Entry): string {
  const name = `name-${++count}.test`;
  dns.names.set(name, entry);
  return `http://${name}:${traps.port}/`;
}

describe('a name is refused for its addresses', () => {
  const ROWS: [what: string, entry: Entry][] = [
    ['127.0.0.1', ['127.0.0.1']],
    ['::1', ['::1']],
    ['0.0.0.0', ['0.0.0.0']],
    ['::', ['::']],
    ['a private one', ['10.0.0.1']],
    ['a unique local one', ['fd00::1']],
    ['a link-local one', ['fe80::1']],
    ['that of metadata', ['169.254.169.254']],
    ['one of Azure', ['168.63.129.16']],
    ['one of carrier-grade NAT', ['100.64.0.1']],
    ['one mapped to IPv6', ['::ffff:127.0.0.1']],
    ['one of NAT64', ['64:ff9b::7f00:1']],
    ['one of 6to4', ['2002:7f00:1::']],
    ['an alias of localhost', { cname: 'localhost', addresses: ['127.0.0.1', '::1'] }],
    ['an alias of another name', { cname: 'inside.test', addresses: ['127.0.0.1'] }],
    ['both loopbacks', ['127.0.0.1', '::1']],
    ['the second being private', [PUBLIC, '::1']],
    ['the first being private', ['::1', PUBLIC]],
    ['that of the other family being private', [PUBLIC, '127.0.0.1']],
    ['the last of 200 being private', [...Array.from({ length: 199 }, (_, i) => `2d00::${i + 1}`), '::1']],
    ['whatever they are later', (lookUp) => (lookUp === 1 ? ['127.0.0.1'] : [PUBLIC])],
  ];

  it.each(ROWS)('%s', async (_, entry) => {
    const url = urlOf(entry);
    expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, REFUSED));
    expect(traps.connections()).toBe(0);
  });

  it('in HTTPS as well', async () => {
    const url = urlOf(['127.0.0.1']).replace('http:', 'https:');
    expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, REFUSED));
    expect(traps.connections()).toBe(0);
  });
});

describe('a name that changes', () => {
  /** Any failure but the refusal. */
  const UNREACHED = failed(expect.not.stringMatching('address is not public'), 1, true);
  const REFUSED_LATER = failed('address is not public', 2);

  // An attempt that looked a name up once to check it and once more to connect would be at the trap by then.
  it.each<[to: string, entry: Entry]>([
    ['::1', (lookUp) => (lookUp === 1 ? [PUBLIC] : ['::1'])],
    ['127.0.0.1', (lookUp) => (lookUp === 1 ? [PUBLIC] : ['127.0.0.1'])],
    ['either', (lookUp) => (lookUp === 1 ? [PUBLIC] : ['127.0.0.1', '::1'])],
  ])('from a public address to %s is refused at the retry, and never connected to', async (_, entry) => {
    const url = urlOf(entry);
    expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, [UNREACHED, REFUSED_LATER]));
    expect(traps.connections()).toBe(0);
  });

  it('from nothing to 127.0.0.1 is refused at the retry', async () => {
    const url = urlOf((lookUp) => (lookUp === 1 ? 'NXDOMAIN' : ['127.0.0.1']));
    const attempts = [failed('host name does not resolve', 1, true), REFUSED_LATER];
    expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, attempts));
    expect(traps.connections()).toBe(0);
  });

  it('is what it is now, for the next callback too', async () => {
    let now: Records = 'NXDOMAIN';
    const url = urlOf(() => now);
    const unknown = ofEach(2, (attempt, willRetry) => failed('host name does not resolve', attempt, willRetry));
    expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, unknown));
    now = ['127.0.0.1'];
    expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, REFUSED));
    expect(traps.connections()).toBe(0);
  });
});

describe('a host that is no name', () => {
  it.each(['127.0.0.1..', 'localhost..', '127.0.0.1_', '.', '..', '١٢٧.٠.٠.١', '-', `${'a'.repeat(64)}.test`])(
    '%s does not resolve',
    async (host) => {
      const url = `http://${host}:${traps.port}/`;
      const attempts = ofEach(2, (attempt, willRetry) => failed('host name does not resolve', attempt, willRetry));
      expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, attempts));
      expect(traps.connections()).toBe(0);
    },
  );

  // Some HTTP clients take this form for a path of the file system.
  it('unix: is no way to a socket of the file system', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'yardmaster-unix-'));
    let connections = 0;
    const server = net.createServer(() => connections++).listen(join(dir, 's'));
    const url = `http://unix:${join(dir, 's')}:/`;
    const failure = { type: 'callback_failed', data: { url, error: expect.any(String), attempt: 1, willRetry: false } };
    expect(await attemptsTo(open, url)).toEqual([failure]);
    expect(connections).toBe(0);
    server.close();
    await rm(dir, { recursive: true });
  });
});

describe('where private addresses are allowed', () => {
  it.each<[what: string, entry: Entry, reaches: 'v4' | 'v6']>([
    ['a name of 127.0.0.1', ['127.0.0.1'], 'v4'],
    ['a name of ::1', ['::1'], 'v6'],
    ['an alias', { cname: 'localhost', addresses: ['127.0.0.1'] }, 'v4'],
    ['a name of 199 others besides', ['127.0.0.1', ...Array.from({ length: 199 }, (_, i) => `2d00::${i + 1}`)], 'v4'],
    ['a name of a mapped address', ['::ffff:127.0.0.1'], 'v4'],
    ['a name whose first address refuses', ['127.0.0.2', '127.0.0.1'], 'v4'],
    ['a name whose first family refuses', ['127.0.0.2', '::1'], 'v6'],
  ])('%s reaches the receiver', async (_, entry, reaches) => {
    const trap = traps[reaches];
    if (!trap) return; // A machine without IPv6.
    const url = `${urlOf(entry)}reached-${count}`;
    trap.script(`/reached-${count}`, answer(204));
    expect(await attemptsTo(open, url)).toEqual(historyOf(url, [sent(204)]));
    const [request] = trap.requestsTo(`/reached-${count}`);
    expect(request?.headers).toContainEqual([expect.stringMatching(/^host$/i), `name-${count}.test:${traps.port}`]);
  });

  it.each([
    ['with a dot behind it', 'dot.test', 'dot.test.'],
    ['in capitals', 'capital.test', 'CAPITAL.TEST'],
    ['that is not ASCII', 'xn--bcher-kva.test', 'bücher.test'],
    ['that is punycode', 'xn--bcher-kva.test', 'xn--bcher-kva.test'],
    ['with an underscore', '_a.under_score.test', '_a.under_score.test'],
    ['like a number', '1.test', '1.test'],
  ])('a name %s reaches the receiver', async (_, known, written) => {
    dns.names.set(known, ['127.0.0.1']);
    const path = `/${encodeURIComponent(written)}`;
    traps.v4.script(path, answer(204));
    const url = `http://${written}:${traps.port}${path}`;
    expect(await attemptsTo(open, url)).toEqual(historyOf(url, [sent(204)]));
    expect(traps.v4.requestsTo(path)).toHaveLength(1);
  });

  it('a name whose addresses all refuse is refused', async () => {
    const gone = await startTraps();
    await gone.close();
    dns.names.set('gone.test', ['127.0.0.1', '::1']);
    const url = `http://gone.test:${gone.port}/`;
    const attempts = ofEach(2, (attempt, willRetry) => failed('connection refused', attempt, willRetry));
    expect(await attemptsTo(open, url)).toEqual(historyOf(url, attempts));
  });
});
