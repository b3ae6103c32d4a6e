import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { type CountingProxy, startCountingProxy } from './counting-proxy.js';
import { type FlakyProxy, startFlakyProxy } from './flaky-proxy.js';
import { append, infos, logs, numbered, printed } from './logs.js';
import { work } from './worker.js';
import { endAll, type Run } from './yardmaster.js';

let service: TestService;
let counter: CountingProxy;
let proxy: FlakyProxy;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  counter = await startCountingProxy(service.url);
  proxy = await startFlakyProxy(counter.url);
});
afterEach(async () => {
  endAll();
  await proxy.stop();
  await counter.stop();
});
afterAll(() => service.stop());

const LOST = 'connection lost (connection broken), connecting again\n';

/** Follow a job that has two entries, the second of which has come by the stream. */
async function follow(id: string): Promise<Run> {
  await append(service, id, numbered(1));
  const run = logs(proxy, [id, '--follow']);
  await until(() => counter.asked.length === 3);
  await append(service, id, numbered(1, 2));
  await run.shows('entry 2\n');
  return run;
}

async function lose(run: Run): Promise<void> {
  proxy.cut();
  await until(() => run.err() !== '');
}

it('connects again after a connection was cut, and prints once what it has missed', async () => {
  const id = await jobIn(service, 'running', 'cut');
  const run = await follow(id);
  await lose(run);
  await append(service, id, numbered(2, 3));
  await append(service, id, numbered(600, 5));
  proxy.mend();
  await run.shows('entry 604\n');
  await append(service, id, numbered(2, 605));
  await work(service, id, 'complete');
  expect([await run.exit(), run.err()]).toEqual([0, LOST]);
  expect(printed(run)).toEqual(infos(numbered(606)));
});

describe('a job that ends while the connection is lost', () => {
  it.each([
    ['completed', 'complete', 0],
    ['dead', 'fail', 3],
    ['killed', 'kill', 4],
  ] as const)('%s: its last entries are printed, and it exits so', async (_, verb, code) => {
    const id = await jobIn(service, 'running', 'meanwhile', { maxRetries: 0 });
    const run = await follow(id);
    await lose(run);
    await append(service, id, numbered(2, 3));
    await work(service, id, verb, verb === 'fail' ? { error: 'broken' } : {});
    proxy.mend();
    expect([await run.exit(), run.err()]).toEqual([code, LOST]);
    expect(printed(run)).toEqual(infos(numbered(4)));
  });
});
