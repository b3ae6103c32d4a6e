import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from '@jest/globals';
import { serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';

afterEach(stopServing);

interface Seen {
  headers: IncomingMessage['headers'];
  body: string;
}

/** Run `create` against a service that responds to the nth request with the nth of these, and then creates the job. */
async function createAgainst(responses: ([status: number, body: string, headers?: object] | null)[], token = 'k') {
  const seen: Seen[] = [];
  const fake = await serve(async (request, response, nth) => {
    seen.push({ headers: request.headers, body: await text(request) });
    const next = responses[nth];
    if (next === null) request.socket.destroy();
    else if (next === undefined) response.writeHead(201).end('{"id":"job"}');
    else response.writeHead(next[0], next[2] as Record<string, string>).end(next[1]);
  });
  const args = ['create', 'resize', '{"a":1}', '--space', 's', '--url', fake.url, '--token', token];
  const [code, lines, err] = await yardmasterHere(args, {}).end();
  return { code, lines, err, seen };
}

it('yardmaster sends its name, the API key and an idempotency key with a create', async () => {
  const { seen } = await createAgainst([]);
  expect(seen).toHaveLength(1);
  expect(seen[0]?.body).toBe('{"name":"resize","payload":{"a":1}}');
  expect(seen[0]?.headers).toMatchObject({
    'user-agent': expect.stringMatching(/^yardmaster-cli\/\d+\.\d+\.\d+ node\/\d/),
    'x-api-key': 'k',
    'content-type': 'application/json',
    'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
    prefer: 'handling=strict',
  });
});

it('yardmaster resends a create with the same idempotency key after a lost connection, a 503 and a 429', async () => {
  const error = (code: string) => JSON.stringify({ error: 'later', code });
  const { code, lines, err, seen } = await createAgainst([
    null,
    [503, error('UNAVAILABLE'), { 'retry-after': '0' }],
    [429, error('TOO_MANY_WAITERS')],
  ]);
  expect([code, lines, err]).toEqual([0, ['job'], '']);
  expect(seen).toHaveLength(4);
  expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

it.each([
  ['429 SPACE_FULL', 429, 'SPACE_FULL', [0, ['copy'], '', 2]],
  ['429 RATE_LIMITED', 429, 'RATE_LIMITED', [0, ['copy'], '', 2]],
  ['503 OVERLOADED', 503, 'OVERLOADED', [0, ['copy'], '', 2]],
  ['503 UNAVAILABLE', 503, 'UNAVAILABLE', [6, [], 'yardmaster: the service is unavailable: no\n', 1]],
])('yardmaster resends a copy only if the first call did nothing: %s', async (_, status, code, expected) => {
  const fake = await serve((_request, response, nth) => {
    if (nth === 0) response.writeHead(status).end(JSON.stringify({ error: 'no', code }));
    else response.writeHead(201).end('{"id":"copy"}');
  });
  const end = await yardmasterHere(['copy', 'job', '--url', fake.url, '--token', 'k'], {}).end();
  expect([...end, fake.requests]).toEqual(expected);
});

it('yardmaster waits for at most 30 s, however long Retry-After is', async () => {
  const { code, err, seen } = await createAgainst([
    [503, '{"error":"closed","code":"UNAVAILABLE"}', { 'retry-after': '3600' }],
  ]);
  expect([code, err, seen.length]).toEqual([6, 'yardmaster: the service is unavailable: closed\n', 1]);
});

it.each([
  [503, 'STORAGE_FULL'],
  [400, 'INVALID_REQUEST'],
  [500, 'INTERNAL'],
])('yardmaster sends a create only once after %i %s', async (status, code) => {
  const body = JSON.stringify({ error: 'no', code });
  const { code: exit, err, seen } = await createAgainst([[status, body]]);
  expect([exit, err, seen.length]).toEqual([1, 'yardmaster: no\n', 1]);
});

it('yardmaster prints neither the API key nor terminal sequences that a server sends back', async () => {
  const { err } = await createAgainst(
    [[400, '{"error":"bad \\u001b[31mkey ym_secret","code":"INVALID_REQUEST"}']],
    'ym_secret',
  );
  expect(err).toBe('yardmaster: bad key …\n');
});

it('yardmaster exits with 1 when the response to a create is not a job', async () => {
  const { code, err } = await createAgainst([[200, '<html>']]);
  expect([code, err]).toEqual([1, expect.stringContaining('Status 200 without JSON of the service')]);
});
