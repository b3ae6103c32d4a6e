import net from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { type ApiProcess, startApiProcess } from './api-process.js';
import { gzipped, written } from './entries.js';

// Requests that stand behind one another on a connection, whose client goes away before it has read the answer to the
// first: the answers to the others are never sent, and never closed either.

let service: TestService;
let api: ApiProcess;
let id: string;
beforeAll(async () => {
  service = await startService();
  api = await startApiProcess(service);
});
beforeEach(async () => {
  id = (await createJob(service, 'hang-up')).id;
});
afterAll(async () => {
  await api.stop();
  await service.stop();
});

/** 5 MB inflated, some kilobytes on the wire. */
const LARGE = gzipped(written('an array', Array(310).fill('y'.repeat(16_000))));

const head = (line: string, headers: Record<string, string | number> = {}) =>
  [`${line} HTTP/1.1`, 'host: localhost', `x-api-key: ${ADMIN_KEY}`]
    .concat(Object.entries(headers).map(([name, value]) => `${name}: ${value}`))
    .join('\r\n')
    .concat('\r\n\r\n');

const read = () => Buffer.from(head(`GET /api/v1/jobs/${id}/logs?limit=500`));

const append = () => {
  const raw = LARGE.raw as Buffer;
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': raw.length };
  return Buffer.concat([Buffer.from(head(`POST /api/v1/jobs/${id}/logs`, headers)), raw]);
};

/** Send requests on one connection, read nothing, and hang up once that has happened. */
async function sendAndHangUp(requests: Buffer[], once: () => Promise<boolean>): Promise<void> {
  const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(Buffer.concat(requests));
  await until(once);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
}

const stored = () => service.redis.llen(`${service.store.keys.job(id)}:logs`);

it('appends go on after a client has hung up before it was answered', async () => {
  for (let n = 0; n < 2; n++) expect((await api.append(id, LARGE)).status).toBe(200);
  for (let n = 1; n <= 2; n++) {
    const before = await stored();
    await sendAndHangUp(
      [read(), ...Array.from({ length: 4 }, append)],
      async () => (await stored()) >= before + 4 * 310,
    );
  }
  expect((await api.append(id, LARGE)).status).toBe(200);
});

it('large answers go on after a client has hung up before it has read one', async () => {
  for (let n = 0; n < 2; n++) expect((await api.append(id, LARGE)).status).toBe(200);
  const reads = Array.from({ length: 20 }, read);
  for (let n = 1; n <= 2; n++) {
    // The last request on the connection is an append: once it is stored, all before it have arrived. Long reads take
    // turns: once a later one is answered, so are they.
    const before = await stored();
    const isAnswered = async () =>
      (await stored()) > before && (await api.read(`/jobs/${id}/logs?limit=1`)).status === 200;
    await sendAndHangUp([...reads, append()], isAnswered);
  }
  // There is room again for as many as there was at the start.
  const answers = await Promise.all(Array.from({ length: 8 }, () => api.read(`/jobs/${id}/logs?limit=500`)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

it('small answers are given while large ones wait for their readers', async () => {
  for (let n = 0; n < 2; n++) expect((await api.append(id, LARGE)).status).toBe(200);
  const sockets = Array.from({ length: 20 }, () => {
    const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    // The first one or so may go into the buffers of the system.
    socket.write(Buffer.concat([read(), read(), read()]));
    return socket;
  });
  try {
    await until(async () => (await api.read(`/jobs/${id}/logs?limit=500`)).status === 503);
    for (const path of [`/jobs/${id}/logs?limit=1`, `/jobs/${id}`, '/spaces/hang-up/jobs?limit=1']) {
      expect({ path, status: (await api.read(path)).status }).toEqual({ path, status: 200 });
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await until(async () => (await api.read(`/jobs/${id}/logs?limit=500`)).status === 200);
});
