import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import express, { type Express, type Request } from 'express';
import { createExpressServer } from '../../apps/api/src/fast-express.js';
import { HttpClient } from '../support/http.js';

async function serve(server: http.Server, path: string) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const answer = await client.call('GET', path);
  client.close();
  await new Promise((resolve) => server.close(resolve));
  return answer;
}

/** An app that tells whether Express had to change the prototype of what it was given. */
function prototypeProbe(makeServer: (app: Express) => http.Server) {
  const app = express();
  const server = makeServer(app);
  const born = new WeakMap<object, object>();
  server.prependListener('request', (req, res) => {
    for (const each of [req, res]) born.set(each, Object.getPrototypeOf(each));
  });
  app.get('/', (req, res) => {
    res.json({ kept: [req, res].map((each) => born.get(each) === Object.getPrototypeOf(each)) });
  });
  return serve(server, '/');
}

it('gives requests and responses the prototype that Express would give them', async () => {
  expect((await prototypeProbe((app) => createExpressServer(app, {}))).body).toEqual({ kept: [true, true] });
  // What it saves us from; when Express stops doing so, fast-express.ts can go.
  expect((await prototypeProbe((app) => http.createServer(app))).body).toEqual({ kept: [false, false] });
});

it('keeps everything of Express that the plain server has', async () => {
  const seen = (req: Request) => [
    req.path,
    req.query,
    req.params,
    req.get('host')?.split(':')[0],
    req.ip,
    req.protocol,
  ];
  const make = (makeServer: (app: Express) => http.Server) => {
    const app = express();
    app.get('/a/:b', (req, res) => {
      res.status(201).set('x-one', '1').json(seen(req));
    });
    return serve(makeServer(app), '/a/b%20c?d=1&d=2');
  };
  const [fast, plain] = [
    await make((app) => createExpressServer(app, {})),
    await make((app) => http.createServer(app)),
  ];
  expect(fast).toMatchObject({ status: 201, body: plain.body });
  expect(fast.body).toEqual(['/a/b%20c', { d: ['1', '2'] }, { b: 'b c' }, '127.0.0.1', '127.0.0.1', 'http']);
});
