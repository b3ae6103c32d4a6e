import net from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startService();
  ({ id } = await createJob(service, 'pipe', { payload: { text: 'x'.repeat(200_000) } }));
});
afterAll(() => service.stop());

const get = (path: string, headers = '', version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nHost: test\r\n${headers}\r\n`;
const job = () => get(`/api/v1/jobs/${id}`, `x-api-key: ${ADMIN_KEY}\r\n`);
const upgrade = (query = '') =>
  get(
    `/api/v1/realtime/${id}${query}`,
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
  );

/** Send some bytes over one connection, and return all that comes back until `isAll`. */
async function send(bytes: string, isAll: (text: string, isClosed: boolean) => boolean): Promise<string> {
  const socket = net.connect(Number(new URL(service.url).port), '127.0.0.1');
  let text = '';
  let isClosed = false;
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.on('close', () => {
    isClosed = true;
  });
  socket.write(bytes);
  await until(() => isAll(text, isClosed));
  socket.destroy();
  return text;
}

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

it('answers what was asked before an upgrade, in full and first', async () => {
  const text = await send(job() + job() + upgrade(), (all) => all.includes('"type":"init"'));
  expect(statuses(text)).toEqual(['200', '200', '101']);
  expect(text.indexOf('"events":')).toBeLessThan(text.indexOf('HTTP/1.1 101'));
  expect(text.lastIndexOf('"events":')).toBeLessThan(text.indexOf('HTTP/1.1 101'));
});

it('answers what was asked before an upgrade that is refused', async () => {
  const text = await send(job() + upgrade('?token=wrong'), (_, isClosed) => isClosed);
  expect(statuses(text)).toEqual(['200', '401']);
});

it.each([
  ['Connection: close', 'Connection: close\r\n', '1.1'],
  ['HTTP/1.0', '', '1.0'],
  ['an upgrade in HTTP/1.0', 'Connection: Upgrade\r\nUpgrade: websocket\r\n', '1.0'],
])('ends the connection of a request without upgrade that asks for it: %s', async (_, headers, version) => {
  const text = await send(get(`/api/v1/realtime/${id}`, headers, version), (_all, isClosed) => isClosed);
  expect(statuses(text)).toEqual(['426']);
});

it('says under which id an upgrade is in the log', async () => {
  const text = await send(upgrade(), (all) => all.includes('"type":"init"'));
  expect(text).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
});
