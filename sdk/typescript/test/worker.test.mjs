import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, Yardmaster } from '../dist/index.js';
import { startFake } from './fake-service.mjs';

const client = new Yardmaster({ url: 'http://127.0.0.1:9', apiKey: 'k', space: 's' });

test('a worker refuses options and names that cannot work', async () => {
  assert.throws(() => new Worker(client, { concurrency: 0 }), /concurrency must be a whole number above 0; it is 0/);
  assert.throws(() => new Worker(client, { drain: 'soon' }), /drain must be a number of seconds/);
  const worker = new Worker(client).on('a', () => null);
  assert.throws(() => worker.on('a', () => null), /a has a handler already/);
  assert.throws(() => worker.on('b'), /on needs a name and a handler/);
  await assert.rejects(new Worker(client).run(), /Register a handler/);
});

test('a worker ends with the error when its key is refused', async () => {
  const fake = await startFake(() => [401, { error: 'A valid API key is required', code: 'UNAUTHENTICATED' }]);
  const worker = new Worker(new Yardmaster(fake.options), { onWarning: () => undefined }).on('a', () => null);
  await assert.rejects(worker.run(), { code: 'UNAUTHENTICATED' });
  assert.equal(worker.run instanceof Function, true);
  await fake.close();
});

test('healthz is 200 while polls are answered, and the port is free after the run', async () => {
  const fake = await startFake(async () => {
    await sleep(50);
    return [200, { jobs: [] }];
  });
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const options = { healthPort: port, onWarning: () => undefined, handleSignals: false };
  const worker = new Worker(new Yardmaster(fake.options), options).on('a', () => null);
  const running = worker.run();
  while (fake.calls.length < 2) await sleep(10);
  const statusOf = async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  assert.deepEqual([await statusOf('/healthz'), await statusOf('/')], [200, 404]);
  worker.stop();
  await running;
  await assert.rejects(statusOf('/healthz'));
  await fake.close();
});
