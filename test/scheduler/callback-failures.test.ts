import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Behaviour, endConnection, raw, rawThenReset, reset } from '../support/behaviours.js';
import { attemptsTo, failed, historyOf, ofEach, sent } from '../support/callbacks.js';
import { selfSigned } from '../support/certificate.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { type Receiver, startListener, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// What follows when there is no answer (contract §7).

let service: TestService;
let receiver: Receiver;
let secure: Receiver;
let names: DnsServer;
beforeAll(async () => {
  receiver = await startReceiver();
  secure = await startReceiver({ tls: await selfSigned(['127.0.0.1']) });
  names = await startDnsServer();
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05', CALLBACK_DNS_SERVERS: names.address });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([receiver, secure, names].map((each) => each.close()));
});

/** Every attempt that one delay allows ends with this error. */
const eachFails = (error: unknown) => ofEach(2, (attempt, willRetry) => failed(error, attempt, willRetry));

const CLOSED = 'connection was closed before an answer';
const NO_TLS = expect.stringMatching(/^TLS failed \([A-Z0-9_]+\)$/);
const OK = 'HTTP/1.1 200 OK\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n';

describe('no connection', () => {
  it('is retried when it is refused', async () => {
    const gone = await startReceiver();
    const url = gone.script('/');
    await gone.close();
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, eachFails('connection refused')));
  });

  it.each([
    ['that does not exist', 'no-such-name.test', undefined],
    ['that has no address', 'empty.test', []],
    ['that its servers cannot find', 'fault.test', 'SERVFAIL'],
    ['that its servers do not tell', 'refused.test', 'REFUSED'],
  ] as const)('is retried for a name %s', async (_, name, records) => {
    if (records) names.names.set(name, records);
    const url = `http://${name}:${receiver.port}/`;
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, eachFails('host name does not resolve')));
  });

  it('is asked for again at each attempt, so that a name may come to exist', async () => {
    names.names.set('late.test', (lookUp) => (lookUp === 1 ? 'NXDOMAIN' : ['127.0.0.1']));
    receiver.script('/late', (response) => response.end());
    const url = `http://late.test:${receiver.port}/late`;
    const attempts = [failed('host name does not resolve', 1, true), sent(200, 2)];
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, attempts));
  });

  it('is retried when it is closed at once', async () => {
    const slammed = await startListener((socket) => socket.destroy());
    const url = `http://127.0.0.1:${slammed.port}/`;
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, eachFails(CLOSED)));
    expect(slammed.connections()).toBe(2);
    await slammed.close();
  });
});

describe('TLS', () => {
  it('is retried when nobody vouches for the certificate, and sends nothing', async () => {
    const url = secure.script('/self-signed', (response) => response.end());
    const attempts = eachFails('TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, attempts));
    expect(secure.requestsTo('/self-signed')).toEqual([]);
  });

  it('is retried when the receiver speaks plain HTTP, and sends nothing', async () => {
    const url = receiver.script('/plain', (response) => response.end()).replace('http:', 'https:');
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, eachFails(NO_TLS)));
    expect(receiver.requestsTo('/plain')).toEqual([]);
  });

  it('is retried when only the receiver speaks it', async () => {
    const url = secure.script('/tls', (response) => response.end()).replace('https:', 'http:');
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, eachFails(CLOSED)));
  });
});

describe('a connection that is closed before the answer', () => {
  const ROWS: { what: string; behaviour: Behaviour }[] = [
    { what: 'by a reset', behaviour: reset },
    { what: 'by an end', behaviour: endConnection },
    { what: 'by a reset in the status line', behaviour: rawThenReset('HTTP/1.1 20') },
    { what: 'by a reset in the headers', behaviour: rawThenReset(`${OK}x-a: b\r\n`) },
    { what: 'by an end in the headers', behaviour: raw(`${OK}x-a: b\r\n`) },
    { what: 'by an end after 103', behaviour: raw(EARLY) },
  ];

  it.each(ROWS)('$what is retried', async ({ what, behaviour }) => {
    const path = `/${encodeURIComponent(what)}`;
    const url = receiver.script(path, behaviour);
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, eachFails(CLOSED)));
    expect(receiver.requestsTo(path)).toHaveLength(2);
    await until(() => receiver.open() === 0);
  });
});
