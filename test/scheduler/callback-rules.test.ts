import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isPublic } from '../../apps/scheduler/src/callbacks/addresses.js';
import { createAgents } from '../../apps/scheduler/src/callbacks/agents.js';
import { retryIn } from '../../apps/scheduler/src/callbacks/retries.js';

describe('an address', () => {
  /** First and last of networks that are not public. */
  const NOT_PUBLIC = [
    ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
    ...['127.0.0.0', '127.255.255.255', '169.254.0.0', '169.254.255.255', '172.16.0.0', '172.31.255.255'],
    ...['192.0.0.0', '192.0.0.255', '192.0.2.0', '192.0.2.255', '192.88.99.0', '192.88.99.255'],
    ...['192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.0', '198.51.100.255'],
    ...['203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'],
    ...['168.63.129.16', '::', '::1', '::ffff:0:0', '::ffff:8.8.8.8', '::ffff:255.255.255.255'],
    ...['::8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::', '64:ff9b::8.8.8.8', '64:ff9b::ffff:ffff'],
    ...['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', '100::', '100::ffff:ffff:ffff:ffff'],
    ...['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
    ...['2001:10::', '2001:1f:ffff::', '2001:20::', '2001:2f:ffff::', '2001:db8::', '2001:db8:ffff::'],
    ...['2002::', '2002:ffff:ffff::', '3fff::', '3fff:fff::', '5f00::', '1fff:ffff::', '4000::'],
    ...['fc00::', 'fdff:ffff::', 'fe80::', 'febf:ffff::', 'fec0::', 'feff:ffff::', 'ff00::', 'ffff:ffff::'],
  ];
  /** Their neighbours, and some that everybody knows. */
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

  it.each(NOT_PUBLIC)('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false);
  });
  it.each(PUBLIC)('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });
  it.each(NO_ADDRESS)('is not what %j is, so it is not public', (text) => {
    expect(isPublic(text)).toBe(false);
  });
});

describe('a connection', () => {
  // The other checks leave nothing to this one; a socket of the file system is the one way around them.
  it('to what has no public address is cut before anything is written', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'yardmaster-agent-'));
    const socketPath = join(dir, 's');
    let received = '';
    const server = net.createServer((socket) =>
      socket.on('data', (bytes) => (received += bytes)).on('error', () => {}),
    );
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
});

describe('a retry', () => {
  const NOW = Date.parse('2030-01-31T12:00:00Z');
  const DEFAULTS = [5, 30, 120, 600, 3_600, 21_600];
  const failure = { error: 'connection refused', isFinal: false, fault: 'network' as const };

  it.each([
    [0, 0.8],
    [0.5, 1],
    [0.999_999_999, 1.2],
  ])('comes after its delay, give or take 20 %%: chance %d makes it %d of that', (chance, share) => {
    const options = { delays: DEFAULTS, nowMs: NOW, chance };
    expect(DEFAULTS.map((_, made) => retryIn(failure, { ...options, made }))).toEqual(
      DEFAULTS.map((seconds) => Math.round(seconds * share * 1_000)),
    );
    expect(retryIn(failure, { ...options, made: DEFAULTS.length })).toBeNull();
  });

  /** What a first retry after 5 s becomes. */
  it.each([
    ['60', 60_000],
    ['4', 5_000],
    ['0', 5_000],
    ['-60', 5_000],
    ['soon', 5_000],
    ['', 5_000],
    [undefined, 5_000],
    ['Thu, 31 Jan 2030 12:01:00 GMT', 60_000],
    ['Thursday, 31-Jan-30 12:01:00 GMT', 60_000],
    ['Thu, 31 Jan 2030 11:59:00 GMT', 5_000],
    ['86400', 86_400_000],
    ['86401', 86_400_000],
    ['99999999999999999999', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
  ])('that is asked for by Retry-After: %s comes after %s ms', (retryAfter, ms) => {
    const options = { made: 0, delays: DEFAULTS, nowMs: NOW, chance: 0.5 };
    expect(retryIn({ statusCode: 429, retryAfter }, options)).toBe(ms);
  });
});
