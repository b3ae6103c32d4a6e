import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { type CountingProxy, startCountingProxy } from './counting-proxy.js';
import { append, infos, logs, logsHere, numbered } from './logs.js';
import { work } from './worker.js';
import { endAll } from './yardmaster.js';

let service: TestService;
let proxy: CountingProxy;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  proxy = await startCountingProxy(service.url);
});
afterEach(async () => {
  endAll();
  await proxy.stop();
});
afterAll(() => service.stop());

const BEGINNING = ['?limit=500&after=0', 'stream', '?limit=500&after=2'];

async function followTwo(id: string, ...flags: string[]) {
  await append(service, id, numbered(2));
  const run = logs(proxy, [id, '--follow', ...flags]);
  await until(() => proxy.asked.length === BEGINNING.length);
  return run;
}

it('asks for nothing while nothing happens', async () => {
  const run = await followTwo(await jobIn(service, 'running', 'idle'), '--timeout', '3');
  expect(await run.exit()).toBe(124);
  expect(proxy.asked).toEqual(BEGINNING);
});

it('asks once for each append, at the end, and not for whatever else happens', async () => {
  const id = await jobIn(service, 'running', 'busy');
  const run = await followTwo(id);
  for (let percent = 0; percent < 20; percent++) await work(service, id, 'progress', { percent, message: 'on' });
  await work(service, id, 'checkpoint', { page: 1 });
  await append(service, await jobIn(service, 'running', 'busy'), numbered(3));
  await append(service, id, numbered(2, 3));
  await run.shows('entry 4\n');
  await work(service, id, 'event', 'over');
  await work(service, id, 'complete');
  expect(await run.exit()).toBe(0);
  expect(proxy.asked).toEqual([...BEGINNING, '?limit=500&after=2', '?limit=500&after=4']);
});

it('goes on behind what its filters leave out', async () => {
  const id = await jobIn(service, 'running', 'filtered');
  const run = logs(proxy, [id, '--follow', '--level', 'warn,error', '--grep', 'a "b', '--tail', '0']);
  await until(() => proxy.asked.length === 3);
  await append(service, id, numbered(5));
  await until(() => proxy.asked.length === 4);
  await append(service, id, [{ level: 'warn', message: 'A "B' }]);
  await run.shows('A "B');
  await work(service, id, 'complete');
  expect(await run.exit()).toBe(0);
  const filters = 'level=warn%2Cerror&q=%22a+%22+%22b%22';
  expect(proxy.asked).toEqual([
    '?limit=1',
    'stream',
    `?limit=500&after=0&${filters}`,
    `?limit=500&after=0&${filters}`,
    `?limit=500&after=5&${filters}`,
    `?limit=500&after=6&${filters}`,
  ]);
});

it('asks for nothing while its reader takes nothing, and then at once for all that came', async () => {
  const id = await jobIn(service, 'running', 'slow');
  const watcher = await StreamClient.open(proxy.url, `/${id}?token=${ADMIN_KEY}`);
  proxy.asked.length = 0;
  let take = () => {};
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  await append(service, id, numbered(2));
  let prints = 0;
  // The second page is the one after the init.
  const drained = () => (++prints === 2 ? taken : null);
  const reading = logsHere(proxy, id, { follow: true, timeoutSeconds: 25, drained });
  await until(() => prints === 2);
  for (let i = 3; i <= 40; i++) await append(service, id, numbered(1, i));
  await until(() => watcher.messages.at(-1)?.data?.toSeq === 40);
  expect(proxy.asked).toEqual(BEGINNING);
  take();
  await until(() => prints === 3);
  await work(service, id, 'complete');
  expect(await reading).toEqual({ code: 0, sentence: null, err: '', messages: infos(numbered(40)) });
  expect(proxy.asked).toEqual([...BEGINNING, '?limit=500&after=2', '?limit=500&after=40']);
  await watcher.close();
});
