import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { attemptsTo, failed, historyOf, sent } from '../support/callbacks.js';
import { selfSigned } from '../support/certificate.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { HttpClient } from '../support/http.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { ADMIN_KEY, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// Node.js takes further authorities at its start only, so this is a process of its own.

let dir: string;
let names: DnsServer;
let standalone: RunningProcess;
let http: HttpClient;
const receivers = {} as Record<'good' | 'expired', Receiver>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'yardmaster-tls-'));
  names = await startDnsServer();
  for (const name of ['right.test', 'wrong.test']) names.names.set(name, ['127.0.0.1']);
  const good = await selfSigned(['right.test', '127.0.0.1']);
  const expired = await selfSigned(['127.0.0.1'], { notAfter: new Date('2021-01-01') });
  receivers.good = await startReceiver({ tls: good });
  receivers.expired = await startReceiver({ tls: expired });
  const authorities = join(dir, 'authorities.pem');
  await writeFile(authorities, `${good.cert}\n${expired.cert}\n`);
  standalone = runApp('standalone', {
    PORT: '0',
    ADMIN_API_KEY: ADMIN_KEY,
    DATA_DIR: dir,
    REDIS_URL: process.env.TEST_REDIS_URL,
    KEY_PREFIX: `t-tls-${process.pid}`,
    LOG_LEVEL: 'silent',
    NODE_EXTRA_CA_CERTS: authorities,
    CALLBACK_RETRY_DELAYS: 'none',
    CALLBACK_DNS_SERVERS: names.address,
  });
  await until(() => /ready at (\S+)/.test(standalone.output()));
  http = new HttpClient(/ready at (\S+)/.exec(standalone.output())?.[1] as string);
});
afterAll(async () => {
  http.close();
  await standalone.stop();
  await Promise.all([names, ...Object.values(receivers)].map((each) => each.close()));
  await rm(dir, { recursive: true, force: true });
});

/** As much of a service as callbacks need. */
const service = {
  call: (method: string, path: string, options = {}) =>
    http.call(method, `/api/v1${path}`, { ...options, key: ADMIN_KEY }),
} as TestService;

it.each([
  ['trusted and for this name', 'good', 'right.test', [sent(204)]],
  ['trusted and for this address', 'good', '127.0.0.1', [sent(204)]],
  ['for another name', 'good', 'wrong.test', [failed('TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)')]],
  ['expired', 'expired', '127.0.0.1', [failed('TLS failed (CERT_HAS_EXPIRED)')]],
] as const)('a certificate that is %s', async (_, which, host, attempts) => {
  const receiver = receivers[which];
  receiver.script(`/${host}`, answer(204));
  const url = `https://${host}:${receiver.port}/${host}`;
  expect(await attemptsTo(service, url)).toEqual(historyOf(url, [...attempts]));
  const arrived = attempts.filter(({ type }) => type === 'callback_sent');
  expect(receiver.requestsTo(`/${host}`)).toHaveLength(arrived.length);
});
