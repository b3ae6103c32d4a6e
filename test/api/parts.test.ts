import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { rejectAfter } from '@yardmaster/server';
import express, { type Express } from 'express';
import { createHttpServer } from '../../apps/api/src/app.js';
import { readRawBody } from '../../apps/api/src/input/body.js';

// Behavior that no call over HTTP can cause or show.

describe('readRawBody', () => {
  /** Create a request whose body arrives in these pieces. */
  const requestOf = (pieces: Iterable<Buffer>) => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    return Object.assign(Readable.from(pieces, { objectMode: false }), { headers }) as unknown as IncomingMessage;
  };
  const read = (request: IncomingMessage) => readRawBody(request, { types: ['application/json'], limit: 100_000 });

  it.each([1, 1_023, 1_024, 1_025, 5_000])('readRawBody joins a body that arrives in %i chunks', async (count) => {
    const body = Array.from({ length: count }, (_, n) => String(n % 10)).join('');
    const wire = await read(requestOf([...body].map((character) => Buffer.from(character))));
    expect(wire?.bytes.toString()).toBe(body);
  });

  it('readRawBody rejects a body whose client disconnected before it was read', async () => {
    const request = requestOf([Buffer.from('{}')]);
    await new Promise((resolve) => (request as unknown as Readable).once('close', resolve).destroy());
    await expect(read(request)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

describe('rejectAfter', () => {
  const never = new Promise<never>(() => undefined);
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

  it('rejectAfter rejects with UNAVAILABLE after the time, or immediately if no time is left', async () => {
    const unavailable = { code: 'UNAVAILABLE', status: 503 };
    await expect(rejectAfter(5, never)).rejects.toMatchObject(unavailable);
    await expect(rejectAfter(-1, never)).rejects.toMatchObject(unavailable);
  });

  it('rejectAfter returns a result or throws an error unchanged, even when no time is left', async () => {
    const [result, error] = [{ a: 1 }, new Error('of the call')];
    for (const ms of [60_000, -1]) {
      expect(await rejectAfter(ms, Promise.resolve(result))).toBe(result);
      await expect(rejectAfter(ms, Promise.reject(error))).rejects.toBe(error);
    }
  });

  it('rejectAfter ignores an error that is thrown after its time', async () => {
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', hear);
    let fail: (error: Error) => void = () => undefined;
    const late = new Promise<never>((_, reject) => (fail = reject));
    await expect(rejectAfter(1, late)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    fail(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', hear);
    expect(unhandled).toEqual([]);
  });

  it('rejectAfter leaves no timer behind, so that the process can exit', async () => {
    const before = timers();
    const calls = [
      rejectAfter(60_000, Promise.resolve()),
      rejectAfter(60_000, Promise.reject(new Error('x'))),
      rejectAfter(1, never),
    ];
    expect(timers()).toBe(before + 3);
    await Promise.allSettled(calls);
    expect(timers()).toBe(before);
  });
});

/** Return whether Express keeps the prototypes with which a request and its response were made. */
async function keepsPrototypes(makeServer: (app: Express) => http.Server): Promise<boolean[]> {
  const app = express();
  const server = makeServer(app);
  const made = new WeakMap<object, object>();
  server.prependListener('request', (req, res) => {
    for (const each of [req, res]) made.set(each, Object.getPrototypeOf(each));
  });
  app.get('/', (req, res) => {
    res.json([req, res].map((each) => made.get(each) === Object.getPrototypeOf(each)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const kept = await (await fetch(`http://127.0.0.1:${port}`)).json();
  await new Promise((resolve) => server.close(resolve));
  return kept as boolean[];
}

it('the server gives requests and responses the prototype that Express would give them', async () => {
  expect(await keepsPrototypes((app) => createHttpServer(app, {}))).toEqual([true, true]);
  // Plain Express changes prototypes; when it stops doing so, createHttpServer can go.
  expect(await keepsPrototypes((app) => http.createServer(app))).toEqual([false, false]);
});
