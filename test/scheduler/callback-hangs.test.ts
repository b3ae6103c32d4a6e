import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answer, type Behaviour, dripping, hang, rawThenHang } from '../support/behaviours.js';
import { attemptsTo, failed, historyOf, ofEach, sent } from '../support/callbacks.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { type Listener, type Receiver, startListener, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
let receiver: Receiver;
/** Accepts connections and says nothing, the second time not even that. */
let silent: Listener;
let names: DnsServer;
beforeAll(async () => {
  receiver = await startReceiver();
  let isFirst = true;
  silent = await startListener((socket) => {
    if (!isFirst) socket.destroy();
    isFirst = false;
  });
  names = await startDnsServer();
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05', CALLBACK_DNS_SERVERS: names.address });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([receiver, silent, names].map((each) => each.close()));
});

const OK = 'HTTP/1.1 200 OK\r\n';
const NO_ADDRESS = expect.stringMatching(/^(host name does not resolve|no answer within 10 s)$/);

/** Ways to take a callback and never answer it. */
const HANGS: [path: string, behaviour: Behaviour][] = [
  ['/nothing', hang],
  ['/status-line', rawThenHang('HTTP/1.1 200')],
  ['/headers', rawThenHang(`${OK}x-a: b\r\n`)],
  // A limit on silence would be met by this.
  ['/slow-header', dripping(`${OK}x-a: `, 'b')],
  ['/early-hints', rawThenHang('HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n')],
];

// One test for all, since each takes the 10 s that an attempt may.
it('an attempt that has no status after 10 s has failed and is retried, whatever it waited for', async () => {
  names.names.set('silent.test', 'silence');
  // Some name servers drop what they do not know, such as AAAA.
  names.names.set('half.test', (_, type) => (type === 'A' ? ['127.0.0.1'] : 'silence'));
  receiver.script('/half', answer(204));
  const urls = HANGS.map(([path, behaviour]) => receiver.script(path, behaviour, answer(204)));
  const handshake = `https://127.0.0.1:${silent.port}/`;
  const nameless = `http://silent.test:${receiver.port}/`;
  const half = `http://half.test:${receiver.port}/half`;
  const stalled = receiver.script('/stalled', rawThenHang(`${OK}content-length: 9\r\n\r\n`));

  const inTurn: string[] = [];
  const attempts = await Promise.all(
    [...urls, handshake, nameless, half, stalled].map(async (url) => {
      const made = await attemptsTo(service, url);
      inTurn.push(url);
      return made;
    }),
  );

  const first = failed('no answer within 10 s', 1, true);
  const closed = failed('connection was closed before an answer', 2);
  // How long a look-up takes to give up is the system's affair too.
  const unknown = ofEach(2, (attempt, willRetry) => failed(NO_ADDRESS, attempt, willRetry));
  expect(attempts).toEqual([
    ...urls.map((url) => historyOf(url, [first, sent(204, 2)])),
    historyOf(handshake, [first, closed]),
    historyOf(nameless, unknown),
    historyOf(half, [sent(204)]),
    historyOf(stalled, [sent(200)]),
  ]);
  // A body that stalls is not waited for as long as an answer is; nor is the half of a look-up.
  expect(inTurn.slice(0, 2).sort()).toEqual([stalled, half].sort());
  for (const [path] of HANGS) expect(receiver.requestsTo(path)).toHaveLength(2);
  await until(() => receiver.open() === 0 && silent.open() === 0);
});
