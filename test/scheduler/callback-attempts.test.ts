import { describe, expect, it } from '@jest/globals';
import { retryDelayMs } from '../../apps/scheduler/src/callbacks/attempt.js';
import {
  type Behaviour,
  dripping,
  endConnection,
  endless,
  hang,
  raw,
  rawThenHang,
  rawThenReset,
  reset,
  respondWith,
} from '../support/behaviours.js';
import { selfSigned } from '../support/certificate.js';
import { withDnsServer } from '../support/dns-server.js';
import { during } from '../support/during.js';
import { startListener, startReceiver, withReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import {
  CLOSED,
  CONNECTION_REFUSED,
  createPost,
  INVALID_HTTP,
  noStatus,
  TIMED_OUT,
  UNKNOWN_HOST,
} from './post-once.js';

// These tests check the outcome of one attempt at a callback, and when the next one is made.
// test/scheduler/callbacks.test.ts checks how a job shows both.

const receiver = withReceiver();
const names = withDnsServer();
const secure = during(
  async () => startReceiver({ tls: await selfSigned(['127.0.0.1']) }),
  (started) => started.close(),
);
const dns = during(
  async () => ({ post: createPost({ allowPrivate: true, dnsServers: [names.address] }) }),
  async () => undefined,
);
const post = (url: string) => dns.post(url);

const OK = 'HTTP/1.1 200 OK\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const status = (statusCode: number) => ({ statusCode, retryAfter: undefined });
const NO_TLS = noStatus('tls', expect.stringMatching(/^TLS failed \([A-Z0-9_]+\)$/));

describe('an attempt at a callback', () => {
  interface Row {
    what: string;
    behaves: Behaviour;
    outcome: object;
  }
  const rows = (outcome: object, behaviours: Record<string, Behaviour>): Row[] =>
    Object.entries(behaviours).map(([what, behaves]) => ({ what, behaves, outcome }));

  const ROWS = [
    ...rows(INVALID_HTTP, {
      garbage: raw('garbage\r\n\r\n'),
      HTML: raw('<!doctype html><title>Hello</title>'),
      binary: raw('\x00\x01\x02\xff\xfe'),
      SSH: raw('SSH-2.0-OpenSSH_9.6\r\n'),
      'a status that is no number': raw('HTTP/1.1 2x0 OK\r\n\r\n'),
      'a header without a name': raw(`${OK}: x\r\n\r\n`),
      'a header with a NUL': raw(`${OK}a: \x00\r\n\r\n`),
      'a length that is no number': raw(`${OK}content-length: many\r\n\r\n`),
      'two lengths': raw(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`),
      'endless headers': endless(OK, 'x-a: 0123456789\r\n'),
      'one endless header': endless(`${OK}x-a: `, 'b'),
      '10 MB of headers': raw(`${OK}x-a: ${'b'.repeat(10_000_000)}\r\n\r\n`),
      'endless interim responses': endless('', EARLY),
      'slow interim responses without end': dripping('', EARLY),
      'an endless status line': endless('HTTP/1.1 200 ', 'OK'),
    }),
    ...rows(CLOSED, {
      'a reset': reset,
      'an end': endConnection,
      'a reset in the status line': rawThenReset('HTTP/1.1 20'),
      'a reset in the headers': rawThenReset(`${OK}x-a: b\r\n`),
      'an end in the headers': raw(`${OK}x-a: b\r\n`),
      'an end after 103': raw(EARLY),
    }),
    ...rows(status(200), {
      'an endless body': endless(`${OK}\r\n`, 'x'),
      'an endless chunked body': endless(CHUNKED, '1\r\nx\r\n'),
      'one endless chunk': endless(`${CHUNKED}fffffffff\r\n`, 'x'),
      'a body that stalls': rawThenHang(`${OK}content-length: 100\r\n\r\nabc`),
      'a body that never begins': rawThenHang(`${OK}content-length: 100\r\n\r\n`),
      'a body that is cut': raw(`${OK}content-length: 100\r\n\r\nabc`),
      'a body that is reset': rawThenReset(`${OK}content-length: 100\r\n\r\nabc`),
      'a broken chunk': raw(`${CHUNKED}zz\r\n`),
      'a body that is not gzip': raw(`${OK}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`),
      'a body of a megabyte': (response) => response.end('x'.repeat(1_000_000)),
      '15 KB of headers': raw(`${OK}x-a: ${'b'.repeat(15_000)}\r\n\r\n`),
      'HTTP/1.0': raw('HTTP/1.0 200 OK\r\n\r\nabc'),
      '103 before it': raw(`${EARLY}${OK}\r\n`),
      'several 103 before it': raw(`${EARLY.repeat(5)}${OK}\r\n`),
      '100 and 102 before it': raw(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\n\r\n${OK}\r\n`),
      'a second response behind it': raw(`${OK}content-length: 0\r\n\r\nHTTP/1.1 500 No\r\n\r\n`),
    }),
    ...rows(status(500), { 'an endless body': endless('HTTP/1.1 500 No\r\n\r\n', 'x') }),
  ];

  it.concurrent.each(ROWS)(
    'an attempt at a callback that gets $what has outcome $outcome',
    async ({ what, behaves, outcome }) => {
      const path = `/${encodeURIComponent(what)}${'statusCode' in outcome ? outcome.statusCode : ''}`;
      expect(await post(receiver.script(path, behaves))).toEqual(outcome);
      expect(receiver.requestsTo(path)).toHaveLength(1);
    },
  );

  it.concurrent('an attempt at a callback reads only the start of a body', async () => {
    let written = () => Number.POSITIVE_INFINITY;
    const url = receiver.script('/measured', (response, socket) => {
      written = () => socket.bytesWritten;
      endless(`${OK}\r\n`, 'x')(response, socket);
    });
    expect(await post(url)).toEqual(status(200));
    // The limit exceeds what the buffers of two sockets contain on any system, and is far below what is sent in a
    // second.
    expect(written()).toBeLessThan(32_000_000);
  });

  it.concurrent('an attempt at a callback returns Retry-After unchanged', async () => {
    const url = receiver.script('/retry-after', respondWith(503, { 'retry-after': 'soon' }));
    expect(await post(url)).toEqual({ statusCode: 503, retryAfter: 'soon' });
  });

  it.concurrent('an attempt at a callback fails when the connection is refused, or closed at once', async () => {
    const gone = await startReceiver();
    await gone.close();
    expect(await post(gone.script('/'))).toEqual(CONNECTION_REFUSED);
    const closing = await startListener((socket) => socket.destroy());
    expect(await post(`http://127.0.0.1:${closing.port}/`)).toEqual(CLOSED);
    expect(closing.connections()).toBe(1);
    await closing.close();
  });

  it.concurrent('an attempt at a callback sends nothing over TLS to a receiver without a valid certificate', async () => {
    const untrusted = noStatus('tls', 'TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(await post(secure.script('/self-signed', respondWith(204)))).toEqual(untrusted);
    const plain = receiver.script('/plain', respondWith(204)).replace('http:', 'https:');
    expect(await post(plain)).toEqual(NO_TLS);
    const tls = secure.script('/tls', respondWith(204)).replace('https:', 'http:');
    expect(await post(tls)).toEqual(CLOSED);
    expect([...secure.requestsTo('/self-signed'), ...receiver.requestsTo('/plain')]).toEqual([]);
  });

  it.concurrent.each([
    ['does not exist', 'no-such-name.test', undefined],
    ['has no address', 'empty.test', []],
    ['name servers cannot find', 'fault.test', 'SERVFAIL'],
    ['name servers refuse to look up', 'refused.test', 'REFUSED'],
  ] as const)('an attempt fails for a name that %s', async (_, name, records) => {
    if (records) names.entries.set(name, records);
    expect(await post(`http://${name}:${receiver.port}/`)).toEqual(UNKNOWN_HOST);
  });

  // This is one test for all, because each takes the 10 s that an attempt may take.
  it.concurrent('an attempt fails without a status after 10 s, whatever it waits for', async () => {
    let isOpen = 0;
    const silent = await startListener(() => isOpen++);
    names.entries.set('silent.test', 'silence');
    // Some name servers drop queries for types that they do not know, such as AAAA.
    names.entries.set('half.test', (_, type) => (type === 'A' ? ['127.0.0.1'] : 'silence'));
    receiver.script('/half', respondWith(204));
    const stalled = receiver.script('/stalled', rawThenHang(`${OK}content-length: 9\r\n\r\n`));
    const hangs = [
      hang,
      rawThenHang('HTTP/1.1 200'),
      rawThenHang(`${OK}x-a: b\r\n`),
      dripping(`${OK}x-a: `, 'b'), // A limit on the time without data would not end this one.
      rawThenHang(EARLY),
    ].map((behaves, n) => receiver.script(`/hang-${n}`, behaves));
    const urls = [...hangs, `https://127.0.0.1:${silent.port}/`, `http://silent.test:${receiver.port}/`];
    const half = `http://half.test:${receiver.port}/half`;

    const ended: string[] = [];
    const outcomes = await Promise.all(
      [...urls, half, stalled].map(async (url) => {
        const outcome = await post(url);
        ended.push(url);
        return outcome;
      }),
    );
    // The system also decides how long a look-up takes before it gives up.
    const nameless = expect.objectContaining({ error: expect.stringMatching(/^(no response within 10 s|host name)/) });
    expect(outcomes).toEqual([...hangs.map(() => TIMED_OUT), TIMED_OUT, nameless, status(204), status(200)]);
    // A stalled body is awaited for less time than a response, and so is half of a look-up.
    expect(ended.slice(0, 2).sort()).toEqual([stalled, half].sort());
    expect(isOpen).toBe(1);
    await until(() => silent.open() === 0);
    await silent.close();
  });
});

it('an attempt at a callback leaves no connection open', async () => {
  await until(() => receiver.open() + secure.open() === 0);
});

describe('the next attempt', () => {
  const NOW = Date.parse('2030-01-31T12:00:00Z');
  const DELAYS = [5, 30, 120, 600, 3_600, 21_600];
  const first = { made: 0, delays: DELAYS, nowMs: NOW, chance: 0.5 };

  it('a callback is retried after the statuses 408, 425, 429 and 5xx, and after no others', () => {
    const statuses = Array.from({ length: 900 }, (_, n) => 100 + n);
    const retried = statuses.filter((statusCode) => retryDelayMs(status(statusCode), first) !== null);
    expect(retried).toEqual([408, 425, 429, ...statuses.filter((code) => code >= 500)]);
  });

  it('a callback is retried after a failure unless the failure is final', () => {
    expect(retryDelayMs({ error: 'x', fault: 'network', isFinal: false }, first)).toBe(5_000);
    expect(retryDelayMs({ error: 'x', fault: 'refused', isFinal: true }, first)).toBeNull();
  });

  it.each([
    [0, 0.8],
    [0.5, 1],
    [0.999_999_999, 1.2],
  ])(
    'the next attempt is made after its delay with 20%% jitter: the random number %d makes it %d of the delay',
    (chance, share) => {
      const delays = DELAYS.map((_, made) => retryDelayMs(status(500), { ...first, made, chance }));
      expect(delays).toEqual(DELAYS.map((seconds) => Math.round(seconds * share * 1_000)));
      expect(retryDelayMs(status(500), { ...first, made: DELAYS.length, chance })).toBeNull();
    },
  );

  it.each([
    ['60', 60_000],
    ['4', 5_000],
    ['0', 5_000],
    ['-60', 5_000],
    ['soon', 5_000],
    ['', 5_000],
    ['1e3', 5_000],
    ['0.5', 5_000],
    ['1, 2', 5_000],
    [undefined, 5_000],
    ['Thu, 31 Jan 2030 12:01:00 GMT', 60_000],
    ['Thursday, 31-Jan-30 12:01:00 GMT', 60_000],
    ['Thu, 31 Jan 2030 11:59:00 GMT', 5_000],
    ['Thu, 99 Foo 9999', 5_000],
    ['86400', 86_400_000],
    ['86401', 86_400_000],
    ['99999999999999999999', 86_400_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
  ])('the next attempt with Retry-After: %s is made after %s ms instead of 5,000', (retryAfter, ms) => {
    for (const statusCode of [408, 425, 429, 500, 503])
      expect(retryDelayMs({ statusCode, retryAfter }, first)).toBe(ms);
    expect(retryDelayMs({ statusCode: 404, retryAfter }, first)).toBeNull();
  });

  it('the next attempt is made after a day at the latest, whatever Retry-After says', () => {
    const retryAfter = '9'.repeat(400); // This is more than any number.
    expect(retryDelayMs({ statusCode: 429, retryAfter }, first)).toBe(86_400_000);
  });
});
