import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.js';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, infos, isFollowed, logs, numbered, printed } from './logs.js';
import { work } from './worker.js';
import { endAll } from './yardmaster.js';

let redis: OwnRedis;
let service: TestService;
const others: TestService[] = [];
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url });
});
afterEach(async () => {
  endAll();
  for (const other of others.splice(0)) await other.stop();
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

it('waits for a service that is away, at the start and later, and says so once each time', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startAnother = async () => {
    const env = { PORT: `${port}`, KEY_PREFIX: service.prefix };
    others.push(await startService(env, { redisUrl: redis.url, check: false }));
  };
  const id = await jobIn(service, 'running', 'away');
  await append(service, id, numbered(2));

  const run = logs({ url }, [id, '--follow']);
  await until(() => run.err() !== '');
  await startAnother();
  await run.shows('entry 2\n');
  await isFollowed(service, id);
  await append(service, id, numbered(1, 3));
  await run.shows('entry 3\n'); // By the stream, which is open then.
  await others.pop()?.stop();
  await append(service, id, numbered(2, 4));
  await startAnother();
  await run.shows('entry 5\n');
  await work(service, id, 'complete');
  expect(await run.exit()).toBe(0);

  expect(printed(run)).toEqual(infos(numbered(5)));
  expect(run.err()).toBe(
    `no connection to ${url} (ECONNREFUSED), connecting again\n` +
      'connection lost (server is stopping), connecting again\n',
  );
});

it('goes on when storage was away, and the service could not answer', async () => {
  const id = await jobIn(service, 'running', 'storage');
  await append(service, id, numbered(2));
  const run = logs(service, [id, '--follow']);
  await run.shows('entry 2\n');
  await isFollowed(service, id);
  await redis.halt();
  const late = logs(service, [id]);
  await until(() => late.err() !== '');
  await redis.resume();
  expect(await late.exit()).toBe(0);
  expect(printed(late)).toEqual(infos(numbered(2)));
  expect(late.err()).toMatch(/^no connection to \S+ \(Storage did not answer.*\), connecting again\n$/);
  await append(service, id, numbered(2, 3));
  await work(service, id, 'complete');
  expect(await run.exit()).toBe(0);
  expect(printed(run)).toEqual(infos(numbered(4)));
});
