import { afterEach, expect, it } from '@jest/globals';
import { RawClient } from '../support/raw-client.js';
import { ADMIN_KEY, withService } from '../support/service.js';
import { until } from '../support/until.js';

// How many large lists may be under way at once.

const service = withService({ REDIS_TIMEOUT_SECONDS: '1' }, { app: 'api' });

const BYTES = 5_242_880;
const LIST = `[{"name":"work"}${' '.repeat(BYTES - 17)}]`;
const HALF = BYTES / 2;

const clients: RawClient[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy();
});

/** Send the first half of a large list. */
function begin(): RawClient {
  const client = new RawClient(service.url);
  clients.push(client);
  client.socket.write(
    `POST /api/v1/spaces/budget/jobs HTTP/1.1\r\nhost: a\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${BYTES}\r\n\r\n${LIST.slice(0, HALF)}`,
  );
  return client;
}
const create = (raw: string) => service.call('POST', '/spaces/budget/jobs', { raw });

/** Fill the budget, and wait until it is full. */
async function fill(): Promise<RawClient[]> {
  const slow = Array.from({ length: 6 }, begin);
  await until(async () => (await create(LIST)).status === 503);
  return slow;
}

it('refuses only large lists while other lists use up the budget', async () => {
  const slow = await fill();
  expect(await create(LIST)).toMatchObject({
    status: 503,
    headers: { 'retry-after': expect.stringMatching(/^[1-5]$/) },
    body: { error: 'Server is busy storing large lists; nothing was stored, retry later', code: 'OVERLOADED' },
  });
  expect((await create('{"name":"work"}')).status).toBe(201);
  expect((await create('[{"name":"work"}]')).status).toBe(201);

  // Sequentially, because a busy machine may refuse concurrent ones for lack of time.
  for (const client of slow) {
    client.socket.write(LIST.slice(HALF));
    expect((await client.receive(1))[0]?.status).toBe(201);
  }
  expect((await create(LIST)).status).toBe(201);
});

it('frees the budget for large lists when clients disconnect, even if they were waiting for it', async () => {
  const slow = await fill();
  const waiting = Array.from({ length: 6 }, begin);
  await until(() => waiting.every(({ socket }) => socket.bytesWritten > HALF && socket.writableLength === 0));
  for (const { socket } of waiting) socket.destroy();
  for (const { socket } of slow) socket.destroy();
  const [first] = await fill();
  first?.socket.destroy();
  await until(async () => (await create(LIST)).status === 201);
});
