import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, completeJob, getJob } from '@yardmaster/store';
import { checkGuard, createAgents, isPublic } from '../../apps/scheduler/src/callbacks/ssrf-guard.js';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, attemptsTo, failed, historyOf, REFUSED, sent } from '../support/callbacks.js';
import { selfSigned } from '../support/certificate.js';
import { type Entry, type Records, withDnsServer } from '../support/dns-server.js';
import { during } from '../support/during.js';
import { startTraps } from '../support/loopback.js';
import { startReceiver } from '../support/receiver.js';
import { runMany } from '../support/schedulers.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';
import { CONNECTION_REFUSED, createPost, NOT_PUBLIC, UNKNOWN_HOST } from './post-once.js';

const dns = withDnsServer();
const traps = during(startTraps, (started) => started.close());
const posts = during(
  async () => ({
    guarded: createPost({ allowPrivate: false, dnsServers: [dns.address] }),
    open: createPost({ allowPrivate: true, dnsServers: [dns.address] }),
  }),
  async () => undefined,
);

const NO_CONTENT = { statusCode: 204, retryAfter: undefined };

describe('public addresses', () => {
  /** First and last addresses of networks that are not public, and addresses where clouds serve metadata. */
  const NOT = [
    ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
    ...['127.0.0.0', '127.255.255.255', '169.254.0.0', '169.254.255.255', '172.16.0.0', '172.31.255.255'],
    ...['192.0.0.0', '192.0.0.255', '192.0.2.0', '192.0.2.255', '192.88.99.0', '192.88.99.255'],
    ...['192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.0', '198.51.100.255'],
    ...['203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'],
    ...['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'],
    ...['::', '::1', '::ffff:0:0', '::ffff:8.8.8.8', '::ffff:255.255.255.255'],
    ...['::8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::', '64:ff9b::8.8.8.8', '64:ff9b::ffff:ffff'],
    ...['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', '100::', '100::ffff:ffff:ffff:ffff'],
    ...['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
    ...['2001:10::', '2001:1f:ffff::', '2001:20::', '2001:2f:ffff::', '2001:db8::', '2001:db8:ffff::'],
    ...['2002::', '2002:ffff:ffff::', '3fff::', '3fff:fff::', '5f00::', '1fff:ffff::', '4000::'],
    ...['fc00::', 'fdff:ffff::', 'fe80::', 'febf:ffff::', 'fec0::', 'feff:ffff::', 'ff00::', 'ffff:ffff::'],
  ];
  /** Addresses next to those networks, and some well-known addresses. */
  const PUBLIC = [
    ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
    ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0'],
    ...['192.0.3.0', '192.88.98.255', '192.88.100.0', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
    ...['198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
    ...['168.63.129.15', '168.63.129.17', '8.8.8.8', '2001:200::', '2001:4860:4860::8888', '2001:db7:ffff::'],
    ...['2001:db9::', '2003::', '2606:4700::1111', '2a00:1450:4001::1', '3ffe:ffff::', '3fff:1000::'],
  ];
  const NO_ADDRESS = [
    ...['', 'localhost', '8.8.8', '134744072', '0x08080808', '010.8.8.8', '8.8.8.8:80', ' 8.8.8.8', '8.8.8.8\n'],
    ...['[2003::1]', 'fe80::1%1', '2003::1/64', '8.8.8.8/32', '256.8.8.8', '２.２.２.２'],
  ];

  it('an address is public unless IANA or a cloud provider reserves its network', () => {
    expect(NOT.filter(isPublic)).toEqual([]);
    expect(PUBLIC.filter((address) => !isPublic(address))).toEqual([]);
  });
  it('a text that is not an address is not public', () => {
    expect(NO_ADDRESS.filter(isPublic)).toEqual([]);
  });
});

describe('the guard', () => {
  const KINDS: [kind: string, address: string][] = [
    ['this network', '0.0.0.0'],
    ['private', '10.0.0.1'],
    ['shared (CGNAT)', '100.64.0.1'],
    ['loopback', '127.0.0.1'],
    ['link-local, metadata', '169.254.169.254'],
    ['private', '172.16.0.1'],
    ['private', '192.168.0.1'],
    ['metadata of Azure', '168.63.129.16'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['loopback', '::1'],
    ['IPv4-mapped', '::ffff:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['Teredo', '2001::1'],
    ['6to4', '2002:7f00:1::'],
    ['documentation', '3fff::1'],
    ['unique-local, metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['multicast', 'ff02::1'],
  ];

  it.each(KINDS)(
    'the start check refuses an address guard that accepts an address of the kind %s: %s',
    (_, address) => {
      expect(() => checkGuard((tried) => tried === address)).toThrow(
        `callbacks could reach ${address}: the dependency ipaddr.js is the wrong version`,
      );
    },
  );

  it('the start check accepts the real address guard', () => {
    expect(() => checkGuard()).not.toThrow();
  });
});

/** Spellings of a loopback address in a URL, by which of the two addresses they mean. */
const LOOPBACK = {
  '127.0.0.1': [
    ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '2130706433', '2130706433.'],
    ...['0x7f000001', '0X7F000001', '017700000001', '0177.0.0.1', '00000177.0.0.01', '0x7f.0x0.0x0.0x1', '0x7f.1'],
    '0177.0.0x1',
    // What Unicode maps to digits and dots, or to nothing.
    ...['１２７.０.０.１', '①②⑦.⓪.⓪.①', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1'],
    ...['127.0.0\u00ad.1', '127.0.0.\u200b1', '%31%32%37%2e0%2e0%2e1'],
    ...['[::ffff:127.0.0.1]', '[::FFFF:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:0001]'],
  ],
  '::1': ['[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::0.0.0.1]'],
  either: [
    ...['localhost', 'LOCALHOST', 'LocalHost', 'ｌｏｃａｌｈｏｓｔ', 'ⓛocalhost', 'loc%61lhost', 'lo%E2%93%92alhost'],
  ],
};
const SPELLINGS = Object.entries(LOOPBACK).flatMap(([reaches, hosts]) => hosts.map((host) => ({ host, reaches })));

/** Further spellings of addresses that are not public. Most systems take the first ones for their own address. */
const OTHER_SPELLINGS = [
  ...['0', '00', '0x0', '0.0', '0.0.0.0', '[::]', '[0:0:0:0:0:0:0:0]', '[::ffff:0.0.0.0]', '127.0.0.2'],
  ...['0x0a000001', '012.0.0.1', '4294967295', '2852039166', '0xa9fea9fe', '10.0.0.1', '169.254.169.254'],
  ...['[::ffff:10.0.0.1]', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[::127.0.0.1]', '[::a00:1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::127.0.0.1]', '[2002:7f00:1::]', '[FE80::1]'],
];

describe('a host in a URL', () => {
  it('a callback never connects to an address that is not public, however it is spelled', async () => {
    for (const host of [...SPELLINGS.map((each) => each.host), ...OTHER_SPELLINGS]) {
      for (const scheme of ['http', 'https']) {
        const outcome = await posts.guarded(`${scheme}://${host}:${traps.port}/`);
        expect({ scheme, host, outcome }).toEqual({ scheme, host, outcome: NOT_PUBLIC });
      }
    }
    for (const url of ['http://127.0.0.1', 'https://[::1]', 'http://localhost/'])
      expect(await posts.guarded(url)).toEqual(NOT_PUBLIC);
    expect(traps.connections()).toBe(0);
  });

  it('a callback does not connect to a name that the hosts file maps to a loopback address', async () => {
    const file = await readFile('/etc/hosts', 'utf8').catch(() => ''); // Other systems have it elsewhere.
    const rows = file.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/));
    const names = rows.flatMap(([address = '', ...rest]) => (/^127\.|^::1$/.test(address) ? rest : []));
    for (const name of new Set(names))
      expect({ name, ...(await posts.guarded(`http://${name}:${traps.port}/`)) }).toEqual({ name, ...NOT_PUBLIC });
    // Whether these names exist depends on the system.
    for (const name of ['localhost.', 'sub.localhost', 'ip6-localhost'])
      expect([NOT_PUBLIC, UNKNOWN_HOST]).toContainEqual(await posts.guarded(`http://${name}:${traps.port}/`));
    expect(traps.connections()).toBe(0);
  });

  it.each(SPELLINGS)(
    'a callback to the host $host reaches $reaches when private addresses are allowed',
    async ({ host, reaches }) => {
      if (reaches === '::1' && !traps.v6) return; // This machine has no IPv6.
      const path = `/${encodeURIComponent(host)}`;
      for (const trap of [traps.v4, traps.v6]) trap?.script(path, respondWith(204));
      expect(await posts.open(`http://${host}:${traps.port}${path}`)).toEqual(NO_CONTENT);
      const v4 = traps.v4.requestsTo(path).length;
      const v6 = traps.v6?.requestsTo(path).length ?? 0;
      if (reaches === 'either') expect(v4 + v6).toBe(1);
      else expect({ v4, v6 }).toEqual(reaches === '::1' ? { v4: 0, v6: 1 } : { v4: 1, v6: 0 });
    },
  );

  it.each(['127.0.0.1..', 'localhost..', '127.0.0.1_', '.', '..', '١٢٧.٠.٠.١', '-', `${'a'.repeat(64)}.test`])(
    'a callback to the host %s fails because the name does not resolve',
    async (host) => {
      const connections = traps.connections();
      expect(await posts.guarded(`http://${host}:${traps.port}/`)).toEqual(UNKNOWN_HOST);
      expect(traps.connections()).toBe(connections);
    },
  );

  // Some HTTP clients treat such a URL as a path in the file system.
  it('a callback to a URL with unix: does not connect to a Unix socket', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'yardmaster-unix-'));
    let connections = 0;
    const server = net.createServer(() => connections++).listen(join(dir, 's'));
    const outcome = await posts.open(`http://unix:${join(dir, 's')}:/`);
    expect(outcome).toEqual({ error: expect.any(String), fault: 'invalid', isFinal: true });
    expect(connections).toBe(0);
    server.close();
    await rm(dir, { recursive: true });
  });

  const NOT_URLS = [
    // Zone ids.
    ...['http://[fe80::1%25lo]:80/', 'http://[fe80::1%lo]:80/', 'http://[::1%25lo]:80/', 'http://[::1%]:80/'],
    // Nearly an address.
    ...['http://::1/', 'http://fe80::1/', 'http://[::1/', 'http://%5B::1%5D:80/', 'http://[127.0.0.1]:80/'],
    ...['http://256.0.0.1:80/', 'http://4294967297:80/', 'http://127.0.0.1.1:80/', 'http://09.0.0.1:80/'],
    ...['http://127..1:80/', 'http://[::ffff:127.1]:80/', 'http://127.0.0.1%00.example.com:80/'],
    ...['http://127.0.0.1,9.9.9.9:80/', 'http://127.0.0.1%2f:80/'],
    // User names, and characters that could hide a host.
    ...['http://user@127.0.0.1:80/', 'http://@127.0.0.1:80/', 'http://example.com@127.0.0.1:80/'],
    ...['http://example.com:80@127.0.0.1:80/', 'http://127.0.0.1:80\\@example.com/', 'http:\\\\127.0.0.1:80/'],
    ...['http:127.0.0.1:80', 'http:/127.0.0.1:80/', 'http:///127.0.0.1:80/', '//127.0.0.1:80/', '127.0.0.1:80'],
    ...[' http://127.0.0.1:80/', 'http://127.0.0.1:80/ ', 'ht\ntp://127.0.0.1:80/', 'http://127.0.\t0.1:80/'],
    // Not HTTP.
    ...['ftp://127.0.0.1:80/', 'file:///etc/passwd', 'gopher://127.0.0.1:80/', 'ws://127.0.0.1:80/', 'unix:/a:/b'],
    ...['data:text/plain,x', 'javascript:1', 'http+unix://a/b', 'http://127.0.0.1:99999/', 'http://127.0.0.1:-1/', ''],
  ];

  it.each(NOT_URLS)('a create request with the callbackUrl %s is invalid', (callbackUrl) => {
    const { error } = createJobRequest.safeParse({ name: 'x', callbackUrl });
    expect(error?.issues.map(({ path }) => path)).toEqual([['callbackUrl']]);
  });
});

/** An address that is public by every registry but not in use, from the part of 2000::/3 that IANA has not allocated. */
const PUBLIC = '2d00::1';
/** More addresses than a response over UDP can have. */
const MANY = Array.from({ length: 199 }, (_, i) => `2d00::${i + 1}`);
const MANY_LOOPBACK = Array.from({ length: 200 }, (_, i) => `127.0.0.${i + 1}`);

let count = 0;
/** Create a new name with these records, and return its URL with a path of its own. */
function urlOf(entry: Entry): string {
  const name = `name-${++count}.test`;
  dns.entries.set(name, entry);
  return `http://${name}:${traps.port}/name-${count}`;
}

it.each<[what: string, entry: Entry]>([
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['::1']],
  ['0.0.0.0', ['0.0.0.0']],
  ['a private one', ['10.0.0.1']],
  ['that of metadata', ['169.254.169.254']],
  ['one mapped to IPv6', ['::ffff:127.0.0.1']],
  ['one of NAT64', ['64:ff9b::7f00:1']],
  ['that of an alias of localhost', { cname: 'localhost', addresses: ['127.0.0.1', '::1'] }],
  ['that of an alias', { cname: 'inside.test', addresses: ['127.0.0.1'] }],
  ['not public in the second place', [PUBLIC, '::1']],
  ['not public in the first place', ['::1', PUBLIC]],
  ['not public in the other family', [PUBLIC, '127.0.0.1']],
  ['not public in the last place of 200', [...MANY, '::1']],
  ['public only later', (lookUp) => (lookUp === 1 ? ['127.0.0.1'] : [PUBLIC])],
])('a callback does not connect to a name whose address is %s', async (_, entry) => {
  const connections = traps.connections();
  expect(await posts.guarded(urlOf(entry))).toEqual(NOT_PUBLIC);
  expect(await posts.guarded(urlOf(entry).replace('http:', 'https:'))).toEqual(NOT_PUBLIC);
  expect(traps.connections()).toBe(connections);
});

// An attempt that looked a name up once to check it and once more to connect would reach the trap.
it.concurrent.each<[to: string, then: Records]>([
  ['::1', ['::1']],
  ['127.0.0.1', ['127.0.0.1']],
  ['both', ['127.0.0.1', '::1']],
])('a callback does not connect to a name that changes from a public address to %s', async (_, then) => {
  const connections = traps.connections();
  const url = urlOf((lookUp) => (lookUp === 1 ? [PUBLIC] : then));
  expect(await posts.guarded(url)).toMatchObject({ error: expect.not.stringMatching('address is not public') });
  expect(await posts.guarded(url)).toEqual(NOT_PUBLIC);
  expect(traps.connections()).toBe(connections);
});

it('each attempt at a callback looks its name up again', async () => {
  const url = urlOf((lookUp) => (lookUp === 1 ? 'NXDOMAIN' : ['127.0.0.1']));
  expect(await posts.guarded(url)).toEqual(UNKNOWN_HOST);
  expect(await posts.guarded(url)).toEqual(NOT_PUBLIC);
});

it.each<[what: string, entry: Entry, reaches: 'v4' | 'v6']>([
  ['127.0.0.1', ['127.0.0.1'], 'v4'],
  ['::1', ['::1'], 'v6'],
  ['that of an alias', { cname: 'localhost', addresses: ['127.0.0.1'] }, 'v4'],
  ['the first of 200', MANY_LOOPBACK, 'v4'],
  ['one mapped to IPv6', ['::ffff:127.0.0.1'], 'v4'],
  ['behind another that refuses', ['127.0.0.2', '127.0.0.1'], 'v4'],
  ['behind one of the other family that refuses', ['127.0.0.2', '::1'], 'v6'],
])(
  'a callback to a name whose address is %s reaches its receiver when private addresses are allowed',
  async (_, entry, reaches) => {
    const trap = traps[reaches];
    if (!trap) return; // This machine has no IPv6.
    const url = urlOf(entry);
    trap.script(`/name-${count}`, respondWith(204));
    expect(await posts.open(url)).toEqual(NO_CONTENT);
    const [request] = trap.requestsTo(`/name-${count}`);
    expect(request?.headers).toContainEqual([expect.stringMatching(/^host$/i), `name-${count}.test:${traps.port}`]);
  },
);

it.each([
  ['dot.test', 'dot.test.'],
  ['capital.test', 'CAPITAL.TEST'],
  ['xn--bcher-kva.test', 'bücher.test'],
  ['xn--bcher-kva.test', 'xn--bcher-kva.test'],
  ['_a.under_score.test', '_a.under_score.test'],
  ['1.test', '1.test'],
])('a receiver with the name %s is reached by a callback to %s', async (known, written) => {
  dns.entries.set(known, ['127.0.0.1']);
  const path = `/${encodeURIComponent(written)}`;
  traps.v4.script(path, respondWith(204));
  expect(await posts.open(`http://${written}:${traps.port}${path}`)).toEqual(NO_CONTENT);
  expect(traps.v4.requestsTo(path)).toHaveLength(1);
});

it('an attempt fails when all addresses of a name refuse the connection', async () => {
  const gone = await startTraps();
  await gone.close();
  dns.entries.set('gone.test', ['127.0.0.1', '::1']);
  expect(await posts.open(`http://gone.test:${gone.port}/`)).toEqual(CONNECTION_REFUSED);
});

// The other checks refuse every other bad address first. Only a Unix socket passes them, so this test uses one.
it('a callback connection to a peer without a public address is closed before anything is written', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-agent-'));
  const socketPath = join(dir, 's');
  let received = '';
  const server = net.createServer((socket) => socket.on('data', (bytes) => (received += bytes)).on('error', () => {}));
  server.listen(socketPath);
  await once(server, 'listening');

  const { http: agent } = createAgents({ resolve: async () => [], allowPrivate: false });
  const request = http.request({ agent, socketPath, method: 'POST' }).end('{}');
  const [error] = await once(request, 'error', { signal: AbortSignal.timeout(20_000) }).catch((reason) => [reason]);
  expect(error).toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });

  server.close();
  await once(server, 'close');
  expect(received).toBe('');
  await rm(dir, { recursive: true });
});

describe('a service without CALLBACK_ALLOW_PRIVATE', () => {
  /** Receivers by the state of their certificates. The service trusts these certificates by a file of authorities. */
  const tls = during(
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'yardmaster-tls-'));
      const valid = await selfSigned(['right.test', '127.0.0.1']);
      const expired = await selfSigned(['127.0.0.1'], { notAfter: new Date('2021-01-01') });
      await writeFile(join(dir, 'authorities.pem'), `${valid.cert}\n${expired.cert}\n`);
      return { dir, valid: await startReceiver({ tls: valid }), expired: await startReceiver({ tls: expired }) };
    },
    async ({ dir, valid, expired }) => {
      await Promise.all([valid.close(), expired.close(), rm(dir, { recursive: true })]);
    },
  );
  const services = during(
    async () => {
      const env = {
        CALLBACK_RETRY_DELAYS: 'none',
        CALLBACK_DNS_SERVERS: dns.address,
        NODE_EXTRA_CA_CERTS: join(tls.dir, 'authorities.pem'), // Node.js takes further authorities at its start only.
      };
      const [here, localhost, everywhere, scheduler] = await Promise.all([
        startService({ ...env, HOST: '127.0.0.1' }),
        startService({ ...env, HOST: 'localhost' }),
        startService({ ...env, HOST: '0.0.0.0' }),
        startService({ ...env, HOST: '127.0.0.1', CALLBACK_ALLOW_PRIVATE: '' }, { app: 'scheduler' }),
      ]);
      return { here, localhost, everywhere, scheduler };
    },
    (started) => Promise.all(Object.values(started).map((service) => service.stop())),
  );

  it.each(['here', 'localhost'] as const)(
    'a service that listens on a loopback address reaches private callback addresses: %s',
    async (on) => {
      const url = traps.v4.script(`/${on}`, respondWith(204));
      expect(await attemptsTo(services[on], url)).toEqual(historyOf(url, [sent(204)]));
    },
  );

  it('a service that listens on other addresses reaches no private callback address', async () => {
    const connections = traps.connections();
    for (const url of [traps.v4.script('/everywhere', respondWith(204)), urlOf(['127.0.0.1']), urlOf([PUBLIC, '::1'])])
      expect(await attemptsTo(services.everywhere, url)).toEqual(historyOf(url, REFUSED));
    expect(traps.connections()).toBe(connections);
  });

  it('a scheduler without an API reaches no private callback address, whatever it listens on', async () => {
    const { store } = services.scheduler;
    const callbackUrl = traps.v4.script('/scheduler', respondWith(204));
    const [id] = (await runMany(store, 'addresses', 1, { callbackUrl })) as [string];
    await completeJob(store, ANY_SPACE, id, null);
    const read = async () => attemptsOf(await getJob(store, ANY_SPACE, id));
    await until(async () => (await read()).length > 0);
    expect(await read()).toEqual(historyOf(callbackUrl, REFUSED));
    expect(traps.v4.requestsTo('/scheduler')).toEqual([]);
  });

  it.each([
    ['is valid for this name', 'valid', 'right.test', sent(204)],
    ['is valid for this address', 'valid', '127.0.0.1', sent(204)],
    ['is for another name', 'valid', 'wrong.test', failed('TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)')],
    ['has expired', 'expired', '127.0.0.1', failed('TLS failed (CERT_HAS_EXPIRED)')],
  ] as const)(
    'a service posts over TLS only to a receiver with a valid certificate: this one %s',
    async (_, which, host, attempt) => {
      for (const name of ['right.test', 'wrong.test']) dns.entries.set(name, ['127.0.0.1']);
      const receiver = tls[which];
      receiver.script(`/${host}`, respondWith(204));
      const url = `https://${host}:${receiver.port}/${host}`;
      expect(await attemptsTo(services.here, url)).toEqual(historyOf(url, [attempt]));
      expect(receiver.requestsTo(`/${host}`)).toHaveLength(attempt.type === 'callback_sent' ? 1 : 0);
    },
  );
});
