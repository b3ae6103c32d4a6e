import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { readWire } from '../../apps/api/src/body.js';

const JSON_ONLY = { types: ['application/json'], limit: 100_000 } as const;

/** A request whose body comes in these pieces. */
function requestOf(pieces: Iterable<Buffer>, headers: Record<string, string> = {}): IncomingMessage {
  const all = { 'content-type': 'application/json', 'transfer-encoding': 'chunked', ...headers };
  return Object.assign(Readable.from(pieces, { objectMode: false }), { headers: all }) as unknown as IncomingMessage;
}

const textOf = async (pieces: Iterable<Buffer>) => (await readWire(requestOf(pieces), JSON_ONLY))?.bytes.toString();

it.each([1, 1_023, 1_024, 1_025, 5_000])('puts a body together that comes in %i pieces', async (count) => {
  const body = Array.from({ length: count }, (_, n) => String(n % 10)).join('');
  expect(await textOf([...body].map((character) => Buffer.from(character)))).toBe(body);
});

it('refuses a body that is too long in pieces', async () => {
  const pieces = Array.from({ length: 101 }, () => Buffer.alloc(1_000, '1'));
  await expect(textOf(pieces)).rejects.toMatchObject({ code: 'TOO_LARGE' });
});

it('refuses a body whose client was gone before it was read', async () => {
  const request = requestOf([Buffer.from('{}')]);
  await new Promise((resolve) => (request as unknown as Readable).once('close', resolve).destroy());
  await expect(readWire(request, JSON_ONLY)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});
